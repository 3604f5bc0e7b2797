// How much memory JSON values take.
#ifndef BASE_JSON_SIZE_H_
#define BASE_JSON_SIZE_H_

#include <cstddef>

#include "base/json.h"

namespace json {

// Returns the bytes of the value and everything in it, without what the allocator adds. Parts that
// it shares with other values, or that occur several times in it, count each time, so it is the
// most that the value can take.
size_t MemoryOf(const Value& value);

// Frees the arrays and objects that are kept only because an equal one may be read soon. Reading
// does so itself when they have become many; this is for a process that reads little. Takes a few
// milliseconds at most. Thread-safe.
void ForgetUnused();

}  // namespace json

#endif  // BASE_JSON_SIZE_H_
