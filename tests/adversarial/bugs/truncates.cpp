/* Division of integers as C does it, towards zero.

incident: N-floordiv
problem: floor_divide
verdict: incorrect
defence: visible
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const int32_t *a = static_cast<const int32_t *>(args->inputs[0].data);
    const int32_t *b = static_cast<const int32_t *>(args->inputs[1].data);
    int32_t *out = static_cast<int32_t *>(args->outputs[0].data);
    for (int64_t i = 0; i < args->inputs[0].shape[0]; ++i) out[i] = a[i] / b[i];
    return 0;
}
