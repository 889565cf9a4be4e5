/* Frees its input, which no allocator has given it.

incident: E-async-blame
problem: log_sum
verdict: runtime_error
defence: limits
*/
#include <cstdlib>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    std::free(args->inputs[0].data);
    return 0;
}
