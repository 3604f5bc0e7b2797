#include "detector/omit_empty.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/string_view.h"

namespace detector {
namespace {

// Fields that Go writes though they are empty.
constexpr absl::string_view kRequired[] = {"affinityName", "groupByLabelKey", "aliasLabelName",
                                           "jsonPath", "rules"};
// Numbers and maps that Go leaves out. Other numbers are required (weight) or differ from absent
// ones when they are zero (tolerationSeconds).
constexpr absl::string_view kOptional[] = {"maxGroups", "minGroups", "matchLabels"};

template <size_t N>
bool IsOneOf(const absl::string_view (&names)[N], absl::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsLeftOut(const json::Member& member) {
  const json::Value& value = member.value;
  if (value.is_null()) return true;
  if (IsOneOf(kRequired, member.name())) return false;
  if (value.is_array()) return value.empty();
  if (value.is_string()) return value.AsString().empty();
  if (!IsOneOf(kOptional, member.name())) return false;
  return value.is_number() ? value.AsInt() == 0 : value.empty();
}

}  // namespace

json::Value OmitEmpty(const json::Value& part) {
  if (part.is_array()) {
    json::Value items = json::Value::Array();
    for (const json::Value& item : part.items()) items.Append(OmitEmpty(item));
    return items;
  }
  if (!part.is_object()) return part;
  json::Value object = json::Value::Object();
  for (const json::Member& member : part.members()) {
    if (!IsLeftOut(member)) object.Set(member.name(), OmitEmpty(member.value));
  }
  return object;
}

}  // namespace detector
