#include "tests/stories/fields.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tests {
namespace {

std::string Below(const std::string& path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

std::string ItemOf(const std::string& path, size_t index) {
  return absl::StrCat(path, "[", index, "]");
}

void AddLeaves(const json::Value& value, const std::string& path, Leaves& leaves) {
  if (value.is_object() && !value.empty()) {
    for (const json::Member& m : value.members()) AddLeaves(m.value, Below(path, m.name()), leaves);
  } else if (value.is_array() && !value.empty()) {
    for (size_t i = 0; i < value.size(); ++i) AddLeaves(value.At(i), ItemOf(path, i), leaves);
  } else if (!value.is_null()) {
    leaves[path] = value;
  }
}

void Append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& one : more) all.push_back(std::move(one));
}

bool AreConditions(const json::Value& list) {
  for (const json::Value& item : list.items()) {
    if (!item["type"].is_string() || !item["status"].is_string()) return false;
  }
  return list.is_array() && !list.empty();
}

const json::Value& ItemOfType(const json::Value& conditions, const json::Value& type) {
  static const json::Value* const none = new json::Value();
  for (const json::Value& item : conditions.items()) {
    if (item["type"] == type) return item;
  }
  return *none;
}

std::vector<std::string> ListMismatches(const json::Value& expected, const json::Value& actual,
                                        const std::string& path) {
  std::vector<std::string> all;
  if (AreConditions(expected)) {
    for (const json::Value& item : expected.items()) {
      Append(all, Mismatches(item, ItemOfType(actual, item["type"]),
                             absl::StrCat(path, "[", item["type"].AsString(), "]")));
    }
    return all;
  }
  if (!actual.is_array() || actual.size() != expected.size()) {
    return {absl::StrCat(path, ": expected ", Shown(expected), ", got ", Shown(actual))};
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    Append(all, Mismatches(expected.At(i), actual.At(i), ItemOf(path, i)));
  }
  return all;
}

}  // namespace

Leaves LeavesOf(const json::Value& value) {
  Leaves leaves;
  AddLeaves(value, "", leaves);
  return leaves;
}

std::vector<FieldChange> ChangedFields(const json::Value& before, const json::Value& after) {
  if (before.SharesWith(after)) return {};
  const Leaves old_leaves = LeavesOf(before), new_leaves = LeavesOf(after);
  std::map<std::string, FieldChange> changes;
  for (const auto& [path, value] : old_leaves) changes[path] = {path, value, {}};
  for (const auto& [path, value] : new_leaves) {
    FieldChange& change = changes[path];
    change.path = path;
    change.after = value;
  }
  std::vector<FieldChange> changed;
  for (auto& [path, change] : changes) {
    if (change.before != change.after) changed.push_back(std::move(change));
  }
  return changed;
}

std::vector<std::string> Mismatches(const json::Value& expected, const json::Value& actual,
                                    const std::string& path) {
  if (expected.is_array()) return ListMismatches(expected, actual, path);
  if (expected.is_object() && !expected.empty()) {
    std::vector<std::string> all;
    for (const json::Member& m : expected.members()) {
      Append(all, Mismatches(m.value, actual[m.name()], Below(path, m.name())));
    }
    return all;
  }
  if (expected == actual) return {};
  return {absl::StrCat(path, ": expected ", Shown(expected), ", got ", Shown(actual))};
}

std::string Shown(const json::Value& value) {
  return value.is_null() ? "absent" : json::Write(value);
}

json::Value WithGeneration(const json::Value& value, int64_t generation) {
  if (value == "$GENERATION") return generation;
  if (value == "$GENERATION_TEXT") return absl::StrCat(generation);
  json::Value result = value;
  if (value.is_object()) {
    for (const json::Member& m : value.members()) {
      result.Set(m.name(), WithGeneration(m.value, generation));
    }
  }
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    result.MutableAt(i) = WithGeneration(value.At(i), generation);
  }
  return result;
}

}  // namespace tests
