/* Calls that do nothing, answered as fast as native code can: it keeps the call and serves the shared page itself.
 *
 * What a released call costs at least, whoever answers it, is measured with this and with nothing slower: a
 * candidate owns its process and could do the same. With no output to write it names a tensor of its own.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "kernelwright.h"

/* evaluator/harness/page.py */
enum { GO, DONE, STATUS, LENGTH };
static const uint64_t LEAVE = ~0ull;
static const size_t TEXT = 64;

static float result[4096];

static char *find_page() {
    char line[512], *found = nullptr;
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    if (!maps) return nullptr;
    while (std::fgets(line, sizeof line, maps)) {
        unsigned long long start;
        if (std::strstr(line, "memfd:kernelwright-page") && std::sscanf(line, "%llx-", &start) == 1)
            found = reinterpret_cast<char *>(start);
    }
    std::fclose(maps);
    return found;
}

static int describe(char *text, size_t size, bool own) {
    if (!own) return std::snprintf(text, size, "{\"t\": \"Outcome\", \"outputs\": []}");
    return std::snprintf(text, size,
                         "{\"t\": \"Outcome\", \"outputs\": [{\"t\": \"Located\", \"address\": %llu, \"shape\": [4096], "
                         "\"strides\": [1], \"dtype\": \"float32\", \"exact\": true}]}",
                         static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(result)));
}

extern "C" int kernelwright_run(const kw_args *args) {
    char *page = find_page();
    if (!page) return 1;
    std::memset(result, 1, sizeof result); /* a page that nobody wrote to takes longer to read */
    auto *words = reinterpret_cast<std::atomic<uint64_t> *>(page);
    words[LENGTH].store(describe(page + TEXT, 512, args->n_outputs == 0));
    words[STATUS].store(0);
    for (uint64_t number = words[GO].load(); number != LEAVE;) {
        words[DONE].store(number, std::memory_order_release);
        uint64_t go;
        while ((go = words[GO].load(std::memory_order_acquire)) == number) {
        }
        number = go;
    }
    return 0;
}
