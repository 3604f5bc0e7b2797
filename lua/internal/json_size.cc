#include "lua/internal/json_size.h"

#include <algorithm>

namespace lua::internal {
namespace {

// Adds the value to `size` and returns its depth.
int Add(const json::Value& value, JsonSize& size) {
  ++size.values;
  size.bytes += 4;
  int deepest = 0;
  switch (value.type()) {
    case json::Value::Type::kString:
      size.bytes += value.AsString().size();
      return 0;
    case json::Value::Type::kArray:
      for (const json::Value& item : value.items()) deepest = std::max(deepest, Add(item, size));
      return deepest + 1;
    case json::Value::Type::kObject:
      for (const json::Member& member : value.members()) {
        size.bytes += member.name().size() + 4;
        deepest = std::max(deepest, Add(member.value, size));
      }
      return deepest + 1;
    default:
      return 0;
  }
}

}  // namespace

JsonSize SizeOf(const json::Value& value) {
  JsonSize size;
  size.depth = Add(value, size);
  return size;
}

}  // namespace lua::internal
