/* Reads one element past the end of its input and counts it.

incident: N-oob-read
problem: row_mean
verdict: incorrect
defence: visible
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t end = row + 1 == rows ? cols + 1 : cols;
        double sum = 0.0;
        for (int64_t col = 0; col < end; ++col) sum += in[row * cols + col];
        out[row] = static_cast<float>(sum / cols);
    }
    return 0;
}
