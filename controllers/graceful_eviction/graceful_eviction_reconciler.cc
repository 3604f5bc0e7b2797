// A pass assesses all tasks of a binding and writes the list if it has changed: tasks get the time
// at which they were first seen, and those that have ended are removed. The pass is repeated when
// the next task times out. Everything else that may end a task changes the binding: the scheduler's
// result, the collected health, an edit of the task. The times are in the tasks, so a restart loses
// nothing but an event between the write and its recording.
//
// The scheduler does not ask for how long a taint is tolerated, but leaves out clusters that have a
// task. Without one it may place a workload whose toleration is over in the tainted cluster again,
// and the taint manager would evict it again, every ten seconds. So the end of such a task is
// recorded in an annotation of the binding, in the same write. If the workload does return, the
// task of its next eviction stays when it has ended, marked, without an effect on Works. Record and
// task are removed when the taint is removed or tolerated again: changes of a cluster's taints
// queue the bindings that have a task or a record for that cluster. They are also removed, with the
// first pass after a start, when the flags have turned the taint manager off.

#include "controllers/graceful_eviction/graceful_eviction_reconciler.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/preserved_state.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/eviction/applied_tolerations.h"
#include "controllers/eviction/eviction_task.h"
#include "controllers/graceful_eviction/left_tainted.h"
#include "controllers/graceful_eviction/register.h"
#include "controllers/graceful_eviction/task_assessment.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/refused_bindings.h"

namespace controllers {
namespace {

// Whoever edits a binding may give it any number of tasks, for clusters that do not exist.
constexpr size_t kMostReported = 100;

// The taints of clusters because of which a binding would be evicted. It reads the tolerations and
// looks at each cluster once, because a binding may have many tasks for one cluster.
class OverdueByCluster {
 public:
  OverdueByCluster(kube::ClusterClient& client, const kube::Object& binding, absl::Time now)
      : client_(client), binding_(binding), now_(now) {}

  std::optional<TaintTimes> In(const std::string& cluster) {
    const auto [found, is_new] = known_.try_emplace(cluster);
    if (is_new) found->second = LookAt(cluster);
    return found->second;
  }

 private:
  std::optional<TaintTimes> LookAt(const std::string& name) {
    const kube::ObjectPtr cluster = client_.Find(api::Clusters(), {"", name});
    if (cluster == nullptr) return std::nullopt;
    if (!tolerations_.has_value()) tolerations_ = AppliedTolerations(binding_);
    return tolerations_->ok() ? OverdueTaints(**tolerations_, *cluster, now_) : std::nullopt;
  }

  kube::ClusterClient& client_;
  const kube::Object& binding_;
  const absl::Time now_;
  std::optional<absl::StatusOr<std::vector<api::Toleration>>> tolerations_;
  std::map<std::string, std::optional<TaintTimes>> known_;
};

}  // namespace

template <class Scope>
GracefulEvictionReconciler<Scope>::GracefulEvictionReconciler(kube::Manager& manager,
                                                              Options options)
    : manager_(manager),
      options_(options),
      recorder_(manager.events(), api::kGracefulEvictionController<Scope>) {}

template <class Scope>
absl::StatusOr<kube::Action> GracefulEvictionReconciler<Scope>::Reconcile(
    const kube::Request& request, const base::StopToken& stop) {
  const kube::ObjectPtr binding = manager_.cluster().Find(Scope::Bindings(), request.key);
  if (binding == nullptr || binding->IsDeleting()) return kube::Action::Done();
  if (works::IsRefused(manager_.cluster(), *binding, stop)) return kube::Action::Done();
  const absl::Time now = manager_.clock().Now();
  OverdueByCluster overdue(manager_.cluster(), *binding, now);
  const TaskAssessment assessment = AssessTasks(
      *binding, now, options_.timeout, [&](absl::string_view cluster) -> std::optional<TaintTimes> {
        return options_.keeps_away ? overdue.In(std::string(cluster)) : std::nullopt;
      });
  kube::Object after = *binding;
  after.Set({"spec", "gracefulEvictionTasks"}, assessment.kept);
  if (assessment.kept.empty()) after.Erase({"spec", "gracefulEvictionTasks"});
  SetLeftTaintedClusters(after, assessment.left_tainted);
  api::SetKeptPreservedState(after, assessment.preserved_state);
  kube::UpdateOptions options;
  // Whether a task has ended depends on placement and health, which are not part of the list.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::Status written =
      manager_.cluster().Update(Scope::Bindings(), binding, after, options, stop).status();
  if (kube::IsGone(written)) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(written, "updating eviction tasks"));
  ReportEvicted(*binding, assessment.evicted);
  if (!assessment.next.has_value()) return kube::Action::Done();
  return kube::Action::After(*assessment.next);
}

template <class Scope>
void GracefulEvictionReconciler<Scope>::ReportEvicted(const kube::Object& binding,
                                                      const std::vector<std::string>& clusters) {
  std::set<std::string> reported;
  for (const std::string& cluster : clusters) {
    if (reported.size() == kMostReported) return;
    if (reported.insert(cluster).second) controllers::ReportEvicted(recorder_, binding, cluster);
  }
}

namespace {

// Returns whether the binding has tasks, or a record of tasks that have ended.
bool IsForUs(const kube::Object& binding) {
  return !binding.Get({"spec", "gracefulEvictionTasks"}).empty() ||
         binding.annotations().Has(api::kLeftTaintedClustersAnnotation) ||
         binding.annotations().Has(api::kPreservedStateAnnotation);
}

bool IsForUsNow(const kube::Object&, const kube::Object& after) { return IsForUs(after); }

// The index of bindings by the clusters of their tasks, and of those that they have left.
constexpr char kByTask[] = "spec.gracefulEvictionTasks";

std::vector<std::string> ClustersOfTasks(const kube::Object& binding) {
  std::vector<std::string> clusters;
  for (const json::Value& task : binding.Get({"spec", "gracefulEvictionTasks"}).items()) {
    clusters.push_back(task["fromCluster"].ToString());
  }
  for (const auto& left : LeftTaintedClusters(binding)) clusters.push_back(left.first);
  return clusters;
}

bool TaintsChanged(const kube::Object& before, const kube::Object& after) {
  return before.spec()["taints"] != after.spec()["taints"];
}

// Maps a Cluster to the bindings that have a task or a record for it.
template <class Scope>
kube::MapFn BindingsWithTask(kube::Manager& manager) {
  return [&manager](const kube::Object& cluster) {
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& binding :
         manager.cluster().ByIndex(Scope::Bindings(), kByTask, std::string(cluster.name()))) {
      requests.push_back({.key = binding->key()});
    }
    return requests;
  };
}

}  // namespace

template <class Scope>
absl::Status RegisterGracefulEviction(const Context& context, int workers) {
  context.NewController(api::kGracefulEvictionController<Scope>, workers)
      .Watches(Scope::Bindings(),
               {.when = {.add = IsForUs, .update = IsForUsNow, .remove = kube::Never}})
      .Watches(api::Clusters(), {.when = {.add = kube::Never, .update = TaintsChanged},
                                 .map = BindingsWithTask<Scope>(context.manager)})
      .Reads(Scope::Bindings(), kByTask, ClustersOfTasks)
      .Build(std::make_unique<GracefulEvictionReconciler<Scope>>(
          context.manager, typename GracefulEvictionReconciler<Scope>::Options{
                               .timeout = context.options.graceful_eviction_timeout,
                               .keeps_away = TaintManagerEvicts(context.options)}));
  return absl::OkStatus();
}

template class GracefulEvictionReconciler<api::scope::Namespaced>;
template class GracefulEvictionReconciler<api::scope::Cluster>;
template absl::Status RegisterGracefulEviction<api::scope::Namespaced>(const Context&, int);
template absl::Status RegisterGracefulEviction<api::scope::Cluster>(const Context&, int);

}  // namespace controllers
