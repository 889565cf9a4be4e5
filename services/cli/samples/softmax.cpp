// Softmax over rows. Each row is read from memory once: it stays in the first-level cache for the other passes.
#include <algorithm>
#include <cmath>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const kw_tensor &y = args->outputs[0];
    if (args->abi_version != KW_ABI_VERSION || x.rank != 2 || x.dtype != KW_FLOAT32) return 2;
    const int64_t rows = x.shape[0], cols = x.shape[1];
    const int64_t row_stride = x.strides[0], col_stride = x.strides[1];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(y.data);

#pragma omp parallel for num_threads(args->threads) schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
        const float *from = in + row * row_stride;
        float *to = out + row * cols;
        float peak = -INFINITY;
        for (int64_t col = 0; col < cols; ++col) peak = std::max(peak, from[col * col_stride]);
        double sum = 0.0;
        for (int64_t col = 0; col < cols; ++col) {
            to[col] = std::exp(from[col * col_stride] - peak);
            sum += to[col];
        }
        const float factor = static_cast<float>(1.0 / sum);
        for (int64_t col = 0; col < cols; ++col) to[col] *= factor;
    }
    return 0;
}
