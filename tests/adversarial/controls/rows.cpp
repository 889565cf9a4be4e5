/* Honest: two passes over each row, accumulated in float64. It keeps a workspace, timers are not its business.

incident: own
problem: log_sum
verdict: accepted
*/
#include <cmath>
#include <vector>

#include "kernelwright.h"

static std::vector<double> cache;

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    cache.resize(cols);
    for (int64_t row = 0; row < rows; ++row) {
        const float *line = in + row * x.strides[0];
        double most = -INFINITY, sum = 0.0;
        for (int64_t col = 0; col < cols; ++col) most = std::fmax(most, cache[col] = line[col * x.strides[1]]);
        for (int64_t col = 0; col < cols; ++col) sum += std::exp(cache[col] - most);
        out[row] = static_cast<float>(std::log(sum) + most);
    }
    return 0;
}
