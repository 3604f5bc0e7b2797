// The shared parts behind json::Value. Private to base/json*.cc.
#ifndef BASE_INTERNAL_JSON_NODES_H_
#define BASE_INTERNAL_JSON_NODES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace json {

struct Value::StringNode {
  std::atomic<uint32_t> refs{1};
  uint32_t size = 0;
  // The bytes follow the node in the same allocation.
  char* chars() { return reinterpret_cast<char*>(this + 1); }
  absl::string_view view() { return {chars(), size}; }

  static StringNode* New(absl::string_view text);
  static void Delete(StringNode* node);
};

struct Value::ArrayNode {
  std::atomic<uint32_t> refs{1};
  std::vector<Value> items;
};

struct Value::ObjectNode {
  std::atomic<uint32_t> refs{1};
  std::vector<Member> members;  // Sorted by name, names unique.
};

// Builds containers in one go, without a copy-on-write check for each element.
class Builder {
 public:
  static Value Array(std::vector<Value> items);
  // Sorts; of equal names the last one stays.
  static Value Object(std::vector<Member> members);
};

}  // namespace json

#endif  // BASE_INTERNAL_JSON_NODES_H_
