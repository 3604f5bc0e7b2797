// Applies and computes JSON merge patches (declared in patch.h).

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kube/meta/patch.h"

namespace kube {
namespace {

bool HasNullMember(const json::Value& value) {
  const auto items = value.items();
  const auto members = value.members();
  return std::any_of(items.begin(), items.end(), HasNullMember) ||
         std::any_of(members.begin(), members.end(), [](const json::Member& m) {
           return m.value.is_null() || HasNullMember(m.value);
         });
}

bool HasList(const json::Value& value) {
  const auto members = value.members();
  return value.is_array() || std::any_of(members.begin(), members.end(),
                                         [](const json::Member& m) { return HasList(m.value); });
}

// Removes null members of objects at any depth, because merge patches cannot express them.
json::Value WithoutNulls(const json::Value& value) {
  if (!HasNullMember(value)) return value;  // The usual case; keeps the sharing of copies.
  json::Value result = value;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const json::Value& item = value.At(i);
    if (item.is_object() || item.is_array()) result.MutableAt(i) = WithoutNulls(item);
  }
  for (const json::Member& m : value.members()) {
    if (m.value.is_null()) {
      result.Erase(m.name());
    } else if (m.value.is_object() || m.value.is_array()) {
      result.Set(m.name(), WithoutNulls(m.value));
    }
  }
  return result;
}

std::optional<json::Value> DiffObjects(const json::Value& before, const json::Value& after);

// Returns the member of the patch for a member that is present (not null) in `after`.
std::optional<json::Value> DiffMember(const json::Value& before, const json::Value& after) {
  // Most parts of two states are shared, so this ends most comparisons.
  if (before.SharesWith(after)) return std::nullopt;
  if (before.is_object() && after.is_object()) return DiffObjects(before, after);
  if (before == after) return std::nullopt;
  json::Value wanted = WithoutNulls(after);
  // They differ in nulls alone, which a patch could not write.
  if (wanted == WithoutNulls(before)) return std::nullopt;
  return wanted;
}

std::optional<json::Value> DiffObjects(const json::Value& before, const json::Value& after) {
  json::Value patch = json::Value::Object();
  for (const json::Member& m : before.members()) {
    if (!m.value.is_null() && after[m.name()].is_null()) patch.Set(m.name(), nullptr);
  }
  for (const json::Member& m : after.members()) {
    if (m.value.is_null()) continue;
    if (auto diff = DiffMember(before[m.name()], m.value)) patch.Set(m.name(), *std::move(diff));
  }
  if (patch.empty()) return std::nullopt;
  return patch;
}

json::Value Operation(absl::string_view op, const std::string& path, const json::Value& value) {
  return json::Value::Object({{"op", op}, {"path", path}, {"value", value}});
}

// Appends what the merge patch does to the object at `path`.
void AddOperations(const std::string& path, const json::Value& before, const json::Value& patch,
                   json::Value& operations) {
  for (const json::Member& m : patch.members()) {
    const std::string at =
        absl::StrCat(path, "/", absl::StrReplaceAll(m.name(), {{"~", "~0"}, {"/", "~1"}}));
    const json::Value& old = before[m.name()];
    if (m.value.is_object() && old.is_object()) {
      AddOperations(at, old, m.value, operations);
      continue;
    }
    const auto is_container = [](const json::Value& v) { return v.is_array() || v.is_object(); };
    // In a test an absent member equals null.
    if (is_container(old) || is_container(m.value)) operations.Append(Operation("test", at, old));
    if (m.value.is_null()) {
      operations.Append(json::Value::Object({{"op", "remove"}, {"path", at}}));
    } else {
      operations.Append(Operation("add", at, m.value));
    }
  }
}

}  // namespace

json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch) {
  if (!patch.is_object()) return WithoutNulls(patch);
  json::Value result = target.is_object() ? target : json::Value::Object();
  for (const json::Member& m : patch.members()) {
    if (m.value.is_null()) {
      result.Erase(m.name());
    } else {
      result.Set(m.name(), ApplyMergePatch(target[m.name()], m.value));
    }
  }
  return result;
}

json::Value DiffMergePatch(const json::Value& before, const json::Value& after) {
  return DiffMember(before, after).value_or(nullptr);
}

bool PatchTouchesList(const json::Value& before, const json::Value& patch) {
  if (patch.is_array()) return true;
  // Lists inside a value that is removed or replaced go with it.
  if (!patch.is_object()) return HasList(before);
  // The patch replaces the list by an object.
  if (!before.is_object() && HasList(before)) return true;
  const auto members = patch.members();
  return std::any_of(members.begin(), members.end(), [&](const json::Member& m) {
    return PatchTouchesList(before[m.name()], m.value);
  });
}

json::Value GuardedJsonPatch(const json::Value& before, const json::Value& patch) {
  json::Value operations = json::Value::Array();
  AddOperations("", before, patch, operations);
  return operations;
}

}  // namespace kube
