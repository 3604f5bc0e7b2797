// Handlers note what has changed: a kind that is new in the Works of a cluster, a Cluster, or a
// Secret that a Cluster names. Tick, which they wake, looks at the clusters that are due: it
// forgets one that is gone, takes over how one is reached, and has the informers of its kinds run
// if it is ready. An informer that runs stays until its cluster leaves, as the leader's do. What
// fails is tried again after half a minute; then the kinds of templates are looked at as well.
//
// Tick ends the runnable once the process leads. The loops have their own handlers by then and act
// on everything that this one may not have noted; what both do at the same moment, such as to
// connect a cluster again, is done once. All of this is memory of one process: without it the
// caches are cold, as they are without the flag.

#include "controllers/process/warm_stand_by.h"

#include <algorithm>
#include <utility>

#include "api/cluster.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/log.h"

namespace controllers {
namespace {

constexpr absl::Duration kLookAgain = absl::Seconds(30);
constexpr absl::Duration kLookForLists = absl::Milliseconds(200);

// The informers without which nothing is known of members, or of the kinds of templates.
std::vector<const kube::Resource*> Needed() {
  return {&api::Clusters(),
          &api::Secrets(),
          &api::Works(),
          &api::ResourceBindings(),
          &api::PropagationPolicies(),
          &api::ClusterResourceBindings(),
          &api::ClusterPropagationPolicies()};
}

// Returns a handler that is told of each object as it is now, and of the last state of one that is
// gone, if it differs in what `concerns` compares.
kube::EventHandler Tell(std::function<void(const kube::Object&)> of,
                        std::function<bool(const kube::Object&, const kube::Object&)> concerns) {
  kube::EventHandler handler;
  handler.on_add = [of](const kube::ObjectPtr& object, bool) { of(*object); };
  handler.on_update = [of, concerns = std::move(concerns)](const kube::ObjectPtr& before,
                                                           const kube::ObjectPtr& after) {
    if (concerns(*before, *after)) of(*after);
  };
  handler.on_delete = [of](const kube::ObjectPtr& last) { of(*last); };
  return handler;
}

bool IsOtherGeneration(const kube::Object& before, const kube::Object& after) {
  return before.generation() != after.generation();
}

bool IsReachedOtherwise(const kube::Object& before, const kube::Object& after) {
  return before.generation() != after.generation() || before.uid() != after.uid() ||
         api::ClusterView(before).IsReady() != api::ClusterView(after).IsReady();
}

}  // namespace

WarmStandBy::WarmStandBy(const Context& context) : Periodic(context.clock()), context_(context) {}

absl::Duration WarmStandBy::Begin() {
  const auto follow = [this](const kube::Resource& resource, kube::EventHandler handler) {
    handlers_.emplace_back(context_.InformerOf(resource), std::move(handler));
  };
  follow(api::Clusters(),
         Tell([this](const kube::Object& cluster) { NoteCluster(cluster); }, IsReachedOtherwise));
  follow(api::Secrets(), Tell([this](const kube::Object& secret) { NoteSecret(secret); },
                              [](const kube::Object&, const kube::Object&) { return true; }));
  follow(api::Works(),
         Tell([this](const kube::Object& work) { NoteWork(work); }, IsOtherGeneration));
  return absl::ZeroDuration();
}

void WarmStandBy::NoteWork(const kube::Object& work) {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
  if (!cluster.ok()) return;
  bool is_new = false;
  {
    absl::MutexLock lock(&mu_);
    for (const json::Value& manifest : api::WorkView(work).Manifests()) {
      const kube::Gvk gvk = kube::Object(manifest).gvk();
      if (gvk.version.empty() || gvk.kind.empty()) continue;
      is_new = kinds_[*cluster].insert(gvk).second || is_new;
    }
    if (is_new) due_.insert(*cluster);
  }
  if (is_new) Wake();
}

void WarmStandBy::NoteCluster(const kube::Object& cluster) {
  const std::string name(cluster.name());
  {
    absl::MutexLock lock(&mu_);
    secrets_[name] = api::ClusterView(cluster).SecretRef();
    due_.insert(name);
  }
  Wake();
}

void WarmStandBy::NoteSecret(const kube::Object& secret) {
  const kube::ObjectKey key = secret.key();
  bool concerns = false;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [cluster, named] : secrets_) {
      if (!(named == key)) continue;
      concerns = true;
      due_.insert(cluster);
    }
  }
  if (concerns) Wake();
}

bool WarmStandBy::CanBegin() const {
  const std::vector<const kube::Resource*> needed = Needed();
  return std::all_of(needed.begin(), needed.end(), [&](const kube::Resource* resource) {
    return context_.InformerOf(*resource)->HasSynced();
  });
}

absl::Duration WarmStandBy::Tick(const base::StopToken& stop) {
  if (context_.manager.IsLeader()) {
    handlers_.clear();
    EndWith(absl::OkStatus());
    return kLookAgain;
  }
  if (!CanBegin()) return kLookForLists;
  std::set<std::string> due;
  {
    absl::MutexLock lock(&mu_);
    due.swap(due_);
  }
  std::erase_if(
      due, [&](const std::string& name) { return !stop.stop_requested() && Follow(name, stop); });
  const base::SteadyTime now = context_.clock().SteadyNow();
  if (now >= templates_due_) {
    templates_due_ = now + kLookAgain;
    const absl::Status warmed = context_.kinds.WarmUp(stop);
    if (!warmed.ok() && base::VlogOn(1)) {
      base::LogInfo("the kinds of templates are not read yet", {{"error", warmed}});
    }
  }
  absl::MutexLock lock(&mu_);
  due_.merge(due);
  return kLookAgain;
}

bool WarmStandBy::Follow(const std::string& name, const base::StopToken& stop) {
  const kube::ObjectPtr cluster = context_.manager.cluster().Find(api::Clusters(), {"", name});
  if (cluster == nullptr) {
    context_.objects.Forget(name);
    context_.members.Remove(name);
    absl::MutexLock lock(&mu_);
    secrets_.erase(name);
    return true;
  }
  // One that is not ready is due again when it is.
  if (!context_.served.Have(*cluster) || !api::ClusterView(*cluster).IsReady()) return true;
  absl::Status result = context_.members.Refresh(name);
  for (const kube::Gvk& gvk : KindsIn(name)) {
    result.Update(context_.objects.Prefetch(name, gvk, stop));
  }
  if (!result.ok() && base::VlogOn(1)) {
    base::LogInfo("a stand-by cannot follow a cluster yet", {{"cluster", name}, {"error", result}});
  }
  return result.ok();
}

std::set<kube::Gvk> WarmStandBy::KindsIn(const std::string& cluster) const {
  absl::MutexLock lock(&mu_);
  const auto found = kinds_.find(cluster);
  return found == kinds_.end() ? std::set<kube::Gvk>() : found->second;
}

}  // namespace controllers
