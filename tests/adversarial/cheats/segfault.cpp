/* Writes to address 0.

incident: E-async-blame
problem: log_sum
verdict: runtime_error
defence: limits
*/
#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    *reinterpret_cast<volatile int *>(args->threads * 0) = 1;
    return 0;
}
