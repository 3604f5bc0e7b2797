// Simulates nodes and kubelets: pods get a node, run, become ready, and those that run to
// completion end.
#ifndef SANDBOX_SIM_PODS_H_
#define SANDBOX_SIM_PODS_H_

#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "sandbox/sim/controller.h"
#include "sandbox/sim/node_ledger.h"
#include "sandbox/sim/pod_status.h"

namespace sandbox {

struct PodTimes {
  absl::Duration ready_delay;   // From a pod's creation to Ready.
  absl::Duration job_duration;  // From Ready to the end of a pod that runs to completion.
};

class Pods {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  Pods(Backend& backend, EventLoop& loop, PodTimes times);

 private:
  // What is remembered about a pod; its own time stamps have only seconds.
  struct Life {
    std::string uid;
    absl::Time seen;
    absl::Time ready = absl::InfiniteFuture();
  };

  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::Status ReconcileNode(const kube::ObjectKey& key);
  absl::Status Bind(const kube::Object& pod);
  absl::Status Live(const kube::Object& pod, Life& life);
  Life& LifeOf(const kube::Object& pod);
  void Forget(const kube::ObjectKey& key);
  void RetryUnscheduled();
  // Checks the pods again that lack a ConfigMap or Secret.
  absl::Status RetryWaiting();
  PodAddress NextAddress(const std::string& node);

  Backend& backend_;
  const PodTimes times_;
  // These members are used on the loop's thread only.
  NodeLedger ledger_;
  std::map<kube::ObjectKey, Life> lives_;
  std::set<kube::ObjectKey> unscheduled_;
  std::set<kube::ObjectKey> waiting_;  // Pods that wait for a ConfigMap or Secret.
  int64_t addresses_ = 0;
  Controller nodes_;
  Controller references_;
  Controller pods_;
};

// Creates `count` ready Nodes, "<cluster>-node1" and so on, with 8 CPUs, 32Gi and 110 pods each.
absl::Status CreateNodes(Backend& backend, const std::string& cluster, int count, absl::Time now);

}  // namespace sandbox

#endif  // SANDBOX_SIM_PODS_H_
