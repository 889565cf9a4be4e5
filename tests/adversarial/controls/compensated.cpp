/* Honest: sums with a second number for what the first one loses, in float32.

incident: E-fixed-atol
problem: small_values
verdict: accepted
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
        float sum = 0.0f, lost = 0.0f;
        for (int64_t col = 0; col < cols; ++col) {
            const float term = in[row * cols + col] - lost, next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        out[row] = sum;
    }
    return 0;
}
