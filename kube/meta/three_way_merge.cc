// Every value of the file is merged with what lies at the same place in the live object and in the
// file that was applied last: members of objects by name, items of lists by their merge key.
#include "kube/meta/three_way_merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/internal/strategic_list.h"
#include "kube/meta/internal/strategic_schema.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

using internal::FieldRule;
using internal::FieldStrategy;
using json::Value;

Value MergeObjects(const Value& last, const Value& file, const Value& live, absl::string_view type);

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

Value MergeLists(const Value& last, const Value& file, const Value& live, const FieldRule& rule) {
  const absl::string_view key = rule.merge_key;
  // A list that does not fit the rule is replaced as a whole.
  if (!MayMerge(file, key) || !MayMerge(live, key)) return file;
  const auto was = ByName(last, key), is = ByName(live, key), wanted = ByName(file, key);
  Value merged = Value::Array();
  Names file_names(key);
  for (const Value& item : file.items()) {
    const std::string name = file_names.Of(item);
    const Value& there = Find(is, name);
    merged.Append(there.is_object() ? MergeObjects(Find(was, name), item, there, rule.type) : item);
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

Value MergeValues(const Value& last, const Value& file, const Value& live, const FieldRule& rule) {
  if (file.is_object() && rule.strategy != FieldStrategy::kReplace) {
    return MergeObjects(last, file, live.is_object() ? live : Value::Object(), rule.type);
  }
  if (file.is_array() && live.is_array() && rule.strategy == FieldStrategy::kMerge) {
    return MergeLists(last, file, live, rule);
  }
  return file;
}

Value MergeObjects(const Value& last, const Value& file, const Value& live,
                   absl::string_view type) {
  Value result = live;
  bool changes = false;
  for (const json::Member& m : file.members()) {
    if (m.value.is_null()) {
      result.Erase(m.name());
      continue;
    }
    Value merged = MergeValues(last[m.name()], m.value, live[m.name()],
                               internal::FindFieldRule(type, m.name()));
    changes = changes || merged != live[m.name()];
    result.Set(m.name(), std::move(merged));
  }
  for (const json::Member& m : last.members()) {
    if (!file.Has(m.name())) result.Erase(m.name());
  }
  if (!changes || !internal::RetainsOnlyNamed(type)) return result;
  for (const json::Member& m : live.members()) {
    if (!file.Has(m.name())) result.Erase(m.name());
  }
  return result;
}

}  // namespace

Value ThreeWayMerge(const Value& last, const Value& file, const Value& live) {
  // A file without labels is as one with none, so that those of others stay.
  Value wanted = file;
  for (const absl::string_view field : {"labels", "annotations"}) {
    const bool gone = last["metadata"].Has(field) && !file["metadata"].Has(field);
    if (gone) wanted.Set({"metadata", field}, Value::Object());
  }
  const Gvk gvk = Object(live).gvk();
  Value merged = MergeObjects(last, wanted, live, internal::RootType(gvk.group, gvk.kind));
  for (const absl::string_view field : {"labels", "annotations"}) {
    const json::Value* left = merged["metadata"].Find(field);
    if (left != nullptr && left->empty()) merged.Mutable("metadata").Erase(field);
  }
  return merged;
}

}  // namespace kube
