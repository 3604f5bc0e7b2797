#include "cmd/controller-manager/cluster_log.h"

#include "absl/time/time.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/cache/cluster_client.h"

namespace cmd {
namespace {

using base::LogInfo;
using base::LogWarning;

// The status, reason and message of the condition Ready; all "" while there is none.
struct Readiness {
  std::string status, reason, message;
  friend bool operator==(const Readiness&, const Readiness&) = default;
};

Readiness ReadinessOf(const kube::Object& cluster) {
  const json::Value* condition =
      kube::FindCondition(api::ClusterView(cluster).Conditions(), api::kClusterReady);
  if (condition == nullptr) return {};
  return {condition->Get({"status"}).ToString(), condition->Get({"reason"}).ToString(),
          condition->Get({"message"}).ToString()};
}

void LogReadiness(const kube::Object& cluster, const Readiness& now) {
  if (now.status == "True") {
    LogInfo("cluster is ready", {{"cluster", cluster.name()}});
  } else if (!now.status.empty()) {
    LogWarning("cluster is not ready", {{"cluster", cluster.name()},
                                        {"status", now.status},
                                        {"reason", now.reason},
                                        {"message", now.message}});
  }
}

void OnAdd(const kube::ObjectPtr& cluster, bool initial) {
  const Readiness now = ReadinessOf(*cluster);
  if (!initial) {
    LogInfo("cluster joined", {{"cluster", cluster->name()},
                               {"mode", api::ClusterView(*cluster).IsPull() ? "Pull" : "Push"}});
  }
  // Clusters that are ready at the start are not logged, since there may be hundreds of them.
  if (!initial || now.status != "True") LogReadiness(*cluster, now);
}

void OnUpdate(const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
  const Readiness now = ReadinessOf(*after);
  if (now.status != ReadinessOf(*before).status) LogReadiness(*after, now);
  if (!before->IsDeleting() && after->IsDeleting()) {
    LogInfo("cluster is leaving", {{"cluster", after->name()}});
  }
}

}  // namespace

absl::Status ClusterLog::Run(const base::StopToken& stop) {
  const auto clusters = manager_.cluster().informers().Get(api::Clusters());
  kube::EventHandler handler;
  handler.on_add = OnAdd;
  handler.on_update = OnUpdate;
  handler.on_delete = [](const kube::ObjectPtr& last) {
    LogInfo("cluster left", {{"cluster", last->name()}});
  };
  const int64_t id = clusters->AddHandler(std::move(handler));
  while (manager_.clock().SleepFor(absl::Hours(1), stop)) {
  }
  clusters->RemoveHandler(id);
  return absl::OkStatus();
}

}  // namespace cmd
