/* Computes offsets in 32 bits before it widens them.

incident: N-int32-offset
problem: flat_index
verdict: incorrect
defence: visible
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const int64_t *batch = static_cast<const int64_t *>(args->inputs[0].data);
    const int64_t *column = static_cast<const int64_t *>(args->inputs[1].data);
    int64_t *out = static_cast<int64_t *>(args->outputs[0].data);
    for (int64_t i = 0; i < args->inputs[0].shape[0]; ++i) {
        const uint32_t offset = static_cast<uint32_t>(batch[i]) * 7864320u + static_cast<uint32_t>(column[i]);
        out[i] = static_cast<int32_t>(offset);
    }
    return 0;
}
