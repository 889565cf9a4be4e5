// Memory for torch inside the range reserved for candidates: each segment lies at the lowest free address, so the
// same calls in the same order get the same addresses, and can be exported to another process by descriptor.
//
// Loaded into a runner and given to torch.cuda.memory.CUDAPluggableAllocator. The driver is looked up at run time, so
// that no CUDA toolkit is needed to build this. Functions return 0, or the driver's error code.
#include <dlfcn.h>
#include <stdint.h>

#include <map>
#include <mutex>

namespace {

typedef uint64_t Address;
typedef uint64_t Handle;

struct Location {
  int type, id;
};
struct Properties {
  int type, handle_types;
  Location location;
  void* security;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};
struct Access {
  Location location;
  int flags;
};

const int PINNED = 1, DEVICE = 1, DESCRIPTOR = 1, READ_WRITE = 3;
const uint64_t GRANULE = 2 << 20;

int (*create)(Handle*, uint64_t, const Properties*, unsigned long long);
int (*map)(Address, uint64_t, uint64_t, Handle, unsigned long long);
int (*allow)(Address, uint64_t, const Access*, uint64_t);
int (*unmap)(Address, uint64_t);
int (*release)(Handle);
int (*share)(void*, Handle, int, unsigned long long);

struct Segment {
  uint64_t size;
  Handle handle;
};

std::mutex mutex;
std::map<Address, Segment> segments;
Address base, end;
Location here;

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// The lowest address with `size` free bytes, or 0.
Address gap(uint64_t size) {
  Address at = base;
  for (const auto& [start, segment] : segments) {
    if (start - at >= size) return at;
    at = start + segment.size;
  }
  return end - at >= size ? at : 0;
}

}  // namespace

extern "C" {

int kw_pool_open(uint64_t first, uint64_t span, int device) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  bool found = library && find(library, "cuMemCreate", create) && find(library, "cuMemMap", map) &&
               find(library, "cuMemSetAccess", allow) && find(library, "cuMemUnmap", unmap) &&
               find(library, "cuMemRelease", release) && find(library, "cuMemExportToShareableHandle", share);
  base = first;
  end = first + span;
  here = {DEVICE, device};
  return found ? 0 : -1;
}

void* kw_pool_alloc(size_t bytes, int, void*) {
  std::lock_guard<std::mutex> guard(mutex);
  uint64_t size = (bytes + GRANULE - 1) / GRANULE * GRANULE;
  Address at = gap(size);
  Properties properties = {PINNED, DESCRIPTOR, here, nullptr, 0, 0, 0, {0}};
  Access access = {here, READ_WRITE};
  Handle handle;
  if (!at || create(&handle, size, &properties, 0)) return nullptr;
  if (map(at, size, 0, handle, 0)) {
    release(handle);
    return nullptr;
  }
  if (allow(at, size, &access, 1)) {
    unmap(at, size);
    release(handle);
    return nullptr;
  }
  segments[at] = {size, handle};
  return reinterpret_cast<void*>(at);
}

void kw_pool_free(void* pointer, size_t, int, void*) {
  std::lock_guard<std::mutex> guard(mutex);
  auto found = segments.find(reinterpret_cast<Address>(pointer));
  if (found == segments.end()) return;
  unmap(found->first, found->second.size);
  release(found->second.handle);
  segments.erase(found);
}

// Writes (address, size) of up to `most` segments; how many there are.
int kw_pool_segments(uint64_t* pairs, int most) {
  std::lock_guard<std::mutex> guard(mutex);
  int number = 0;
  for (const auto& [start, segment] : segments) {
    if (number < most) {
      pairs[2 * number] = start;
      pairs[2 * number + 1] = segment.size;
    }
    ++number;
  }
  return number;
}

// A descriptor of the segment that begins at an address.
int kw_pool_export(uint64_t address, int* descriptor) {
  std::lock_guard<std::mutex> guard(mutex);
  auto found = segments.find(address);
  if (found == segments.end()) return -1;
  return share(descriptor, found->second.handle, DESCRIPTOR, 0);
}
}
