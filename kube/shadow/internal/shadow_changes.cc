// Both objects are walked at once. A path is the names on the way, with a byte between them that no
// name has. What is missing counts as null, and an object or a list beside it as an empty one, so
// that a field is the same whether it is added, changed or removed.

#include "kube/shadow/internal/shadow_changes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/digest.h"

namespace kube::internal {
namespace {

using Items = std::map<std::string, const json::Value*>;

constexpr size_t kIdentityBytes = 16;

uint64_t DigestOf(absl::string_view text) {
  // Digests are kept instead of paths and values, so that a record has few bytes whatever an object
  // has.
  uint64_t digest = 0;
  std::memcpy(&digest, base::Sha256(text).data(), sizeof(digest));
  return digest;
}

std::string PathTo(const std::string& path, absl::string_view name) {
  return absl::StrCat(path, "\x1f", name);
}

// Returns the items by their names; nullopt if one has none, or two have the same.
std::optional<Items> Named(const json::Value& list, absl::string_view name) {
  Items items;
  for (const json::Value& item : list.items()) {
    const json::Value& value = name.empty() ? item : item[name];
    if (!value.is_string() || !items.emplace(value.ToString(), &item).second) return std::nullopt;
  }
  return items;
}

class Walk {
 public:
  std::vector<ChangedField> fields;

  void Compare(const json::Value& before, const json::Value& after, const std::string& path) {
    if (before == after) return;
    const size_t found = fields.size();
    if (AreBoth(before, after, &json::Value::is_object)) CompareMembers(before, after, path);
    if (AreBoth(before, after, &json::Value::is_array)) CompareItems(before, after, path);
    // A single value, a list without names, an order, or an empty object.
    if (fields.size() == found) Add(before, path);
  }

 private:
  static bool AreBoth(const json::Value& before, const json::Value& after,
                      bool (json::Value::*is)() const) {
    return ((before.*is)() || before.is_null()) && ((after.*is)() || after.is_null());
  }

  void Add(const json::Value& before, const std::string& path) {
    fields.push_back({DigestOf(path), DigestOf(json::Write(before))});
  }

  void CompareMembers(const json::Value& before, const json::Value& after,
                      const std::string& path) {
    for (const json::Member& member : before.members()) {
      Compare(member.value, after[member.name()], PathTo(path, member.name()));
    }
    for (const json::Member& member : after.members()) {
      if (before.Find(member.name()) != nullptr) continue;
      Compare(json::Value(), member.value, PathTo(path, member.name()));
    }
  }

  void CompareItems(const json::Value& before, const json::Value& after, const std::string& path) {
    if (absl::EndsWith(path, PathTo("", "finalizers"))) return CompareBy("", before, after, path);
    // These members name the items of the lists that loops write: conditions, taints, environment,
    // clusters.
    for (const char* name : {"type", "key", "name", "clusterName", "fromCluster"}) {
      const size_t found = fields.size();
      CompareBy(name, before, after, path);
      if (fields.size() > found) return;
    }
  }

  // Does nothing if the items of one list do not have such names. An item is compared as a whole.
  void CompareBy(absl::string_view name, const json::Value& before, const json::Value& after,
                 const std::string& path) {
    const std::optional<Items> old_items = Named(before, name), new_items = Named(after, name);
    if (!old_items.has_value() || !new_items.has_value()) return;
    for (const auto& [item, value] : *old_items) {
      const auto found = new_items->find(item);
      if (found == new_items->end() || *found->second != *value) Add(*value, PathTo(path, item));
    }
    for (const auto& [item, value] : *new_items) {
      if (!old_items->contains(item)) Add(json::Value(), PathTo(path, item));
    }
  }
};

void AddPaths(const json::Value& value, const std::string& path, std::set<std::string>& paths) {
  if (!value.is_object() || value.empty()) {
    paths.insert(path);
    return;
  }
  for (const json::Member& member : value.members()) {
    AddPaths(member.value, PathTo(path, member.name()), paths);
  }
}

}  // namespace

void ShadowedChanges::Limit(size_t most) {
  if (fields.size() > most) fields.resize(most);
  fields.shrink_to_fit();
}

bool ShadowedChanges::AreAmong(const ShadowedChanges& now) const {
  return std::includes(now.fields.begin(), now.fields.end(), fields.begin(), fields.end());
}

ShadowedChanges ChangesOf(const json::Value& before, const json::Value& after) {
  Walk walk;
  walk.Compare(before, after, "");
  ShadowedChanges changes{.fields = std::move(walk.fields)};
  std::sort(changes.fields.begin(), changes.fields.end());
  std::string paths;
  for (const ChangedField& field : changes.fields) absl::StrAppend(&paths, field.path, ",");
  if (!paths.empty()) changes.identity = base::Sha256(paths).substr(0, kIdentityBytes);
  return changes;
}

std::string FieldsOfRequest(const HttpRequest& request) {
  const absl::StatusOr<json::Value> body = json::Parse(request.body);
  std::set<std::string> paths;
  if (body.ok() && body->is_array()) {  // A JSON patch.
    for (const json::Value& change : body->items()) paths.insert(change["path"].ToString());
  } else if (body.ok()) {
    json::Value content = *body;
    // A precondition is not a field that the request wants to change.
    content.Erase({"metadata", "resourceVersion"});
    if (content["metadata"].empty()) content.Erase("metadata");
    AddPaths(content, "", paths);
  }
  std::string text;
  for (const std::string& path : paths) absl::StrAppend(&text, path, "\n");
  return base::Sha256(text).substr(0, kIdentityBytes);
}

}  // namespace kube::internal
