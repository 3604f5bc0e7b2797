// The controllers of each kind of cluster, as one value.
#ifndef SANDBOX_SIM_CLUSTER_CONTROLLERS_H_
#define SANDBOX_SIM_CLUSTER_CONTROLLERS_H_

#include "api/resources.h"
#include "sandbox/sim/binding_scheduler.h"
#include "sandbox/sim/daemon_sets.h"
#include "sandbox/sim/deployments.h"
#include "sandbox/sim/garbage_collector.h"
#include "sandbox/sim/jobs.h"
#include "sandbox/sim/namespace_lifecycle.h"
#include "sandbox/sim/pods.h"
#include "sandbox/sim/replica_sets.h"
#include "sandbox/sim/service_accounts.h"
#include "sandbox/sim/stateful_sets.h"

namespace sandbox {

// The simulators of kube-controller-manager, kube-scheduler and the kubelets in a member.
struct MemberControllers {
  MemberControllers(Backend& backend, EventLoop& loop, PodTimes times)
      : collector(backend, loop),
        namespaces(backend, loop),
        service_accounts(backend, loop),
        deployments(backend, loop),
        replica_sets(backend, loop),
        stateful_sets(backend, loop),
        daemon_sets(backend, loop),
        jobs(backend, loop),
        pods(backend, loop, times) {}

  GarbageCollector collector;
  NamespaceLifecycle namespaces;
  ServiceAccounts service_accounts;
  Deployments deployments;
  ReplicaSets replica_sets;
  StatefulSets stateful_sets;
  DaemonSets daemon_sets;
  Jobs jobs;
  Pods pods;
};

// The simulator of a Karmada control plane's kube-controller-manager: templates get no pods.
struct ControlPlaneControllers {
  ControlPlaneControllers(Backend& backend, EventLoop& loop)
      : collector(backend, loop), namespaces(backend, loop) {}

  GarbageCollector collector;
  NamespaceLifecycle namespaces;
};

// The simulator of karmada-scheduler. REQUIRES: Karmada's kinds are served.
struct KarmadaScheduler {
  KarmadaScheduler(Backend& backend, EventLoop& loop, const SchedulingRules& rules)
      : bindings(backend, loop, api::ResourceBindings(), rules),
        cluster_bindings(backend, loop, api::ClusterResourceBindings(), rules) {}

  BindingScheduler bindings;
  BindingScheduler cluster_bindings;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_CLUSTER_CONTROLLERS_H_
