// While a cluster cannot be reached its workloads are evicted, and their Works wait with their
// deletion for its return. Often the scheduler then chooses the cluster again. The objects there
// run, and the binding's next Work would have them made again; so they are left to it: it has the
// same name, which their annotations have, and finds them to be Karmada's.
//
// The order is this. The Work waits a moment for the scheduler (kReturnGrace), and as long as a
// graceful eviction from the cluster goes on, which keeps the scheduler from choosing it. Once the
// binding, as the server has it, has the cluster among its targets, a stand-in is created and
// deleted; it is there as long as its finalizer. Then the Work's finalizer is removed, so that the
// Work vanishes, and the binding loop makes the next one. The stand-in is removed when that one is
// there. Whatever happens in between, and whichever process goes on, something stored has the duty
// to delete the objects: first the Work, then the stand-in, then the next Work. A binding that does
// not want the cluster any more before it has made the next Work, or that is gone, lets the
// stand-in end like any Work.
//
// A stand-in records the uid of the Work that it stands in for. While that one is there, nothing is
// decided; a Work of the name with another uid is the next one, even if it is being deleted.

#include "controllers/execution/handover.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/stand_in.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

// Returns whether the Work's manifests were made of this binding and its present template. A
// template that was deleted and made again has another uid, and its objects are other objects.
template <class Scope>
bool IsOf(const kube::Object& work, const api::BindingView& binding) {
  const absl::string_view id = binding.PermanentId();
  const std::string uid = binding.Resource().uid;
  if (id.empty() || uid.empty()) return false;
  const absl::Span<const json::Value> manifests = api::WorkView(work).Manifests();
  return std::all_of(manifests.begin(), manifests.end(), [&](const json::Value& raw) {
    const kube::Object manifest(raw);
    return manifest.Label(Scope::kIdLabel) == id &&
           manifest.Annotation(api::kTemplateUidAnnotation) == uid;
  });
}

// Reads an object from the server; nullptr when it is not there.
absl::StatusOr<kube::ObjectPtr> ReadLive(kube::ClusterClient& client, const kube::Resource& r,
                                         const kube::ObjectKey& key, const base::StopToken& stop) {
  absl::StatusOr<kube::Object> found = client.raw().Get(r, key, stop);
  if (kube::IsGone(found.status())) return nullptr;
  RETURN_IF_ERROR(found.status());
  return kube::Share(*std::move(found));
}

// Returns since when the cluster is ready.
absl::Time ReadySince(const kube::Object& cluster) {
  const json::Value* ready =
      kube::FindCondition(api::ClusterView(cluster).Conditions(), api::kClusterReady);
  if (ready == nullptr) return absl::InfinitePast();
  return kube::ParseTime((*ready)["lastTransitionTime"].AsString()).value_or(absl::InfinitePast());
}

kube::Object StandInFor(const kube::Object& work) {
  kube::Object stand_in = kube::Object::Make(
      api::Works().gvk, {std::string(work.ns()), absl::StrCat("stand-in-", work.uid())});
  for (const json::Member& m : work.annotations().members()) {
    stand_in.SetAnnotation(m.name(), m.value.AsString());
  }
  stand_in.SetAnnotation(api::kStandsInForAnnotation, absl::StrCat(work.name(), "/", work.uid()));
  // Without the labels of the Work: the loops over bindings do not count it among theirs.
  stand_in.AddFinalizer(api::kExecutionFinalizer);
  stand_in.Set({"spec"}, work.spec());
  stand_in.Set({"spec", "suspendDispatching"}, true);
  return stand_in;
}

}  // namespace

bool Handover::IsStandIn(const kube::Object& work) {
  return !work.Annotation(api::kStandsInForAnnotation).empty();
}

bool Handover::IsUndecided(const kube::Object& binding, const std::string& cluster) {
  const std::vector<api::EvictionTask> tasks = api::BindingView(binding).EvictionTasks();
  const bool is_evicted = std::any_of(tasks.begin(), tasks.end(), [&](const auto& task) {
    return task.from_cluster == cluster && task.KeepsWork();
  });
  return is_evicted || placement_wait_.Remaining(binding) > absl::ZeroDuration();
}

template <class Scope>
Handover::Interest Handover::InterestOf(const kube::ObjectPtr& object, const kube::Object& work,
                                        const std::string& cluster) {
  if (object == nullptr || object->IsDeleting()) return Interest::kNone;
  const api::BindingView binding(*object);
  if (!IsOf<Scope>(work, binding) || binding.ClustersPurgedAtOnce().count(cluster) > 0) {
    return Interest::kNone;
  }
  const std::vector<api::TargetCluster> targets = binding.DispatchTargets();
  const bool wanted = std::any_of(targets.begin(), targets.end(),
                                  [&](const auto& target) { return target.name == cluster; });
  if (wanted) return Interest::kWanted;
  return IsUndecided(*object, cluster) ? Interest::kUndecided : Interest::kElsewhere;
}

template <class Read>
absl::StatusOr<Handover::Interest> Handover::GreatestInterest(const kube::Object& work,
                                                              const std::string& cluster,
                                                              const Read& read) {
  Interest greatest = Interest::kNone;
  const auto look = [&]<class Scope>(Scope) -> absl::Status {
    const kube::ObjectKey key = Scope::BindingOf(work);
    if (key.name.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const kube::ObjectPtr binding, read(Scope::Bindings(), key));
    greatest = std::max(greatest, InterestOf<Scope>(binding, work, cluster));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(look(api::scope::Namespaced()));
  RETURN_IF_ERROR(look(api::scope::Cluster()));
  return greatest;
}

absl::StatusOr<Handover::Interest> Handover::LiveInterest(const kube::Object& work,
                                                          const std::string& cluster,
                                                          const base::StopToken& stop) {
  return GreatestInterest(work, cluster, [&](const kube::Resource& r, const kube::ObjectKey& key) {
    return ReadLive(client_, r, key, stop);
  });
}

Handover::Interest Handover::CachedInterest(const kube::Object& work, const std::string& cluster) {
  const auto read = [&](const kube::Resource& r,
                        const kube::ObjectKey& key) -> absl::StatusOr<kube::ObjectPtr> {
    return client_.Find(r, key);
  };
  return GreatestInterest(work, cluster, read).value_or(Interest::kNone);
}

absl::StatusOr<Handover::Objects> Handover::Decide(const kube::Object& cluster,
                                                   const kube::Object& work,
                                                   const base::StopToken& stop) {
  const std::string name(cluster.name());
  if (IsStandIn(work)) return DecideOnStandIn(name, work, stop);
  const absl::Time ready_since = ReadySince(cluster);
  const auto deleted = kube::ParseTime(work.metadata()["deletionTimestamp"].AsString());
  // The times are of whole seconds. A Work that somebody deletes is not to keep its objects.
  if (!deleted.ok() || *deleted >= ready_since) return Objects::kDelete;
  // The clock of whoever has written the condition may be ahead.
  const bool is_early = absl::AbsDuration(clock_.Now() - ready_since) < kReturnGrace;
  const auto is_unclear = [&](Interest interest) {
    return interest == Interest::kUndecided || (interest == Interest::kElsewhere && is_early);
  };
  if (is_unclear(CachedInterest(work, name))) return Objects::kUnclear;
  ASSIGN_OR_RETURN(const Interest interest, LiveInterest(work, name, stop));
  if (is_unclear(interest)) return Objects::kUnclear;
  if (interest != Interest::kWanted) return Objects::kDelete;
  RETURN_IF_ERROR(PutStandIn(work, stop));
  return Objects::kStay;
}

absl::StatusOr<Handover::Objects> Handover::DecideOnStandIn(const std::string& cluster,
                                                            const kube::Object& stand_in,
                                                            const base::StopToken& stop) {
  const std::pair<std::string, std::string> work =
      absl::StrSplit(stand_in.Annotation(api::kStandsInForAnnotation), absl::MaxSplits('/', 1));
  const kube::ObjectKey key = {std::string(stand_in.ns()), work.first};
  kube::ObjectPtr of_name = client_.Find(api::Works(), key);
  // What is in the way of the next Work may stay for hours, so the server is not asked each time.
  const bool waits =
      of_name == nullptr && CachedInterest(stand_in, cluster) >= Interest::kUndecided;
  if (waits) return Objects::kUnclear;
  if (of_name == nullptr || of_name->uid() == work.second) {
    ASSIGN_OR_RETURN(of_name, ReadLive(client_, api::Works(), key, stop));
  }
  if (of_name != nullptr) {
    return of_name->uid() == work.second ? Objects::kUnclear : Objects::kStay;
  }
  ASSIGN_OR_RETURN(const Interest interest, LiveInterest(stand_in, cluster, stop));
  return interest >= Interest::kUndecided ? Objects::kUnclear : Objects::kDelete;
}

absl::Status Handover::PutStandIn(const kube::Object& work, const base::StopToken& stop) {
  const kube::Object stand_in = StandInFor(work);
  const absl::Status created = client_.Create(api::Works(), stand_in, stop).status();
  if (!created.ok() && !kube::AlreadyExists(created)) return created;
  return End(stand_in, stop);
}

absl::Status Handover::End(const kube::Object& stand_in, const base::StopToken& stop) {
  return client_.Delete(api::Works(), stand_in.key(), {}, stop);
}

absl::Duration Handover::LookAgainAfter(const kube::Object& work) {
  return IsStandIn(work) ? absl::Seconds(5) : absl::Seconds(1);
}

}  // namespace controllers
