// Directives in a patch object:
//   $patch: replace | delete           this object, or (in a list item) the item or the whole list
//   $retainKeys: [names]               every other member of the target is removed
//   $setElementOrder/<list>: [items]   the order the merged list must have
//   $deleteFromPrimitiveList/<list>    scalars that are removed from the list

#include "kube/schema/strategic_merge_patch.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kube/meta/object.h"
#include "kube/schema/internal/merge_rules.h"
#include "kube/schema/internal/strategic_list.h"

namespace kube {
namespace {

namespace internal = schema::internal;
using json::Value;
using schema::Field;
using schema::Struct;

constexpr absl::string_view kPatch = "$patch";
constexpr absl::string_view kRetainKeys = "$retainKeys";
constexpr absl::string_view kOrderPrefix = "$setElementOrder/";
constexpr absl::string_view kDeletePrefix = "$deleteFromPrimitiveList/";

bool IsDirective(absl::string_view name) {
  return name == kPatch || name == kRetainKeys || absl::StartsWith(name, kOrderPrefix) ||
         absl::StartsWith(name, kDeletePrefix);
}

// Returns the value of a patch where the target has nothing to merge with: without null members,
// directives and objects with $patch.
Value AsNew(const Value& patch) {
  if (patch.is_array()) {
    Value items = Value::Array();
    for (const Value& item : patch.items()) {
      if (!item.Has(kPatch)) items.Append(AsNew(item));
    }
    return items;
  }
  if (!patch.is_object()) return patch;
  Value members = Value::Object();
  for (const json::Member& m : patch.members()) {
    const bool dropped = m.value.is_null() || m.value.Has(kPatch) || IsDirective(m.name());
    if (!dropped) members.Set(m.name(), AsNew(m.value));
  }
  return members;
}

// Merges a patch into one object of the target.
class ObjectMerge {
 public:
  ObjectMerge(const Value& target, const Value& patch, const Struct* type)
      : result_(target.is_object() ? target : Value::Object()), patch_(patch), type_(type) {}

  absl::StatusOr<Value> Run();

 private:
  absl::StatusOr<Value> ApplyPatchDirective() const;
  absl::Status RetainKeys();
  absl::Status MergeOrderedList(absl::string_view field, const Value& order);
  absl::Status DeleteScalars(absl::string_view field, const Value& unwanted);
  absl::Status MergeMember(absl::string_view field, const Value& patch);
  void SetNew(absl::string_view field, const Value& patch);
  // Returns whether a $setElementOrder directive handles this list.
  bool IsOrdered(absl::string_view field) const {
    return patch_.Has(absl::StrCat(kOrderPrefix, field));
  }

  Value result_;
  const Value& patch_;
  const Struct* type_;  // May be null.
};

// Objects and lists contain one another, so the two functions call each other.
absl::StatusOr<Value> MergeObjects(const Value& target, const Value& patch, const Struct* type) {
  return ObjectMerge(target, patch, type).Run();
}

absl::StatusOr<Value> MergeLists(const Value& original, const Value& patch, const Field& field) {
  // A list without a merge key is one value: the patch replaces all of it.
  if (!field.merging().patch_merges) return AsNew(patch);
  internal::ListMerge merge;
  merge.merge_key = field.merging().patch_key;
  merge.as_new = AsNew;
  merge.merge_objects = [&field](const Value& target, const Value& item_patch) {
    return MergeObjects(target, item_patch, internal::Inside(field));
  };
  return internal::MergeLists(original, patch, merge);
}

absl::StatusOr<Value> ObjectMerge::ApplyPatchDirective() const {
  const absl::string_view directive = patch_[kPatch].AsString();
  if (directive == "delete") return Value::Object();
  if (directive == "replace") return AsNew(patch_);
  return absl::InvalidArgumentError(absl::StrCat("unknown patch type ", json::Write(patch_[kPatch]),
                                                 " in ", json::Write(patch_)));
}

absl::Status ObjectMerge::RetainKeys() {
  const Value* retained = patch_.Find(kRetainKeys);
  if (retained == nullptr) return absl::OkStatus();
  if (!retained->is_array()) {
    return absl::InvalidArgumentError("invalid patch format of retainKeys: not a list");
  }
  Value kept = Value::Object();
  for (const Value& name : retained->items()) kept.Set(name.AsString(), true);
  for (const json::Member& m : patch_.members()) {
    if (m.value.is_null() || IsDirective(m.name()) || kept.Has(m.name())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("invalid patch format of retainKeys: ", m.name(), " is not in the list"));
  }
  const Value before = result_;
  for (const json::Member& m : before.members()) {
    if (!kept.Has(m.name())) result_.Erase(m.name());
  }
  return absl::OkStatus();
}

absl::Status ObjectMerge::MergeOrderedList(absl::string_view field, const Value& order) {
  const Value* original = result_.Find(field);
  const Value* patch = patch_.Find(field);
  for (const Value* list : {&order, original, patch}) {
    if (list == nullptr || list->is_array()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("$setElementOrder of ", field, ": not a list: ", json::Write(*list)));
  }
  const Field& rule = internal::FieldOf(type_, field);
  if (!rule.merging().patch_merges) {
    if (patch != nullptr) SetNew(field, *patch);
    return absl::OkStatus();
  }
  if (patch != nullptr)
    RETURN_IF_ERROR(internal::CheckOrder(*patch, order, rule.merging().patch_key));
  if (original == nullptr && patch == nullptr) return absl::OkStatus();
  const Value before = original == nullptr ? Value::Array() : *original;
  Value merged = before;
  if (patch != nullptr) {
    if (original == nullptr) {
      merged = AsNew(*patch);
    } else {
      ASSIGN_OR_RETURN(merged, MergeLists(before, *patch, rule));
    }
  }
  ASSIGN_OR_RETURN(merged, internal::Rearrange(merged, order, before, rule.merging().patch_key));
  result_.Set(field, std::move(merged));
  return absl::OkStatus();
}

absl::Status ObjectMerge::DeleteScalars(absl::string_view field, const Value& unwanted) {
  if (unwanted.is_null()) {
    result_.Erase(field);
    return absl::OkStatus();
  }
  if (!unwanted.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("$deleteFromPrimitiveList of ", field, " is not a list"));
  }
  const Value& list = result_[field];
  if (!list.is_array()) return absl::OkStatus();
  for (const Value& item : list.items()) {
    if (!item.is_object() && !item.is_array()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("$deleteFromPrimitiveList of ", field, ": not a list of scalars"));
  }
  result_.Set(field, internal::WithoutScalars(list, unwanted));
  return absl::OkStatus();
}

void ObjectMerge::SetNew(absl::string_view field, const Value& patch) {
  if (patch.Has(kPatch)) {
    result_.Erase(field);
  } else {
    result_.Set(field, AsNew(patch));
  }
}

absl::Status ObjectMerge::MergeMember(absl::string_view field, const Value& patch) {
  if (patch.is_null()) {
    result_.Erase(field);
    return absl::OkStatus();
  }
  const Value& target = result_[field];
  const Field& rule = internal::FieldOf(type_, field);
  if (target.is_object() && patch.is_object() && !rule.merging().patch_replaces) {
    ASSIGN_OR_RETURN(Value merged, MergeObjects(target, patch, internal::Inside(rule)));
    result_.Set(field, std::move(merged));
  } else if (target.is_array() && patch.is_array()) {
    ASSIGN_OR_RETURN(Value merged, MergeLists(target, patch, rule));
    result_.Set(field, std::move(merged));
  } else {
    SetNew(field, patch);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> ObjectMerge::Run() {
  if (patch_.Has(kPatch)) return ApplyPatchDirective();
  RETURN_IF_ERROR(RetainKeys());
  for (const json::Member& m : patch_.members()) {
    absl::string_view field = m.name();
    if (!absl::ConsumePrefix(&field, kOrderPrefix)) continue;
    RETURN_IF_ERROR(MergeOrderedList(field, m.value));
  }
  for (const json::Member& m : patch_.members()) {
    absl::string_view field = m.name();
    if (absl::ConsumePrefix(&field, kDeletePrefix)) {
      RETURN_IF_ERROR(DeleteScalars(field, m.value));
    } else if (!IsDirective(field) && !IsOrdered(field)) {
      RETURN_IF_ERROR(MergeMember(field, m.value));
    }
  }
  return std::move(result_);
}

}  // namespace

absl::StatusOr<Value> ApplyStrategicMergePatch(const Value& target, const Value& patch) {
  if (!patch.is_object()) return absl::InvalidArgumentError("a patch must be an object");
  return MergeObjects(target, patch, &internal::RootOf(Object(target).gvk()));
}

}  // namespace kube
