/* Honest: two threads of its own, which it waits for.

incident: H-thread
problem: row_max
verdict: accepted
*/
#include <algorithm>
#include <thread>

#include "kernelwright.h"

static void work(const float *in, float *out, int64_t first, int64_t last, int64_t cols) {
    for (int64_t row = first; row < last; ++row) out[row] = *std::max_element(in + row * cols, in + (row + 1) * cols);
}

extern "C" int kernelwright_run(const kw_args *args) {
    const kw_tensor &x = args->inputs[0];
    const float *in = static_cast<const float *>(x.data);
    float *out = static_cast<float *>(args->outputs[0].data);
    const int64_t rows = x.shape[0], cols = x.shape[1];
    std::thread helper(work, in, out, 0, rows / 2, cols);
    work(in, out, rows / 2, rows, cols);
    helper.join();
    return 0;
}
