// Replaces operator new for the whole program, as the standard allows, in order to count
// allocations.

#include "cmd/interpret/allocations.h"

#include <cstdlib>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

thread_local uint64_t allocated_bytes = 0;

}  // namespace

void* operator new(std::size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cmd::interpret {

uint64_t AllocatedBytes() { return allocated_bytes; }

}  // namespace cmd::interpret

#else

namespace cmd::interpret {

uint64_t AllocatedBytes() { return 0; }

}  // namespace cmd::interpret

#endif
