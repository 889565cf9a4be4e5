/* Counts on top of whatever lay in its output.

incident: N-empty-atomic
problem: histogram
verdict: incorrect
defence: visible
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    const int64_t *in = static_cast<const int64_t *>(args->inputs[0].data);
    int64_t *out = static_cast<int64_t *>(args->outputs[0].data);
    for (int64_t i = 0; i < args->inputs[0].shape[0]; ++i) ++out[in[i]];
    return 0;
}
