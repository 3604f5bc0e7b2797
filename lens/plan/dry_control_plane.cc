// Settle looks at the whole state every few milliseconds. It is settled when the loops are idle,
// every expected binding and Work is there (settling.h), and two looks in a row see that with the
// same versions of all objects: a watch event that was under way at the first look has arrived by
// the second, because the first one found the informers equal to the server. What fails for good,
// such as an override whose path does not exist, never is complete: then the state counts as
// settled when nothing has changed for a while.

#include "lens/plan/dry_control_plane.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/meta/nearest_kind.h"
#include "lens/plan/definitions.h"
#include "lens/plan/input.h"
#include "lens/plan/outcome.h"
#include "lens/plan/passages.h"
#include "lens/plan/settling.h"
#include "lens/plan/template_uid.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace lens::plan {
namespace {

constexpr char kFieldManager[] = "karmada-lens";
constexpr absl::Duration kLook = absl::Milliseconds(20);
// On a large plane a look takes long, and the loops shall have the time between two of them.
constexpr int kPauseInLooks = 4;
// Loops retry what fails after 5 ms, 10 ms and so on: what is not complete when nothing has changed
// for so long fails again and again. A loop that has recorded a warning has tried already.
constexpr absl::Duration kStandstill = absl::Seconds(3);
constexpr absl::Duration kWarnedStandstill = absl::Seconds(1);
// Two minutes for a thousand objects; a busy machine needs much of it.
constexpr absl::Duration kPatience = absl::Minutes(2);
constexpr absl::Duration kPatienceForObject = absl::Milliseconds(120);
// The scheduler notices a change in less time than that; what it could not place it tries again
// every second.
constexpr absl::Duration kSilence = absl::Milliseconds(150);
constexpr absl::Duration kSilenceOfRetries = absl::Milliseconds(1300);

// Custom resources have a group with a dot in it that has no built-in kinds.
bool MayBeCustom(const kube::Gvk& gvk, const std::vector<kube::Resource>& served,
                 const std::set<kube::Gvk>& assumed) {
  if (!absl::StrContains(gvk.group, '.') || api::IsKarmadaGroup(gvk.group)) return false;
  return std::all_of(served.begin(), served.end(), [&](const kube::Resource& resource) {
    return resource.gvk.group != gvk.group || assumed.contains(resource.gvk);
  });
}

std::string UnknownKind(const kube::Gvk& gvk, const std::vector<kube::Resource>& served) {
  std::set<kube::Gvk> kinds;
  for (const kube::Resource& resource : served) kinds.insert(resource.gvk);
  std::string text = absl::StrCat("there is no kind ", gvk.kind, " in ", gvk.ApiVersion());
  const std::optional<kube::Gvk> nearest = kube::NearestKind(gvk, kinds);
  if (nearest.has_value()) {
    absl::StrAppend(&text, "; did you mean ", nearest->kind, " in ", nearest->ApiVersion(), "?");
  }
  return text;
}

// Room for everything: the Cluster's capacity is not known.
json::Value UnlimitedResources() {
  return json::Value::Object(
      {{"allocatable", json::Value::Object({{"cpu", "1000000"},
                                            {"memory", "1000000Gi"},
                                            {"ephemeral-storage", "1000000Gi"},
                                            {"pods", "1000000"}})},
       {"allocated", json::Value::Object({{"pods", "0"}})}});
}

json::Value EnablementsOf(const std::vector<kube::Resource>& resources) {
  std::map<std::string, json::Value> by_version;
  for (const kube::Resource& resource : resources) {
    if (api::IsKarmadaGroup(resource.gvk.group)) continue;
    json::Value& list =
        by_version.try_emplace(resource.gvk.ApiVersion(), json::Value::Array()).first->second;
    list.Append(json::Value::Object({{"name", resource.plural}, {"kind", resource.gvk.kind}}));
  }
  json::Value enablements = json::Value::Array();
  for (auto& [version, list] : by_version) {
    enablements.Append(json::Value::Object({{"groupVersion", version}, {"resources", list}}));
  }
  return enablements;
}

json::Value Condition(absl::string_view type) {
  return json::Value::Object({{"type", type},
                              {"status", "True"},
                              {"reason", "Assumed"},
                              {"message", ""},
                              {"lastTransitionTime", kube::FormatTime(base::RealClock().Now())}});
}

absl::Duration NoSilence(sandbox::Backend&) { return absl::ZeroDuration(); }

absl::Duration SilenceAfterChange(sandbox::Backend& backend) {
  for (const auto* resource : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    const auto bindings = backend.List(resource->gvr(), "", kube::LabelSelector());
    if (!bindings.ok()) continue;
    for (const kube::ObjectPtr& binding : *bindings) {
      const json::Value* scheduled =
          kube::FindCondition(binding->status()["conditions"], api::kBindingScheduled);
      const bool retried = scheduled != nullptr && (*scheduled)["status"].AsString() == "False" &&
                           (*scheduled)["reason"].AsString() != "NoClusterFit";
      if (retried) return kSilenceOfRetries;
    }
  }
  return kSilence;
}

// Returns the status with everything that it lacks.
json::Value CompletedStatus(json::Value status, const std::vector<kube::Resource>& resources) {
  if (!status.is_object()) status = json::Value::Object();
  if (status["conditions"].empty()) {
    status.Set("conditions", json::Value::Array({Condition(api::kClusterReady),
                                                 Condition(api::kCompleteApiEnablements)}));
  }
  if (status["apiEnablements"].empty()) status.Set("apiEnablements", EnablementsOf(resources));
  if (status["resourceSummary"].empty()) status.Set("resourceSummary", UnlimitedResources());
  return status;
}

// Removes what a server sets, so that objects that were read from one can be applied; also what
// others may have set and what keeps objects from being deleted.
void RemoveServerFields(kube::Object& object) {
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp",
                            "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                            "ownerReferences", "finalizers", "managedFields"}) {
    object.Erase({"metadata", field});
  }
}

}  // namespace

// Gives objects that were read their times of creation, templates their uids, and restored policies
// the permanent ids by which others name them. Other objects keep what the server has chosen: a
// binding that is made again must not be mistaken for its predecessor. Thread-safe.
class DryControlPlane::Identities {
 public:
  void Remember(const kube::Object& object) {
    absl::MutexLock lock(&mu_);
    const std::string created = object.metadata()["creationTimestamp"].ToString();
    if (!created.empty()) created_[ObjectId::Of(object)] = created;
    if (!object.uid().empty()) uids_[ObjectId::Of(object)] = std::string(object.uid());
    for (const char* label : kIdLabels) {
      if (!object.Label(label).empty()) {
        policy_ids_[{ObjectId::Of(object), label}] = std::string(object.Label(label));
      }
    }
  }

  // An admission step.
  absl::Status Admit(const sandbox::AdmissionRequest& request, kube::Object& object) const {
    if (request.verb != sandbox::Verbs::kCreate) return absl::OkStatus();
    const kube::Gvk& gvk = request.resource.gvk;
    if (gvk.group == api::PropagationPolicies().gvk.group) RestoreIds(object);
    const bool is_template =
        !api::IsKarmadaGroup(gvk.group) && gvk != api::Namespaces().gvk && gvk.kind != "Event";
    if (is_template) SetUid(UidOf(object), object);
    RestoreCreation(object);
    return absl::OkStatus();
  }

 private:
  void RestoreCreation(kube::Object& object) const {
    absl::MutexLock lock(&mu_);
    const auto found = created_.find(ObjectId::Of(object));
    if (found != created_.end()) object.Set({"metadata", "creationTimestamp"}, found->second);
  }

  void RestoreIds(kube::Object& policy) const {
    absl::MutexLock lock(&mu_);
    for (const char* label : kIdLabels) {
      const auto found = policy_ids_.find({ObjectId::Of(policy), label});
      if (found != policy_ids_.end()) policy.SetLabel(label, found->second);
    }
  }

  std::string UidOf(const kube::Object& object) const {
    const ObjectId id = ObjectId::Of(object);
    absl::MutexLock lock(&mu_);
    const auto found = uids_.find(id);
    if (found != uids_.end()) return found->second;
    const uint32_t hash = api::Fnv1a32(absl::StrCat(id.group, "/", id.ToString()));
    // From the name, so that two runs over the same files give the same uids, and names derived
    // from them.
    return absl::StrFormat("%08x-0000-4000-8000-%012x", hash, hash);
  }

  static constexpr const char* kIdLabels[] = {api::kPropagationPolicyIdLabel,
                                              api::kClusterPropagationPolicyIdLabel};

  mutable absl::Mutex mu_;
  std::map<ObjectId, std::string> uids_ ABSL_GUARDED_BY(mu_);
  std::map<ObjectId, std::string> created_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<ObjectId, std::string>, std::string> policy_ids_ ABSL_GUARDED_BY(mu_);
};

DryControlPlane::DryControlPlane(config::Options options, std::unique_ptr<sandbox::Fleet> fleet)
    : options_(std::move(options)),
      identities_(std::make_shared<Identities>()),
      fleet_(std::move(fleet)) {
  backend().AddAdmission(
      [identities = identities_](const sandbox::AdmissionRequest& request, kube::Object& object) {
        return identities->Admit(request, object);
      });
}

absl::StatusOr<std::unique_ptr<DryControlPlane>> DryControlPlane::Start(config::Options options,
                                                                        const std::string& crds) {
  sandbox::FleetOptions fleet;
  fleet.members = 0;
  fleet.crd_directory = crds;
  fleet.release = options.wanted_release;
  fleet.scheduler_gates = options.gates;
  fleet.enforce_quotas = options.gates.Enabled(config::Gate::kFederatedQuotaEnforcement);
  ASSIGN_OR_RETURN(std::unique_ptr<sandbox::Fleet> started, sandbox::Fleet::Start(fleet));
  options.Emulate(started->release());
  // Nobody reports what clusters serve: their status is there from the beginning.
  options.clusters.status_update_frequency = absl::ZeroDuration();
  return std::unique_ptr<DryControlPlane>(
      new DryControlPlane(std::move(options), std::move(started)));
}

absl::StatusOr<kube::Resource> DryControlPlane::ResourceFor(const kube::Object& object) {
  const kube::Gvk gvk = object.gvk();
  const kube::Resource known = backend().Find(gvk);
  if (!known.gvk.empty()) return known;
  const std::vector<kube::Resource> served_now = backend().Resources();
  if (!MayBeCustom(gvk, served_now, assumed_)) {
    return absl::NotFoundError(UnknownKind(gvk, served_now));
  }
  RETURN_IF_ERROR(
      base::Annotate(sandbox::EnsureObject(backend(), sandbox::kinds::Definitions().gvr(),
                                           AssumedDefinition(gvk, !object.ns().empty())),
                     "serving the kind ", gvk.kind, " of ", gvk.ApiVersion()));
  assumed_.insert(gvk);
  const kube::Resource served = backend().Find(gvk);
  if (!served.gvk.empty()) return served;
  return absl::NotFoundError(UnknownKind(gvk, backend().Resources()));
}

absl::Status DryControlPlane::EnsureNamespace(const std::string& name) {
  return sandbox::EnsureObject(backend(), api::Namespaces().gvr(),
                               kube::Object::Make(api::Namespaces().gvk, {"", name}));
}

absl::Status DryControlPlane::Apply(kube::Object object) {
  ASSIGN_OR_RETURN(const kube::Resource resource, ResourceFor(object));
  if (resource.namespaced && object.ns().empty()) object.Set({"metadata", "namespace"}, "default");
  if (!resource.namespaced) object.Erase({"metadata", "namespace"});
  if (resource.namespaced) RETURN_IF_ERROR(EnsureNamespace(std::string(object.ns())));
  identities_->Remember(object);
  RemoveServerFields(object);
  if (resource.gvk.kind == api::Clusters().gvk.kind && resource.gvr() == api::Clusters().gvr()) {
    return ApplyCluster(object);
  }
  // One may be there that was only assumed, with no schema; the real one takes its place whole.
  if (resource.gvr() == sandbox::kinds::Definitions().gvr()) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr now,
                     sandbox::FindObject(backend(), resource.gvr(), object.key()));
    if (now != nullptr) return ReplaceDefinition(backend(), *now, std::move(object));
  }
  sandbox::PatchRequest request;
  request.type = sandbox::PatchRequest::Type::kApply;
  request.field_manager = kFieldManager;
  // The files count for more than whoever owned the fields.
  request.force = true;
  object.Erase({"status"});
  request.patch = object.root();
  return backend().Patch(resource.gvr(), object.key(), request).status();
}

absl::Status DryControlPlane::ApplyCluster(const kube::Object& given) {
  kube::Object cluster = given;
  if (cluster.spec()["syncMode"].AsString().empty()) cluster.Set({"spec", "syncMode"}, "Push");
  cluster.Erase({"metadata", "finalizers"});
  cluster.Erase({"status"});
  RETURN_IF_ERROR(EnsureNamespace(api::ExecutionNamespace(cluster.name())));
  const kube::Gvr clusters = api::Clusters().gvr();
  sandbox::PatchRequest request;
  request.type = sandbox::PatchRequest::Type::kApply;
  request.field_manager = kFieldManager;
  request.force = true;
  request.patch = cluster.root();
  ASSIGN_OR_RETURN(const kube::ObjectPtr applied,
                   backend().Patch(clusters, cluster.key(), request));
  return sandbox::WriteStatus(backend(), clusters, *applied,
                              CompletedStatus(given.status(), backend().Resources()));
}

absl::Status DryControlPlane::Restore(const kube::Object& live) {
  identities_->Remember(live);
  if (live.gvk() == api::Clusters().gvk) return Apply(live);
  kube::Object plain = live;
  sandbox::PatchRequest own;  // Karmada's own keys: files do not have them, and must not take them.
  for (const char* field : {"labels", "annotations"}) {
    for (const json::Member& member : live.metadata()[field].members()) {
      if (!IsKarmadaKey(member.name())) continue;
      plain.Erase({"metadata", field, member.name()});
      own.patch.Set({"metadata", field, member.name()}, member.value);
    }
  }
  RETURN_IF_ERROR(Apply(plain));
  if (own.patch.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::Resource resource, ResourceFor(live));
  return backend().Patch(resource.gvr(), live.key(), own).status();
}

absl::Status DryControlPlane::RestoreWork(const kube::Object& live) {
  RETURN_IF_ERROR(EnsureNamespace(std::string(live.ns())));
  kube::Object work = live;
  RemoveServerFields(work);
  work.Erase({"status"});
  return backend().Create(api::Works().gvr(), std::move(work)).status();
}

absl::Status DryControlPlane::RestoreBinding(const kube::Object& live, bool has_passed) {
  const kube::Gvr bindings =
      (live.ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings()).gvr();
  kube::Object binding = live;
  RemoveServerFields(binding);
  // The template has its uid here, too.
  binding.Set({"metadata", "ownerReferences"}, live.metadata()["ownerReferences"]);
  binding.Set({"metadata", "finalizers"}, live.metadata()["finalizers"]);
  binding.Erase({"status"});
  RETURN_IF_ERROR(NameTemplateOfHere(backend(), binding));
  RETURN_IF_ERROR(RecordPassage(backend(), has_passed, binding));
  ASSIGN_OR_RETURN(const kube::ObjectPtr created, backend().Create(bindings, binding));
  json::Value status = live.status();
  const bool observed = status["schedulerObservedGeneration"].AsInt() == live.generation();
  status.Erase("schedulerObservedGeneration");
  if (observed) status.Set("schedulerObservedGeneration", created->generation());
  sandbox::PatchRequest request;
  request.subresource = "status";
  request.patch.Set("status", std::move(status));
  return backend().Patch(bindings, live.key(), request).status();
}

absl::Status DryControlPlane::RestoreQuota(const kube::Object& live) {
  RETURN_IF_ERROR(Apply(live));
  sandbox::PatchRequest request;
  request.subresource = "status";
  request.patch.Set("status", live.status());
  return backend().Patch(api::FederatedResourceQuotas().gvr(), live.key(), request).status();
}

absl::Status DryControlPlane::Delete(const kube::Object& object) {
  ASSIGN_OR_RETURN(const kube::Resource resource, ResourceFor(object));
  kube::ObjectKey key = object.key();
  if (resource.namespaced && key.ns.empty()) key.ns = "default";
  return sandbox::UnlessGone(backend().Delete(resource.gvr(), key, {}).status());
}

absl::StatusOr<kube::ConnectionConfig> DryControlPlane::Connection() {
  ASSIGN_OR_RETURN(const std::string kubeconfig, fleet_->Kubeconfig("karmada"));
  return kube::ParseKubeconfig(kubeconfig, ".", "");
}

absl::Status DryControlPlane::StartLoops() {
  ASSIGN_OR_RETURN(const kube::ConnectionConfig config, Connection());
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(config));
  loops_ = std::make_unique<DryLoops>(std::move(transport), options_);
  return loops_->Start();
}

absl::StatusOr<std::string> DryControlPlane::Versions() {
  std::string versions;
  for (const kube::Resource& resource : backend().Resources()) {
    const auto objects = backend().List(resource.gvr(), "", kube::LabelSelector());
    if (!objects.ok()) continue;  // Reviews cannot be listed.
    for (const kube::ObjectPtr& object : *objects) {
      if (resource.gvk.kind == "Event") continue;
      absl::StrAppend(&versions, object->uid(), object->resource_version(), ",");
    }
  }
  return versions;
}

absl::Status DryControlPlane::Settle(const base::StopToken& stop) {
  return SettleFor(NoSilence, stop);
}

absl::Status DryControlPlane::SettleAfterChange(const base::StopToken& stop) {
  return SettleFor(SilenceAfterChange, stop);
}

absl::Status DryControlPlane::SettleFor(absl::Duration (*silence)(sandbox::Backend&),
                                        const base::StopToken& stop) {
  if (loops_ == nullptr) RETURN_IF_ERROR(StartLoops());
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime begun = clock.SteadyNow();
  base::SteadyTime changed = clock.SteadyNow();
  std::string last;
  bool was_settled = false;
  absl::Duration patience = kPatience;
  while (clock.SteadyNow() - begun < patience) {
    RETURN_IF_ERROR(loops_->result());
    const base::SteadyTime begin = clock.SteadyNow();
    ASSIGN_OR_RETURN(std::string now, Versions());
    const auto objects = std::count(now.begin(), now.end(), ',');
    patience = std::max(kPatience, objects * kPatienceForObject);
    const bool same = now == last;
    if (!same) changed = clock.SteadyNow();
    const bool idle = same && loops_->IsIdle(backend());
    const bool settled = idle && IsComplete(backend(), options_) &&
                         loops_->Watch(SelectedKinds(backend(), options_));
    // Twice in a row, because what was just written may not have reached the loops at the first
    // look.
    const bool settled_twice = settled && was_settled;
    if (settled_twice && clock.SteadyNow() - changed >= silence(backend())) return absl::OkStatus();
    const bool warned = !loops_->Warnings().empty();
    const absl::Duration standstill = warned ? kWarnedStandstill : kStandstill;
    if (idle && clock.SteadyNow() - changed > standstill) return absl::OkStatus();
    last = std::move(now);
    was_settled = settled;
    const absl::Duration pause = std::max(kLook, kPauseInLooks * (clock.SteadyNow() - begin));
    if (!clock.SleepFor(pause, stop)) return absl::CancelledError("the plan was stopped");
  }
  return absl::DeadlineExceededError(absl::StrCat(
      "the simulated control plane has not come to rest within ", absl::FormatDuration(patience)));
}

std::vector<LoopWarning> DryControlPlane::Warnings() const {
  return loops_ == nullptr ? std::vector<LoopWarning>() : loops_->Warnings();
}

}  // namespace lens::plan
