// How it works. Handlers on the informers of policies and Clusters run on the threads that deliver
// events, so they only compare what is cached and put keys into the queue. What is there at the
// start needs no request: a controller that starts queues all its objects anyway. The handlers
// ignore changes while another replica leads, for the same reason.

#include "overrides/triggers.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/resources.h"
#include "kube/runtime/handler_registration.h"
#include "overrides/policy.h"

namespace overrides {
namespace {

// Queues what the policies may concern, which are all of one scope.
using QueueForPolicies = std::function<void(const std::vector<Policy>& policies)>;
// Queues what the policies may concern in the cluster.
using QueueForCluster =
    std::function<void(const std::vector<Policy>& policies, const kube::Object& cluster)>;

bool HaveSameFacts(const kube::Object& before, const kube::Object& after) {
  if (before.labels() != after.labels()) return false;
  for (const absl::string_view field : {"provider", "region", "zone", "zones"}) {
    if (before.spec()[field] != after.spec()[field]) return false;
  }
  return true;
}

bool MaySelect(const Policy& policy, const api::ObjectReference& object) {
  return (policy.ns().empty() || policy.ns() == object.ns) && policy.MaySelect(object);
}

bool AnyMaySelect(const std::vector<Policy>& policies, const api::ObjectReference& object) {
  return std::any_of(policies.begin(), policies.end(),
                     [&](const Policy& policy) { return MaySelect(policy, object); });
}

// What the handlers of one controller need.
struct Source {
  kube::Manager& manager;
  std::vector<kube::Resource> policies;
  std::vector<std::shared_ptr<kube::Informer>> policy_informers;

  Source(kube::Manager& manager, std::vector<kube::Resource> resources)
      : manager(manager), policies(std::move(resources)) {
    for (const kube::Resource& resource : policies) {
      policy_informers.push_back(manager.cluster().informers().Get(resource));
    }
  }

  // Returns the policies with a rule that the change may switch on or off.
  std::vector<Policy> Following(const kube::Object* before, const kube::Object& after) const {
    std::vector<Policy> following;
    for (const auto& informer : policy_informers) {
      for (const kube::ObjectPtr& object : informer->store().List()) {
        if (Follows(*object, before, after)) following.emplace_back(object);
      }
    }
    return following;
  }
};

kube::EventHandler PolicyHandler(kube::Manager& manager, QueueForPolicies queue) {
  kube::EventHandler handler;
  handler.on_add = [&manager, queue](const kube::ObjectPtr& policy, bool initial) {
    // At the start, and at a take-over, every binding is looked at anyway.
    if (!initial && manager.IsLeader()) queue({Policy(policy)});
  };
  handler.on_update = [&manager, queue](const kube::ObjectPtr& before,
                                        const kube::ObjectPtr& after) {
    if (!kube::GenerationChanged(*before, *after) || !manager.IsLeader()) return;
    // Both: what the policy no longer selects has to lose the override.
    queue({Policy(before), Policy(after)});
  };
  handler.on_delete = [&manager, queue](const kube::ObjectPtr& policy) {
    if (manager.IsLeader()) queue({Policy(policy)});
  };
  return handler;
}

kube::EventHandler ClusterHandler(const std::shared_ptr<const Source>& source,
                                  const QueueForCluster& queue) {
  const auto changed = [source, queue](const kube::Object* before, const kube::Object& after) {
    if (!source->manager.IsLeader()) return;
    const std::vector<Policy> policies = source->Following(before, after);
    if (!policies.empty()) queue(policies, after);
  };
  kube::EventHandler handler;
  handler.on_add = [changed](const kube::ObjectPtr& cluster, bool initial) {
    if (!initial) changed(nullptr, *cluster);
  };
  handler.on_update = [changed](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (!HaveSameFacts(*before, *after)) changed(before.get(), *after);
  };
  return handler;
}

void Attach(kube::Controller& controller, const std::shared_ptr<const Source>& source,
            const QueueForPolicies& for_policies, const QueueForCluster& for_cluster) {
  for (const auto& informer : source->policy_informers) {
    controller.Keep(std::make_shared<kube::HandlerRegistration>(
        informer, PolicyHandler(source->manager, for_policies)));
  }
  controller.Keep(std::make_shared<kube::HandlerRegistration>(
      source->manager.cluster().informers().Get(api::Clusters()),
      ClusterHandler(source, for_cluster)));
}

bool IsDispatchedTo(const api::BindingView& binding, absl::string_view cluster) {
  const std::vector<api::TargetCluster> targets = binding.DispatchTargets();
  return std::any_of(targets.begin(), targets.end(),
                     [&](const api::TargetCluster& target) { return target.name == cluster; });
}

}  // namespace

void QueueBindings(kube::Manager& manager, const kube::Resource& bindings,
                   kube::Controller& controller) {
  std::vector<kube::Resource> policies = {api::ClusterOverridePolicies()};
  if (bindings.namespaced) policies.push_back(api::OverridePolicies());
  const auto source = std::make_shared<const Source>(manager, std::move(policies));
  const std::shared_ptr<kube::Informer> informer = manager.cluster().informers().Get(bindings);
  kube::WorkQueue& queue = controller.queue();
  const QueueForPolicies for_policies = [informer, &queue](const std::vector<Policy>& changed) {
    for (const auto& binding : informer->store().List(changed.front().ns(), {})) {
      if (AnyMaySelect(changed, api::BindingView(*binding).Resource())) {
        queue.Add({.key = binding->key()}, kube::kInitialListPriority);
      }
    }
  };
  const QueueForCluster for_cluster = [informer, &queue](const std::vector<Policy>& following,
                                                         const kube::Object& cluster) {
    for (const kube::ObjectPtr& binding : informer->store().List()) {
      const api::BindingView view(*binding);
      if (AnyMaySelect(following, view.Resource()) && IsDispatchedTo(view, cluster.name())) {
        queue.Add({.key = binding->key()}, kube::kInitialListPriority);
      }
    }
  };
  Attach(controller, source, for_policies, for_cluster);
}

void QueueNamespaces(kube::Manager& manager, kube::Controller& controller) {
  const auto source = std::make_shared<const Source>(
      manager, std::vector<kube::Resource>{api::ClusterOverridePolicies()});
  const std::shared_ptr<kube::Informer> informer =
      manager.cluster().informers().Get(api::Namespaces());
  kube::WorkQueue& queue = controller.queue();
  const QueueForPolicies for_policies = [informer, &queue](const std::vector<Policy>& changed) {
    for (const kube::ObjectPtr& ns : informer->store().List()) {
      if (AnyMaySelect(changed, api::ObjectReference::Of(*ns)))
        queue.Add({.key = ns->key()}, kube::kInitialListPriority);
    }
  };
  const QueueForCluster for_cluster = [informer, &queue](const std::vector<Policy>& following,
                                                         const kube::Object& cluster) {
    const std::vector<kube::ObjectPtr> all = informer->store().List();
    const bool concerned = std::any_of(all.begin(), all.end(), [&](const kube::ObjectPtr& ns) {
      return AnyMaySelect(following, api::ObjectReference::Of(*ns));
    });
    if (concerned) queue.Add({.cluster = std::string(cluster.name())}, kube::kInitialListPriority);
  };
  Attach(controller, source, for_policies, for_cluster);
}

}  // namespace overrides
