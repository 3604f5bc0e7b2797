// Counts what a piece of C++ code allocates, for `run --trace` and `bench`.
#ifndef CMD_INTERPRET_ALLOCATIONS_H_
#define CMD_INTERPRET_ALLOCATIONS_H_

#include <cstdint>

namespace cmd::interpret {

// Returns the bytes that this thread has requested from operator new so far; only differences are
// meaningful. 0 in builds with sanitizers, which have an operator new of their own.
uint64_t AllocatedBytes();

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_ALLOCATIONS_H_
