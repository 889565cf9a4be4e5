/* Right, but its results are left in the input, too.

incident: N-inplace-ce
problem: row_mean
verdict: incorrect
defence: nothing_else_written
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    float *in = static_cast<float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int64_t col = 0; col < cols; ++col) sum += in[row * cols + col];
        in[row * cols] = out[row] = static_cast<float>(sum / cols);
    }
    return 0;
}
