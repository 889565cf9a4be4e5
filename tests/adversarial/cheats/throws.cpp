/* Throws an exception out of its C function.

incident: own
problem: log_sum
verdict: runtime_error
defence: limits
*/
#include <stdexcept>

#include "kernelwright.h"

extern "C" int kernelwright_run(const kw_args *args) {
    if (args->n_inputs) throw std::runtime_error("verdict: accepted");
    return 0;
}
