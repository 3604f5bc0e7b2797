// What a piece of C++ allocates, for `run --trace` and `bench`.
#ifndef CMD_INTERPRET_ALLOCATIONS_H_
#define CMD_INTERPRET_ALLOCATIONS_H_

#include <cstdint>

namespace cmd::interpret {

// Bytes that this thread has asked operator new for so far; only differences mean anything. 0 in
// builds with sanitizers, which have an operator new of their own.
uint64_t AllocatedBytes();

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_ALLOCATIONS_H_
