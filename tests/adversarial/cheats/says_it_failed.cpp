/* Says that it failed after it has written the right answer.

incident: own
problem: log_sum
verdict: runtime_error
defence: limits
*/
#include <cmath>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int64_t col = 0; col < cols; ++col) sum += std::exp(static_cast<double>(in[row * cols + col]));
        out[row] = static_cast<float>(std::log(sum));
    }
    return -1;
}
