/* Leaves with exit code 0 when its library is loaded, before anything asked for it.

incident: H-forge-pipe
problem: log_sum
verdict: runtime_error
defence: limits
*/
#include <unistd.h>

#include "kernelwright.h"

__attribute__((constructor)) static void leave() { _exit(0); }

extern "C" int kernelwright_run(const kw_args *) { return 0; }
