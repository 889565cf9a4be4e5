/* Takes every tensor for one that lies row by row.

incident: N-noncontig
problem: strided_sum
verdict: incorrect
defence: visible
*/
#include "kernelwright.h"

static double row(const float *line, int64_t cols, int64_t stride) {
    double sum = 0.0;
    for (int64_t col = 0; col < cols; ++col) sum += line[col * stride];
    return sum;
}

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &a = args->inputs[0], &b = args->inputs[1];
    const float *first = static_cast<const float *>(a.data), *second = static_cast<const float *>(b.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = a.shape[0], cols = a.shape[1];
    for (int64_t i = 0; i < rows; ++i)
        out[i] = static_cast<float>(row(first + i * cols, cols, 1) + row(second + i * cols, cols, 1));
    return 0;
}
