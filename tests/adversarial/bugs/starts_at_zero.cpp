/* The largest value so far starts at 0 in place of the lowest number.

incident: N-pad-zero-max
problem: row_max
verdict: incorrect
defence: hidden
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    for (int64_t row = 0; row < x.shape[0]; ++row) {
        float most = 0.0f;
        for (int64_t col = 0; col < x.shape[1]; ++col) {
            const float value = in[row * x.shape[1] + col];
            if (value > most) most = value;
        }
        out[row] = most;
    }
    return 0;
}
