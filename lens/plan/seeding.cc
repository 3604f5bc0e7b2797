#include "lens/plan/seeding.h"

#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "kube/meta/patch.h"

namespace lens::plan {
namespace {

// Adds a null to the patch for every member that was applied and is not in the file any more. Of
// labels and annotations only those that were applied go.
void AddDeletions(const json::Value& last, const json::Value& now, json::Value& patch) {
  for (const json::Member& member : last.members()) {
    const std::string name(member.name());
    if (!now.Has(name) && (name == "labels" || name == "annotations")) {
      if (!member.value.empty()) AddDeletions(member.value, {}, patch.Mutable(name));
    } else if (!now.Has(name)) {
      patch.Set(name, nullptr);
    } else if (member.value.is_object() && now[name].is_object()) {
      AddDeletions(member.value, now[name], patch.Mutable(name));
    }
  }
}

kube::Object Merged(const kube::Object& live, const kube::Object& file) {
  json::Value patch = file.root();
  const auto last = json::Parse(live.Annotation(kLastAppliedAnnotation));
  if (last.ok()) AddDeletions(*last, file.root(), patch);
  kube::Object merged(kube::ApplyMergePatch(live.root(), patch));
  merged.Set({"metadata", "namespace"}, live.metadata()["namespace"]);
  if (live.ns().empty()) merged.Erase({"metadata", "namespace"});
  return merged;
}

}  // namespace

absl::Status Seed(const LiveState& live, DryControlPlane& plane) {
  for (const auto* objects : {&live.definitions, &live.scenery, &live.templates}) {
    for (const kube::Object& object : *objects) {
      RETURN_IF_ERROR(base::Annotate(plane.Restore(object), "taking over ", object.Describe()));
    }
  }
  for (const kube::Object& binding : live.bindings) {
    RETURN_IF_ERROR(
        base::Annotate(plane.RestoreBinding(binding), "taking over ", binding.Describe()));
  }
  return absl::OkStatus();
}

std::vector<InputObject> AppliedTo(const LiveState& live, std::vector<InputObject> files) {
  std::map<ObjectId, const kube::Object*> by_id;
  for (const auto* objects : {&live.definitions, &live.scenery, &live.templates}) {
    for (const kube::Object& object : *objects) by_id[ObjectId::Of(object)] = &object;
  }
  for (InputObject& read : files) {
    ObjectId id = ObjectId::Of(read.object);
    auto found = by_id.find(id);
    if (found == by_id.end() && id.ns.empty()) {
      id.ns = "default";
      found = by_id.find(id);
    }
    if (found != by_id.end()) read.object = Merged(*found->second, read.object);
  }
  return files;
}

}  // namespace lens::plan
