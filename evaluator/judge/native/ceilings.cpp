/* Loops that do as much as the machine can: bytes moved through a working set, multiply-adds in registers.
 *
 * The input is the working set of each thread in bytes, or 0 to multiply; the output how many bytes or operations it
 * was on all threads.
 */
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernelwright.h"

static const int LANES = 16;  /* as wide as any vector register of float32 */
static const int CHAINS = 12; /* independent, to hide a multiply-add's latency */
static const int64_t MOST_BYTES = 1 << 27, PASSED_BYTES = 1 << 28, MULTIPLIED_TIMES = 1 << 19;

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(64)));

/* One load and one store of every element. */
static void move(vec *data, int64_t count) {
    for (int64_t i = 0; i < count; ++i) data[i] += 1.0f;
}

static double multiply(int64_t times) {
    vec sums[CHAINS];
    for (int c = 0; c < CHAINS; ++c) sums[c] = vec{} + static_cast<float>(c);
    for (int64_t t = 0; t < times; ++t)
        for (int c = 0; c < CHAINS; ++c) sums[c] = sums[c] * 0.999f + 0.5f;
    double all = 0;
    for (int c = 0; c < CHAINS; ++c) all += sums[c][0];
    return all;
}

static double moved(std::vector<vec *> &buffers, int threads, int64_t bytes) {
    const int64_t times = PASSED_BYTES / bytes;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; ++t)
        for (int64_t i = 0; i < times; ++i) {
            move(buffers[t], bytes / static_cast<int64_t>(sizeof(vec)));
            asm volatile("" ::: "memory"); /* every pass is made */
        }
    return 2.0 * static_cast<double>(bytes * times) * threads;
}

static double multiplied(int threads) {
    double kept = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : kept)
    for (int t = 0; t < threads; ++t) kept += multiply(MULTIPLIED_TIMES);
    volatile double sink = kept;
    (void)sink;
    return 2.0 * LANES * CHAINS * static_cast<double>(MULTIPLIED_TIMES) * threads;
}

extern "C" int kernelwright_run(const kw_args *args) {
    static std::vector<vec *> buffers;
    const int threads = static_cast<int>(args->threads);
    while (static_cast<int>(buffers.size()) < threads) {
        void *memory = nullptr;
        if (posix_memalign(&memory, 64, MOST_BYTES)) return 1;
        buffers.push_back(static_cast<vec *>(memory));
        for (int64_t i = 0; i < MOST_BYTES / static_cast<int64_t>(sizeof(vec)); ++i) buffers.back()[i] = vec{};
    }
    const int64_t bytes = *static_cast<const int64_t *>(args->inputs[0].data);
    if (bytes < 0 || bytes > MOST_BYTES) return 2;
    *static_cast<double *>(args->outputs[0].data) = bytes ? moved(buffers, threads, bytes) : multiplied(threads);
    return 0;
}
