#include "lens/plan/seeding.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/binding.h"
#include "base/status.h"
#include "kube/schema/three_way_merge.h"
#include "lens/plan/passages.h"

namespace lens::plan {
namespace {

kube::Object Merged(const kube::Object& live, const kube::Object& file) {
  const auto last = json::Parse(live.Annotation(kLastAppliedAnnotation));
  kube::Object merged(
      kube::ThreeWayMerge(last.ok() ? *last : json::Value(), file.root(), live.root()));
  merged.Set({"metadata", "namespace"}, live.metadata()["namespace"]);
  if (live.ns().empty()) merged.Erase({"metadata", "namespace"});
  return merged;
}

}  // namespace

absl::Status Seed(const LiveState& live, DryControlPlane& plane) {
  for (const auto* objects :
       {&live.definitions, &live.scenery, &live.taint_policies, &live.templates}) {
    for (const kube::Object& object : *objects) {
      RETURN_IF_ERROR(base::Annotate(plane.Restore(object), "taking over ", object.Describe()));
    }
  }
  for (const kube::Object& work : live.works) {
    if (work.IsDeleting()) continue;
    RETURN_IF_ERROR(base::Annotate(plane.RestoreWork(work), "taking over ", work.Describe()));
  }
  const std::set<kube::ObjectKey> passed = PassedBindings(live);
  const auto restore_bindings = [&](bool placed) -> absl::Status {
    for (const kube::Object& binding : live.bindings) {
      if (api::BindingView(binding).Clusters().empty() == placed) continue;
      RETURN_IF_ERROR(base::Annotate(plane.RestoreBinding(binding, passed.contains(binding.key())),
                                     "taking over ", binding.Describe()));
    }
    return absl::OkStatus();
  };
  // What is placed counts in the quotas already. What is not, the scheduler tries to place at once,
  // and the quotas have to be there then.
  RETURN_IF_ERROR(restore_bindings(true));
  for (const kube::Object& quota : live.quotas) {
    RETURN_IF_ERROR(base::Annotate(plane.RestoreQuota(quota), "taking over ", quota.Describe()));
  }
  RETURN_IF_ERROR(restore_bindings(false));
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
