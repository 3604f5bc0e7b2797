#include "overrides/internal/field_text.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"
#include "overrides/internal/json_text.h"

namespace overrides {
namespace {

using json::Value;

// What it costs to read and write a character of YAML, in values that are looked at.
constexpr size_t kPerYamlCharacter = 6;

// Returns the operations of a list of {subPath, operator, value}.
Value OperationsOf(const Value& list) {
  Value operations = Value::Array();
  for (const Value& item : list.items()) {
    operations.Append(
        Operation(item["operator"].AsString(), item["subPath"].AsString(), item["value"]));
  }
  return operations;
}

// Returns the path of a number that may stand for an integer from 2^63 to 2^64-1; nullopt when
// there is none. Go's YAML reader keeps such integers exactly, but json::Value rounds them.
std::optional<std::string> FindRounded(const Value& value) {
  constexpr double kLow = 9223372036854775808.0;    // 2^63
  constexpr double kHigh = 18446744073709551616.0;  // 2^64, to which the largest one is rounded.
  if (value.is_number()) {
    const bool rounded = !value.is_int() && value.AsDouble() >= kLow && value.AsDouble() <= kHigh;
    return rounded ? std::optional<std::string>("") : std::nullopt;
  }
  for (size_t i = 0; i < value.size() && value.is_array(); ++i) {
    if (const auto path = FindRounded(value.At(i))) return absl::StrCat("/", i, *path);
  }
  for (const json::Member& m : value.members()) {
    if (const auto path = FindRounded(m.value)) return absl::StrCat("/", m.name(), *path);
  }
  return std::nullopt;
}

// Returns how many values the document has, those of aliases as often as they are repeated.
size_t CountValues(const Value& value) {
  size_t count = 1;
  for (const Value& item : value.items()) count += CountValues(item);
  for (const json::Member& m : value.members()) count += CountValues(m.value);
  return count;
}

absl::StatusOr<std::string> PatchYamlText(absl::string_view text, const Value& operations,
                                          Draft& draft) {
  RETURN_IF_ERROR(draft.Spend(text.size() * kPerYamlCharacter));
  ASSIGN_OR_RETURN(Value document, yaml::Parse(text));
  RETURN_IF_ERROR(draft.Spend(CountValues(document)));
  if (const auto path = FindRounded(document)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number at \"", *path,
                     "\" is beyond the range of signed 64-bit integers and would be rounded"));
  }
  ASSIGN_OR_RETURN(const Value patched,
                   kube::ApplyJsonPatch(std::move(document), operations, draft.budget));
  return yaml::WriteAsGo(patched, text.size() + draft.room);
}

// Returns the string under a JSON pointer.
absl::StatusOr<std::string> TextAt(const Value& root, absl::string_view pointer) {
  const auto refuse = [&](absl::string_view problem) {
    return absl::InvalidArgumentError(absl::StrCat("fieldPath \"", pointer, "\" ", problem));
  };
  std::vector<std::string> names = absl::StrSplit(pointer, '/');
  if (!pointer.empty() && !names[0].empty()) return refuse("does not begin with /");
  const Value* at = &root;
  for (size_t i = 1; i < names.size(); ++i) {
    const std::string name = absl::StrReplaceAll(names[i], {{"~1", "/"}, {"~0", "~"}});
    uint32_t index = 0;
    const bool is_index = at->is_array() && absl::SimpleAtoi(name, &index) && index < at->size();
    const Value* next = at->is_array() ? (is_index ? &at->At(index) : nullptr) : at->Find(name);
    if (next == nullptr) return refuse(absl::StrCat("does not exist: there is no ", name));
    at = next;
  }
  if (!at->is_string()) return refuse("does not lead to a string");
  return at->ToString();
}

}  // namespace

absl::Status OverrideField(const Value& overrider, Draft& draft) {
  const std::string pointer = overrider["fieldPath"].ToString();
  ASSIGN_OR_RETURN(const std::string text, TextAt(draft.root, pointer));
  const bool is_yaml = !overrider["yaml"].empty();
  if (!is_yaml && overrider["json"].empty()) {
    return absl::InvalidArgumentError("it has neither json nor yaml operations");
  }
  const Value operations = OperationsOf(overrider[is_yaml ? "yaml" : "json"]);
  absl::StatusOr<std::string> patched = is_yaml ? PatchYamlText(text, operations, draft)
                                                : PatchJsonText(text, operations, draft.budget);
  if (!patched.ok()) {
    return base::Annotate(patched.status(), is_yaml ? "YAML" : "JSON", " in ", pointer);
  }
  RETURN_IF_ERROR(draft.Grow(Growth(text, *patched)));
  return draft.Patch(Value::Array({Operation("replace", pointer, *patched)}));
}

}  // namespace overrides
