#include "kube/cache/internal/own_patch.h"

#include "absl/strings/string_view.h"
#include "kube/meta/patch.h"

namespace kube::internal {
namespace {

// Only the server writes these fields: differences in them are not changes by the caller.
constexpr absl::string_view kServerOwnedMetadata[] = {
    "creationTimestamp", "deletionGracePeriodSeconds",
    "deletionTimestamp", "generation",
    "managedFields",     "resourceVersion",
    "selfLink",          "uid"};

json::Value StatusOnly(const Object& object) {
  json::Value part = json::Value::Object();
  if (object.root().Has("status")) part.Set("status", object.status());
  return part;
}

json::Value WithoutStatus(const Object& object) {
  json::Value part = object.root();
  part.Erase("status");
  return part;
}

}  // namespace

json::Value OwnPatch(const Object& before, const Object& after, const std::string& subresource) {
  if (subresource == "status") return DiffMergePatch(StatusOnly(before), StatusOnly(after));
  json::Value patch = subresource.empty()
                          ? DiffMergePatch(WithoutStatus(before), WithoutStatus(after))
                          : DiffMergePatch(before.root(), after.root());
  if (!patch.Has("metadata")) return patch;
  json::Value& metadata = patch.Mutable("metadata");
  for (const absl::string_view field : kServerOwnedMetadata) metadata.Erase(field);
  if (metadata.empty()) patch.Erase("metadata");
  return patch.empty() ? json::Value() : patch;
}

}  // namespace kube::internal
