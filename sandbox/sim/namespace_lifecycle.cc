// A namespace that is being deleted enters terminating_, and each deletion of an object in it
// queues it again. A pass deletes every object of every kind in it that is not being deleted yet.
// While some are left, which wait for their finalizers, the pass reports them in the
// namespace's conditions, as they are by then; a refused deletion is an error, and the pass is
// repeated. When nothing is left, the pass takes the finalizer "kubernetes" from spec.finalizers,
// and the server removes the namespace. terminating_ is under mu_, because events are delivered on
// any thread.

#include "sandbox/sim/namespace_lifecycle.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kFinalizer[] = "kubernetes";
constexpr char kContentRemains[] = "NamespaceContentRemaining";
constexpr char kFinalizersRemain[] = "NamespaceFinalizersRemaining";

// Returns one version of each namespaced resource; the other versions have the same objects.
std::vector<kube::Resource> NamespacedResources(const Backend& backend) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<kube::Resource> out;
  for (kube::Resource& resource : backend.Resources()) {
    if (!resource.namespaced) continue;
    if (!seen.emplace(resource.gvk.group, resource.plural).second) continue;
    out.push_back(std::move(resource));
  }
  return out;
}

std::string Listed(const std::map<std::string, int>& counts, absl::string_view middle) {
  return absl::StrJoin(counts, ", ", [&](std::string* out, const auto& item) {
    absl::StrAppend(out, item.first, middle, item.second, " resource instances");
  });
}

}  // namespace

NamespaceLifecycle::NamespaceLifecycle(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("namespace", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key.name); }) {
  controller_.Watch(kube::Gvr{}, [this](const Event& event) { OnEvent(event); });
}

void NamespaceLifecycle::OnEvent(const Event& event) {
  const kube::Object& object = *event.object;
  const bool is_namespace = object.kind() == "Namespace" && object.api_version() == "v1";
  absl::MutexLock lock(&mu_);
  if (!is_namespace) {
    const std::string ns(object.ns());
    // The last object of a namespace that is being emptied ends the wait; others cost a look-up.
    if (event.type == Event::Type::kDeleted && terminating_.count(ns) > 0) {
      controller_.Enqueue({"", ns});
    }
    return;
  }
  const std::string name(object.name());
  if (event.type == Event::Type::kDeleted) terminating_.erase(name);
  if (event.type == Event::Type::kDeleted || !object.IsDeleting()) return;
  terminating_.insert(name);
  controller_.Enqueue({"", name});
}

absl::Status NamespaceLifecycle::Reconcile(const std::string& name) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr ns,
                   FindObject(backend_, kinds::Namespaces().gvr(), {"", name}));
  if (ns == nullptr || !ns->IsDeleting() || ns->spec()["finalizers"].empty()) {
    return absl::OkStatus();
  }
  const Remains remains = Empty(name);
  if (remains.by_resource.empty()) {
    const bool said_more = kube::IsConditionTrue(ns->status()["conditions"], kContentRemains);
    if (!said_more) return Finish(*ns);
    RETURN_IF_ERROR(Report(*ns, remains));
    ASSIGN_OR_RETURN(const kube::ObjectPtr now,
                     FindObject(backend_, kinds::Namespaces().gvr(), {"", name}));
    return now == nullptr ? absl::OkStatus() : Finish(*now);
  }
  RETURN_IF_ERROR(Report(*ns, remains));
  // With an error the controller tries again; without one, the deletions bring the next pass.
  return remains.refusal;
}

NamespaceLifecycle::Remains NamespaceLifecycle::Empty(const std::string& ns) {
  Remains remains;
  for (const kube::Resource& resource : NamespacedResources(backend_)) {
    EmptyOf(resource, ns, remains);
  }
  return remains;
}

void NamespaceLifecycle::EmptyOf(const kube::Resource& resource, const std::string& ns,
                                 Remains& remains) {
  const auto objects = backend_.List(resource.gvr(), ns, kube::LabelSelector());
  if (!objects.ok()) return;  // Reviews and similar kinds have no objects.
  for (const kube::ObjectPtr& object : *objects) {
    absl::StatusOr<kube::ObjectPtr> left = object;
    if (!object->IsDeleting()) {
      DeleteRequest request;
      request.propagation = "Background";
      request.uid = std::string(object->uid());
      left = backend_.Delete(resource.gvr(), object->key(), request);
    }
    // Deleted at once, or by somebody else: nothing remains of it.
    if (absl::IsNotFound(left.status()) || (left.ok() && *left == nullptr)) continue;
    ++remains.by_resource[absl::StrCat(resource.plural, ".", resource.gvk.group)];
    if (!left.ok() && remains.refusal.ok()) remains.refusal = left.status();
    for (const json::Value& finalizer : object->metadata()["finalizers"].items()) {
      ++remains.by_finalizer[finalizer.ToString()];
    }
  }
}

absl::Status NamespaceLifecycle::Finish(const kube::Object& ns) {
  kube::Object finished = ns;
  json::Value kept = json::Value::Array();
  for (const json::Value& finalizer : ns.spec()["finalizers"].items()) {
    if (finalizer.AsString() != kFinalizer) kept.Append(finalizer);
  }
  finished.Set({"spec", "finalizers"}, std::move(kept));
  return UnlessGone(
      backend_.Update(kinds::Namespaces().gvr(), std::move(finished), "finalize").status());
}

absl::Status NamespaceLifecycle::Report(const kube::Object& ns, const Remains& remains) {
  json::Value status = ns.status();
  json::Value conditions = status["conditions"];
  if (remains.by_resource.empty()) {
    kube::SetCondition(
        conditions,
        {kContentRemains, "False", "ContentRemoved", "All content successfully removed"},
        controller_.Now());
  } else {
    kube::SetCondition(
        conditions,
        {kContentRemains, "True", "SomeResourcesRemain",
         absl::StrCat("Some resources are remaining: ", Listed(remains.by_resource, " has "))},
        controller_.Now());
  }
  if (remains.by_finalizer.empty()) {
    kube::SetCondition(conditions,
                       {kFinalizersRemain, "False", "ContentHasNoFinalizers",
                        "All content-preserving finalizers finished"},
                       controller_.Now());
  } else {
    kube::SetCondition(conditions,
                       {kFinalizersRemain, "True", "SomeFinalizersRemain",
                        absl::StrCat("Some content in the namespace has finalizers remaining: ",
                                     Listed(remains.by_finalizer, " in "))},
                       controller_.Now());
  }
  if (conditions == status["conditions"]) return absl::OkStatus();
  status.Set("conditions", std::move(conditions));
  return WriteStatus(backend_, kinds::Namespaces().gvr(), ns, std::move(status));
}

}  // namespace sandbox
