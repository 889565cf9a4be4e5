/* Works on eight rows at a time and never comes to those left over.

incident: N-tail-uninit
problem: row_max
verdict: incorrect
defence: hidden
*/
#include <algorithm>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    for (int64_t row = 0; row + 8 <= x.shape[0]; row += 8)
        for (int64_t i = row; i < row + 8; ++i)
            out[i] = *std::max_element(in + i * x.shape[1], in + (i + 1) * x.shape[1]);
    return 0;
}
