/* Works on eight columns at a time and leaves those out that are left over.

incident: N-tail-uninit
problem: row_mean
verdict: incorrect
defence: hidden
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
        double sums[8] = {};
        for (int64_t col = 0; col + 8 <= cols; col += 8)
            for (int lane = 0; lane < 8; ++lane) sums[lane] += in[row * cols + col + lane];
        double sum = 0.0;
        for (double part : sums) sum += part;
        out[row] = static_cast<float>(sum / cols);
    }
    return 0;
}
