// Every value of the file is merged with what lies at the same place in the live object and in the
// file that was applied last: members of objects by name, items of lists by their merge key.

#include "kube/schema/three_way_merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"
#include "kube/schema/internal/merge_rules.h"
#include "kube/schema/internal/strategic_list.h"

namespace kube {
namespace {

namespace internal = schema::internal;
using json::Value;
using schema::Field;
using schema::Struct;

// Merges the object in a field, or an item of its list.
Value MergeInside(const Value& last, const Value& file, const Value& live, const Field& field);

// Names each item of a list by its merge key, or by itself, and by how many of that name came
// before it.
class Names {
 public:
  explicit Names(absl::string_view merge_key) : merge_key_(merge_key) {}
  std::string Of(const Value& item) {
    const std::string key = json::Write(merge_key_.empty() ? item : item[merge_key_]);
    return absl::StrCat(seen_[key]++, " ", key);
  }

 private:
  const absl::string_view merge_key_;
  std::map<std::string, int> seen_;
};

std::map<std::string, const Value*> ByName(const Value& list, absl::string_view merge_key) {
  std::map<std::string, const Value*> items;
  Names names(merge_key);
  for (const Value& item : list.items()) items.emplace(names.Of(item), &item);
  return items;
}

// Returns whether the items have the form that the rule expects.
bool MayMerge(const Value& list, absl::string_view merge_key) {
  return std::all_of(list.items().begin(), list.items().end(), [&](const Value& item) {
    return merge_key.empty() ? !item.is_object() && !item.is_array() : item.Has(merge_key);
  });
}

const Value& Find(const std::map<std::string, const Value*>& items, const std::string& name) {
  static const auto& none = *new Value();
  const auto found = items.find(name);
  return found == items.end() ? none : *found->second;
}

Value MergeLists(const Value& last, const Value& file, const Value& live, const Field& field) {
  const absl::string_view key = field.merging().patch_key;
  // A list that does not fit the rule is replaced as a whole.
  if (!MayMerge(file, key) || !MayMerge(live, key)) return file;
  const auto was = ByName(last, key), is = ByName(live, key), wanted = ByName(file, key);
  Value merged = Value::Array();
  Names file_names(key);
  for (const Value& item : file.items()) {
    const std::string name = file_names.Of(item);
    const Value& there = Find(is, name);
    merged.Append(there.is_object() ? MergeInside(Find(was, name), item, there, field) : item);
  }
  Names live_names(key);
  for (const Value& item : live.items()) {
    const std::string name = live_names.Of(item);
    // What was applied before and is not in the file any more is removed; what others have added
    // stays.
    if (!wanted.contains(name) && !was.contains(name)) merged.Append(item);
  }
  auto arranged = internal::Rearrange(merged, file, live, key);
  return arranged.ok() ? *std::move(arranged) : merged;
}

Value MergeValues(const Value& last, const Value& file, const Value& live, const Field& field) {
  if (file.is_object() && !field.merging().patch_replaces) {
    return MergeInside(last, file, live.is_object() ? live : Value::Object(), field);
  }
  if (file.is_array() && live.is_array() && field.merging().patch_merges) {
    return MergeLists(last, file, live, field);
  }
  return file;
}

// With `retains_keys`, a change of the object removes all that the file does not name.
Value MergeObjects(const Value& last, const Value& file, const Value& live, const Struct* type,
                   bool retains_keys) {
  Value result = live;
  bool changes = false;
  for (const json::Member& m : file.members()) {
    if (m.value.is_null()) {
      result.Erase(m.name());
      continue;
    }
    Value merged =
        MergeValues(last[m.name()], m.value, live[m.name()], internal::FieldOf(type, m.name()));
    changes = changes || merged != live[m.name()];
    result.Set(m.name(), std::move(merged));
  }
  for (const json::Member& m : last.members()) {
    if (!file.Has(m.name())) result.Erase(m.name());
  }
  if (!changes || !retains_keys) return result;
  for (const json::Member& m : live.members()) {
    if (!file.Has(m.name())) result.Erase(m.name());
  }
  return result;
}

Value MergeInside(const Value& last, const Value& file, const Value& live, const Field& field) {
  return MergeObjects(last, file, live, internal::Inside(field),
                      field.merging().patch_retains_keys);
}

}  // namespace

Value ThreeWayMerge(const Value& last, const Value& file, const Value& live) {
  // A file without labels is as one with none, so that those of others stay.
  Value wanted = file;
  for (const absl::string_view field : {"labels", "annotations"}) {
    const bool gone = last["metadata"].Has(field) && !file["metadata"].Has(field);
    if (gone) wanted.Set({"metadata", field}, Value::Object());
  }
  Value merged = MergeObjects(last, wanted, live, &internal::RootOf(Object(live).gvk()),
                              /*retains_keys=*/false);
  for (const absl::string_view field : {"labels", "annotations"}) {
    const json::Value* left = merged["metadata"].Find(field);
    if (left != nullptr && left->empty()) merged.Mutable("metadata").Erase(field);
  }
  return merged;
}

}  // namespace kube
