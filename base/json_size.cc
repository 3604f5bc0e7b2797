#include "base/json_size.h"

#include "base/internal/json_nodes.h"

namespace json {
namespace {

// A string of up to this length lies in the value itself.
constexpr size_t kInPlace = 15;
// What precedes the characters of a longer string: its count of references and its length.
constexpr size_t kStringHead = 8;

size_t OfString(absl::string_view text) {
  return text.size() <= kInPlace ? 0 : kStringHead + text.size();
}

}  // namespace

size_t MemoryOf(const Value& value) {
  size_t bytes = sizeof(Value);
  if (value.is_string()) return bytes + OfString(value.AsString());
  if (value.is_array()) bytes += sizeof(Sequence<Value>);
  if (value.is_object()) bytes += sizeof(Sequence<Member>);
  for (const Value& item : value.items()) bytes += MemoryOf(item);
  for (const Member& member : value.members()) {
    bytes += sizeof(Value) + OfString(member.name()) + MemoryOf(member.value);
  }
  return bytes;
}

}  // namespace json
