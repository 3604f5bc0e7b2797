// A set of fields is a tree of JSON objects ("FieldsV1"), in which an empty object is a leaf; so
// the union of two sets is the union of the trees.

#include "kube/meta/managed_fields.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

void AddFields(const json::Value& more, json::Value& fields) {
  for (const json::Member& member : more.members()) {
    if (fields.Has(member.name())) {
      AddFields(member.value, fields.Mutable(member.name()));
    } else {
      fields.Set(member.name(), member.value);
    }
  }
}

bool IsOf(const json::Value& entry, const char* operation) {
  return entry["operation"].AsString() == operation && entry["subresource"].AsString().empty();
}

bool WasBefore(const json::Value* a, const json::Value* b) {
  const auto time = [](const json::Value& entry) {
    return kube::ParseTime(entry["time"].AsString()).value_or(absl::InfinitePast());
  };
  return time(*a) < time(*b);
}

bool Owns(const json::Value& entry, json::Path field) {
  const json::Value* at = &entry["fieldsV1"];
  for (const absl::string_view name : field) {
    at = at->Find(absl::StrCat("f:", name));
    if (at == nullptr) return false;
  }
  return true;
}

// Returns the latest time of the entries that `is_meant` accepts.
std::optional<absl::Time> LastTime(const json::Value& managed_fields,
                                   absl::FunctionRef<bool(const json::Value&)> is_meant) {
  std::optional<absl::Time> last;
  for (const json::Value& entry : managed_fields.items()) {
    if (!is_meant(entry)) continue;
    const absl::StatusOr<absl::Time> time = kube::ParseTime(entry["time"].AsString());
    if (time.ok()) last = std::max(last.value_or(absl::InfinitePast()), *time);
  }
  return last;
}

}  // namespace

std::optional<absl::Time> LastChangeByOwners(const json::Value& managed_fields, json::Path field) {
  return LastTime(managed_fields, [&](const json::Value& entry) {
    return entry["subresource"].AsString().empty() && Owns(entry, field);
  });
}

std::optional<absl::Time> LastChangeByOthers(const json::Value& managed_fields, json::Path field) {
  return LastTime(managed_fields, [&](const json::Value& entry) {
    return entry["subresource"].AsString() != "status" && !Owns(entry, field);
  });
}

std::optional<json::Value> HandOverFields(const json::Value& managed_fields,
                                          const std::set<std::string>& from,
                                          const std::string& to) {
  json::Value others = json::Value::Array();
  json::Value applied;
  std::vector<const json::Value*> updated;
  for (const json::Value& entry : managed_fields.items()) {
    const std::string manager = entry["manager"].ToString();
    if (IsOf(entry, "Update") && from.contains(manager)) {
      updated.push_back(&entry);
    } else if (IsOf(entry, "Apply") && manager == to) {
      applied = entry;
    } else {
      others.Append(entry);
    }
  }
  // Nothing is to be handed over, and nothing is written.
  if (updated.empty()) return std::nullopt;
  if (applied.is_null()) {
    applied = **std::max_element(updated.begin(), updated.end(), WasBefore);
    applied.Set("manager", to);
    applied.Set("operation", "Apply");
  }
  for (const json::Value* entry : updated) {
    // Paths of another version may lead nowhere in this one.
    if ((*entry)["apiVersion"] != applied["apiVersion"]) continue;
    AddFields((*entry)["fieldsV1"], applied.Mutable("fieldsV1"));
  }
  // Others add items to these lists: an apply that lacks them must not remove them.
  for (const char* field : {"f:finalizers", "f:ownerReferences"}) {
    applied.Erase({"fieldsV1", "f:metadata", field});
  }
  others.Append(std::move(applied));
  return others;
}

}  // namespace kube
