// Builds the loop over templates first, because all others put into its queue: the two loops over
// policies, and TemplateSource, which watches the kinds that can be templates. Parts (the indexes
// of policies, and the memory about templates) is shared by all of them and by the functions that
// map events to templates; whoever uses it keeps it alive. Beside edits, a template is looked at
// again when its binding is lost or set back, when its policy is removed by force, when what its
// policy waits for is there, and when a rule that counts its pods changes. All of that memory may
// be lost: after a restart each template is looked at once.

#include "detector/register.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/priority_class.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "config/feature_gates.h"
#include "detector/policy_index.h"
#include "detector/policy_reconciler.h"
#include "detector/recount.h"
#include "detector/request_reason.h"
#include "detector/scheduling_hints.h"
#include "detector/template_filter.h"
#include "detector/template_memory.h"
#include "detector/template_reconciler.h"
#include "detector/template_source.h"
#include "kube/runtime/controller.h"
#include "works/rule_requeue.h"

namespace detector {
namespace {

// Upstream's private queues have only the exponential part of the back-off.
kube::RateLimiterOptions LimiterOf(const controllers::Context& context) {
  kube::RateLimiterOptions limiter = context.RateLimiter();
  limiter.qps = 0;
  return limiter;
}

// Maps a PriorityClass to the policies that name it.
kube::MapFn PoliciesNaming(std::shared_ptr<kube::Informer> policies) {
  return [policies = std::move(policies)](const kube::Object& priority_class) {
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& policy : policies->store().List()) {
      if (PriorityClassOf(*policy) != priority_class.name()) continue;
      requests.push_back({.key = policy->key(), .gvk = {}});
    }
    return requests;
  };
}

// Upstream reads a PriorityClass when it makes a binding. Here one that is created, or created
// again with another value, also queues the policies that name it, whose passes queue the templates
// that are blocked without it.
void WatchPriorityClasses(const controllers::Context& context, kube::ControllerBuilder& builder,
                          kube::MapFn concerned) {
  if (!context.options.gates.Enabled(config::Gate::kPriorityBasedScheduling)) return;
  builder.Watches(api::PriorityClasses(),
                  {.when = {.remove = kube::Never}, .map = std::move(concerned)});
}

// Owns what the detector's loops refer to.
struct Parts {
  explicit Parts(const controllers::Context& context)
      : policies(context.InformerOf(api::PropagationPolicies())),
        cluster_policies(context.InformerOf(api::ClusterPropagationPolicies())),
        memory(context.manager.events()) {}
  PolicyIndex policies;
  PolicyIndex cluster_policies;
  TemplateMemory memory;
};

// Maps an override policy to the blocked templates whose policy waits for it.
kube::MapFn TemplatesWaitingForOverride(const std::shared_ptr<Parts>& parts) {
  return [parts](const kube::Object& override_policy) {
    const bool namespaced = !override_policy.ns().empty();
    const PolicyIndex& policies = namespaced ? parts->policies : parts->cluster_policies;
    std::vector<kube::Request> requests;
    for (const BlockedSet::Blocked& blocked : parts->memory.blocked.All()) {
      // A policy waits for override policies of its own scope only.
      if (blocked.policy.ns != override_policy.ns()) continue;
      const kube::ObjectPtr policy = policies.Find(blocked.policy);
      if (policy == nullptr) continue;
      const std::vector<std::string> names = api::PolicyView(*policy).DependentOverrides();
      const bool waits =
          std::find(names.begin(), names.end(), override_policy.name()) != names.end();
      if (waits) requests.push_back(blocked.request);
    }
    return requests;
  };
}

template <class PolicyScope>
void BuildPolicyLoop(const controllers::Context& context, const std::shared_ptr<Parts>& parts,
                     kube::WorkQueue& templates, int workers) {
  typename PolicyReconciler<PolicyScope>::IsLazilyClaimedFn is_lazily_claimed;
  if (context.options.gates.Enabled(config::Gate::kPropagationPolicyPreemption)) {
    is_lazily_claimed = [parts](const kube::Object& object) {
      return IsLazilyClaimed(object, parts->policies, parts->cluster_policies);
    };
  }
  const kube::IndexFn by_policy = kube::IndexByLabel(PolicyScope::kIdLabel);
  kube::ControllerBuilder builder = context.NewController(PolicyScope::kQueue, workers);
  WatchPriorityClasses(context, builder,
                       PoliciesNaming(context.InformerOf(PolicyScope::Policies())));
  builder.WithLimiter(LimiterOf(context))
      .Watches(PolicyScope::Policies(), {.when = {.update = kube::GenerationChanged}})
      .Reads(api::ResourceBindings(), PolicyScope::kIdLabel, by_policy)
      .Reads(api::ClusterResourceBindings(), PolicyScope::kIdLabel, by_policy)
      .ReadsWatchedKinds()  // For templates.
      .Build(std::make_unique<PolicyReconciler<PolicyScope>>(
          context.manager, parts->memory, templates, std::move(is_lazily_claimed)));
}

// When rules change, queues the templates whose pods may be counted otherwise now. Lazily activated
// policies do not act on it, since no user touched the template. For any other policy the request
// must equal the one that an edit makes: two different requests for one template would be worked on
// at once, and the one that has read the older template could have the last word.
void RequeueTemplates(const controllers::Context& context, const std::shared_ptr<Parts>& parts,
                      kube::WorkQueue& templates) {
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    works::RequeueBindings(
        context.interpreter,
        {templates,
         context.InformerOf(*bindings),
         {interpreter::Operation::kInterpretReplica, interpreter::Operation::kInterpretComponent},
         api::MayStandForResource},
        [parts](const kube::Object& binding) {
          return RecountRequest(binding, parts->policies, parts->cluster_policies);
        });
  }
}

// Returns whether the binding was set back to an earlier state of its template: it was restored, or
// a leader that has lost its lease has written it. With the record of that state it holds back what
// has passed since.
bool WasSetBack(const kube::Object& before, const kube::Object& after) {
  const auto version = [](const kube::Object& binding) {
    return binding.spec()["resource"]["resourceVersion"].AsString();
  };
  return before.uid() == after.uid() && version(before) != version(after) &&
         !TemplateEdits::IsLater(version(after), version(before));
}

// Maps a binding that is gone, or was set back, to its template: somebody may have deleted the
// binding although policy and template are still there. It is made again at once, for a lazy policy
// as well: the template's state has passed already, as if it had been edited.
kube::MapFn TemplateThatLostBinding(const TemplateFilter& filter,
                                    const std::shared_ptr<Parts>& parts) {
  return [filter, parts](const kube::Object& binding) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    const bool allowed = api::MayStandForResource(binding) &&
                         filter.AllowsResource(reference.gvk()) &&
                         filter.AllowsObject(kube::Object::Make(reference.gvk(), reference.key()));
    if (!allowed) return std::vector<kube::Request>();
    const kube::Request request{.key = reference.key(), .gvk = reference.gvk()};
    parts->memory.edits.Add(request, reference.resource_version);
    return std::vector<kube::Request>{request};
  };
}

// A policy vanishes after its templates have been released, unless somebody has removed its
// finalizer by force: then their bindings still name it, and their passes release them.
template <class PolicyScope>
kube::Enqueue LostPolicy(const controllers::Context& context) {
  return {.when = {.add = kube::Never, .update = kube::NeverUpdate},
          .map = [&client = context.manager.cluster()](const kube::Object& policy) {
            return TemplatesBoundBy<PolicyScope>(client, policy);
          }};
}

DetectorGates GatesOf(const config::FeatureGates& gates) {
  return {.components = gates.Enabled(config::Gate::kMultiplePodTemplatesScheduling),
          .quota_estimate = gates.Enabled(config::Gate::kResourceQuotaEstimate),
          .schedule_priority = gates.Enabled(config::Gate::kPriorityBasedScheduling),
          .workload_affinity = gates.Enabled(config::Gate::kWorkloadAffinity),
          .preemption = gates.Enabled(config::Gate::kPropagationPolicyPreemption)};
}

}  // namespace

absl::Status RegisterDetector(const controllers::Context& context, int workers) {
  const config::Options& flags = context.options;
  ASSIGN_OR_RETURN(
      TemplateFilter filter,
      TemplateFilter::Create(flags.skipped_propagating_apis, flags.skipped_propagating_namespaces));
  const auto parts = std::make_shared<Parts>(context);
  const TemplateReconciler::Deps deps{
      context.manager, context.interpreter, parts->policies,      parts->cluster_policies,
      parts->memory,   context.rechecks,    GatesOf(flags.gates), context.edit_times};
  const kube::Enqueue lost_binding = {.when = {.add = kube::Never, .update = WasSetBack},
                                      .map = TemplateThatLostBinding(filter, parts)};
  kube::ControllerBuilder builder = context.NewController(api::kResourceDetector, workers);
  const kube::Enqueue unblocks = {.when = {.update = kube::NeverUpdate, .remove = kube::Never},
                                  .map = TemplatesWaitingForOverride(parts)};
  kube::Controller& templates =
      builder.WithLimiter(LimiterOf(context))
          .Watches(api::OverridePolicies(), unblocks)
          .Watches(api::ClusterOverridePolicies(), unblocks)
          .Watches(api::PropagationPolicies(), LostPolicy<api::policy_scope::Namespaced>(context))
          .Watches(api::ClusterPropagationPolicies(),
                   LostPolicy<api::policy_scope::Cluster>(context))
          .Watches(api::ResourceBindings(), lost_binding)
          .Watches(api::ClusterResourceBindings(), lost_binding)
          .Reads(api::Works())
          .Build(std::make_unique<TemplateReconciler>(deps));
  RequeueTemplates(context, parts, templates.queue());
  RequeueUncounted(context.interpreter, parts->memory.uncounted, templates.queue());
  BuildPolicyLoop<api::policy_scope::Namespaced>(context, parts, templates.queue(),
                                                 flags.concurrency.propagation_policy);
  BuildPolicyLoop<api::policy_scope::Cluster>(context, parts, templates.queue(),
                                              flags.concurrency.cluster_propagation_policy);
  auto source = std::make_shared<TemplateSource>(
      TemplateSource::Deps{context.manager, std::move(filter), parts->policies,
                           parts->cluster_policies, parts->memory, templates.queue(),
                           flags.clusters.status_update_frequency, context.edit_times},
      context.kinds);
  templates.Keep(parts);
  templates.Keep(std::move(source));
  return absl::OkStatus();
}

}  // namespace detector
