// How much memory a JSON value takes.
#ifndef BASE_JSON_SIZE_H_
#define BASE_JSON_SIZE_H_

#include <cstddef>

#include "base/json.h"

namespace json {

// Returns the bytes of the value and everything in it, without what the allocator adds. Parts that
// it shares with other values, or that occur several times in it, count each time, so it is the
// most that the value can take.
size_t MemoryOf(const Value& value);

}  // namespace json

#endif  // BASE_JSON_SIZE_H_
