// A pod is first bound to a node that has room; without one it is Unschedulable, and looked at
// again when a node changes or another pod is removed. It becomes ready ready_delay after it was
// first seen, unless a ConfigMap or Secret that it needs is missing: then it waits, and is looked
// at again with every change of such objects. A pod that runs to completion finishes job_duration
// after it became ready. Timers bring a pod back at these times. A pod that has finished, or is
// gone, gives its room back. lives_, the ledger and the two sets of pods that wait belong to the
// loop's thread.

#include "sandbox/sim/pods.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/pod_references.h"
#include "sandbox/sim/writes.h"

namespace sandbox {

Pods::Pods(Backend& backend, EventLoop& loop, PodTimes times)
    : backend_(backend),
      times_(times),
      nodes_("node", backend, loop,
             [this](const kube::ObjectKey& key) { return ReconcileNode(key); }),
      references_("pod-references", backend, loop,
                  [this](const kube::ObjectKey&) { return RetryWaiting(); }),
      pods_("pod", backend, loop, [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  nodes_.WatchKeys(kinds::Nodes().gvr());
  pods_.WatchKeys(kinds::Pods().gvr());
  references_.WatchKeys(kinds::ConfigMaps().gvr());
  references_.WatchKeys(kinds::Secrets().gvr());
}

absl::Status Pods::ReconcileNode(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr node, FindObject(backend_, kinds::Nodes().gvr(), key));
  if (node == nullptr) {
    ledger_.RemoveNode(key.name);
    return absl::OkStatus();
  }
  ledger_.SetNode(*node);
  // It may be new, ready again or larger.
  RetryUnscheduled();
  return absl::OkStatus();
}

absl::Status Pods::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr pod, FindObject(backend_, kinds::Pods().gvr(), key));
  if (pod == nullptr || !IsActivePod(*pod)) {
    Forget(key);
    return absl::OkStatus();
  }
  Life& life = LifeOf(*pod);
  const std::string node = pod->spec()["nodeName"].ToString();
  if (node.empty()) return Bind(*pod);
  unscheduled_.erase(key);
  ledger_.Charge(key, node, RequestsOf(*pod));
  return Live(*pod, life);
}

Pods::Life& Pods::LifeOf(const kube::Object& pod) {
  Life& life = lives_[pod.key()];
  if (life.uid != pod.uid()) {
    ledger_.Release(pod.key());  // An earlier pod of that name may have a booking.
    life = {std::string(pod.uid()), pods_.Now()};
  }
  return life;
}

void Pods::Forget(const kube::ObjectKey& key) {
  lives_.erase(key);
  unscheduled_.erase(key);
  waiting_.erase(key);
  if (ledger_.Release(key)) RetryUnscheduled();
}

absl::Status Pods::RetryWaiting() {
  for (const kube::ObjectKey& key : waiting_) pods_.Enqueue(key);
  return absl::OkStatus();
}

void Pods::RetryUnscheduled() {
  for (const kube::ObjectKey& key : unscheduled_) pods_.Enqueue(key);
}

absl::Status Pods::Bind(const kube::Object& pod) {
  const absl::StatusOr<std::string> node = ledger_.Choose(pod);
  if (!node.ok()) {
    unscheduled_.insert(pod.key());
    return WriteStatus(backend_, kinds::Pods().gvr(), pod,
                       UnschedulableStatus(pod, node.status().message(), pods_.Now()));
  }
  json::Value patch;
  patch.Set({"spec", "nodeName"}, *node);
  RETURN_IF_ERROR(PatchAsRead(backend_, kinds::Pods().gvr(), pod, std::move(patch)));
  ledger_.Charge(pod.key(), *node, RequestsOf(pod));
  return absl::OkStatus();  // The change of the reference enqueues it again.
}

absl::Status Pods::Live(const kube::Object& pod, Life& life) {
  const absl::Time now = pods_.Now();
  if (!IsReadyPod(pod)) {
    const absl::Duration wait = life.seen + times_.ready_delay - now;
    if (wait > absl::ZeroDuration()) {
      pods_.EnqueueAfter(pod.key(), wait);
      return absl::OkStatus();
    }
    // A pod whose ConfigMap or Secret is missing waits, and is looked at again with each change of
    // one of these kinds.
    ASSIGN_OR_RETURN(const auto missing, FindMissingReference(backend_, pod));
    if (missing.has_value()) {
      waiting_.insert(pod.key());
      return WriteStatus(backend_, kinds::Pods().gvr(), pod, WaitingStatus(pod, *missing, now));
    }
    waiting_.erase(pod.key());
    life.ready = now;
    const PodAddress address = NextAddress(pod.spec()["nodeName"].ToString());
    return WriteStatus(backend_, kinds::Pods().gvr(), pod, RunningStatus(pod, address, now));
  }
  if (!RunsToCompletion(pod)) return absl::OkStatus();
  if (life.ready == absl::InfiniteFuture()) life.ready = now;
  const absl::Duration wait = life.ready + times_.job_duration - now;
  if (wait > absl::ZeroDuration()) {
    pods_.EnqueueAfter(pod.key(), wait);
    return absl::OkStatus();
  }
  return WriteStatus(backend_, kinds::Pods().gvr(), pod, FinishedStatus(pod, ExitCodeOf(pod), now));
}

PodAddress Pods::NextAddress(const std::string& node) {
  // Addresses are used again after 62,500 pods; the simulation has no network to mind that.
  const int64_t n = addresses_++ % (250 * 250);
  const auto found = FindObject(backend_, kinds::Nodes().gvr(), {"", node});
  std::string host_ip = "172.18.0.2";
  if (found.ok() && *found != nullptr) {
    const json::Value& addresses = (*found)->status()["addresses"];
    if (!addresses.empty()) host_ip = addresses.At(0)["address"].ToString();
  }
  return {absl::StrCat("10.244.", n / 250, ".", n % 250 + 2), host_ip};
}

absl::Status CreateNodes(Backend& backend, const std::string& cluster, int count, absl::Time now) {
  const json::Value amounts = json::Value::Object(
      {{"cpu", "8"}, {"memory", "32Gi"}, {"ephemeral-storage", "100Gi"}, {"pods", "110"}});
  const std::string stamp = kube::FormatTime(now);
  for (int i = 1; i <= count; ++i) {
    const std::string name = absl::StrCat(cluster, "-node", i);
    kube::Object node = kube::Object::Make(kinds::Nodes().gvk, {"", name});
    node.SetLabel("kubernetes.io/hostname", name);
    node.SetLabel("kubernetes.io/os", "linux");
    node.SetLabel("kubernetes.io/arch", "amd64");
    node.Set({"spec", "providerID"}, absl::StrCat("sandbox://", name));
    const json::Value ready = json::Value::Object({{"type", "Ready"},
                                                   {"status", "True"},
                                                   {"reason", "KubeletReady"},
                                                   {"message", "kubelet is posting ready status"},
                                                   {"lastHeartbeatTime", stamp},
                                                   {"lastTransitionTime", stamp}});
    const json::Value address = json::Value::Object(
        {{"type", "InternalIP"}, {"address", absl::StrCat("172.18.0.", i + 1)}});
    node.Set(
        {"status"},
        json::Value::Object(
            {{"capacity", amounts},
             {"allocatable", amounts},
             {"conditions", json::Value::Array({ready})},
             {"addresses", json::Value::Array({address})},
             {"nodeInfo", json::Value::Object({{"kubeletVersion", "v1.35.3"},
                                               {"operatingSystem", "linux"},
                                               {"osImage", "karmada-sandbox"},
                                               {"architecture", "amd64"},
                                               {"containerRuntimeVersion", "sandbox://1"}})}}));
    RETURN_IF_ERROR(EnsureObject(backend, kinds::Nodes().gvr(), std::move(node)));
  }
  return absl::OkStatus();
}

}  // namespace sandbox
