// Estimates how large a JSON value is when it is written.
#ifndef LUA_INTERNAL_JSON_SIZE_H_
#define LUA_INTERNAL_JSON_SIZE_H_

#include <cstddef>

#include "base/json.h"

namespace lua::internal {

struct JsonSize {
  size_t values = 0;
  size_t bytes = 0;
  int depth = 0;  // 0 for a scalar, else 1 + the depth of the deepest element.
};
JsonSize SizeOf(const json::Value& value);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_JSON_SIZE_H_
