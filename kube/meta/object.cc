#include "kube/meta/object.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/api_version.h"

namespace kube {
namespace {

// Removes metadata.<map>.<key>, and the map when it becomes empty.
bool EraseFromMap(json::Value& root, absl::string_view map, absl::string_view key) {
  if (!root.Erase({"metadata", map, key})) return false;
  if (root.Get({"metadata", map}).empty()) root.Erase({"metadata", map});
  return true;
}

OwnerRef OwnerRefFromJson(const json::Value& v) {
  OwnerRef ref;
  ref.api_version = v["apiVersion"].ToString();
  ref.kind = v["kind"].ToString();
  ref.name = v["name"].ToString();
  ref.uid = v["uid"].ToString();
  ref.controller = v["controller"].AsBool();
  ref.block_owner_deletion = v["blockOwnerDeletion"].AsBool();
  return ref;
}

}  // namespace

json::Value OwnerRef::ToJson() const {
  json::Value v = json::Value::Object(
      {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}});
  if (controller) v.Set("controller", true);
  if (block_owner_deletion) v.Set("blockOwnerDeletion", true);
  return v;
}

Object Object::Make(const Gvk& gvk, const ObjectKey& key) {
  json::Value metadata = json::Value::Object({{"name", key.name}});
  if (!key.ns.empty()) metadata.Set("namespace", key.ns);
  return Object(json::Value::Object(
      {{"apiVersion", gvk.ApiVersion()}, {"kind", gvk.kind}, {"metadata", std::move(metadata)}}));
}

Gvk Object::gvk() const {
  const auto split = SplitApiVersion(api_version());
  if (!split) return {};
  return {std::string(split->group), std::string(split->version), std::string(kind())};
}

std::string Object::Describe() const {
  const std::string whose = key().ToString();
  return absl::StrCat(kind(), whose.empty() ? "" : " ", whose);
}

void Object::SetLabel(absl::string_view key, absl::string_view value) {
  root_.Set({"metadata", "labels", key}, value);
}

void Object::SetAnnotation(absl::string_view key, absl::string_view value) {
  root_.Set({"metadata", "annotations", key}, value);
}

bool Object::EraseLabel(absl::string_view key) { return EraseFromMap(root_, "labels", key); }

bool Object::EraseAnnotation(absl::string_view key) {
  return EraseFromMap(root_, "annotations", key);
}

bool Object::HasFinalizer(absl::string_view finalizer) const {
  const auto items = metadata()["finalizers"].items();
  return std::any_of(items.begin(), items.end(),
                     [&](const json::Value& v) { return v.AsString() == finalizer; });
}

bool Object::AddFinalizer(absl::string_view finalizer) {
  if (HasFinalizer(finalizer)) return false;
  root_.Mutable({"metadata", "finalizers"}).Append(finalizer);
  return true;
}

// The last finalizer takes the list with it, since API servers store no empty list.
bool Object::RemoveFinalizer(absl::string_view finalizer) {
  if (!HasFinalizer(finalizer)) return false;
  json::Value kept = json::Value::Array();
  for (const json::Value& v : metadata()["finalizers"].items()) {
    if (v.AsString() != finalizer) kept.Append(v);
  }
  if (kept.empty()) return root_.Erase({"metadata", "finalizers"});
  root_.Set({"metadata", "finalizers"}, std::move(kept));
  return true;
}

std::vector<OwnerRef> Object::OwnerRefs() const {
  std::vector<OwnerRef> refs;
  for (const json::Value& v : metadata()["ownerReferences"].items()) {
    refs.push_back(OwnerRefFromJson(v));
  }
  return refs;
}

OwnerRef Object::ControllerOwner() const {
  for (const json::Value& v : metadata()["ownerReferences"].items()) {
    if (v["controller"].AsBool()) return OwnerRefFromJson(v);
  }
  return {};
}

// A version that is not a number (of another storage than etcd) is -1, which is older than any.
int64_t ResourceVersionOf(const Object& o) {
  const absl::string_view text = o.resource_version();
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  int64_t version = -1;
  return digits && absl::SimpleAtoi(text, &version) ? version : -1;
}

}  // namespace kube
