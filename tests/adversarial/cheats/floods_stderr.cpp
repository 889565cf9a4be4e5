/* Fills standard error without end, from native code.

incident: E-stdout-oom
problem: log_sum
verdict: resource_limit | timeout
defence: limits
*/
#include <cstdio>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    for (;;) std::fprintf(stderr, "%u threads and nothing to do\n", args->threads);
}
