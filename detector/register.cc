#include "detector/register.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "detector/needed_kinds.h"
#include "detector/policy_index.h"
#include "detector/policy_reconciler.h"
#include "detector/template_edits.h"
#include "detector/template_reconciler.h"
#include "detector/template_source.h"
#include "detector/waiting_set.h"
#include "kube/runtime/controller.h"
#include "works/rule_requeue.h"

namespace detector {
namespace {

void AddLabelIndex(kube::Informer& informer, const std::string& label) {
  informer.AddIndex(label, [label](const kube::Object& object) {
    const absl::string_view id = object.Label(label);
    return id.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(id)};
  });
}

// Calls `add` with each object that comes or changes.
void OnEach(kube::Informer& informer, const std::function<void(const kube::Object&)>& add) {
  kube::EventHandler handler;
  handler.on_add = [add](const kube::ObjectPtr& object, bool) { add(*object); };
  handler.on_update = [add](const kube::ObjectPtr&, const kube::ObjectPtr& after) { add(*after); };
  informer.AddHandler(std::move(handler));
}

void FeedNeededKinds(kube::InformerSet& informers, NeededKinds& needed) {
  for (const auto* policies : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies()}) {
    OnEach(*informers.Get(*policies), [&needed](const kube::Object& o) { needed.AddPolicy(o); });
  }
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    OnEach(*informers.Get(*bindings), [&needed](const kube::Object& o) { needed.AddBinding(o); });
  }
}

template <class PolicyScope>
void BuildPolicyLoop(const Deps& deps, kube::WorkQueue& templates, int workers,
                     const kube::RateLimiterOptions& limiter) {
  kube::InformerSet& informers = deps.manager.cluster().informers();
  AddLabelIndex(*informers.Get(api::ResourceBindings()), PolicyScope::kIdLabel);
  AddLabelIndex(*informers.Get(api::ClusterResourceBindings()), PolicyScope::kIdLabel);
  kube::Predicates on_policy;
  on_policy.update = kube::GenerationChanged;
  on_policy.remove = kube::Never;
  kube::Controller& controller =
      kube::ControllerBuilder(deps.manager)
          .Named(std::string(PolicyScope::kQueue))
          .Watches(informers.Get(PolicyScope::Policies()), on_policy)
          .WithWorkers(workers)
          .WithLimiter(limiter)
          .Build(std::make_unique<PolicyReconciler<PolicyScope>>(deps, templates));
  controller.WaitFor(informers.Get(api::ResourceBindings()));
  controller.WaitFor(informers.Get(api::ClusterResourceBindings()));
}

// Templates whose pods may be counted otherwise now. Lazily activated policies do not act on it:
// nobody touched the template.
void RequeueTemplates(const interpreter::Interpreter& interpreter, kube::InformerSet& informers,
                      kube::WorkQueue& templates) {
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    works::RequeueBindings(
        interpreter,
        {templates,
         informers.Get(*bindings),
         {interpreter::Operation::kInterpretReplica, interpreter::Operation::kInterpretComponent}},
        [](const kube::Object& binding) {
          const api::ObjectReference reference = api::BindingView(binding).Resource();
          return kube::Request{
              .key = reference.key(), .gvk = reference.gvk(), .changed_by_karmada = true};
        });
  }
}

}  // namespace

struct Detector::Parts {
  explicit Parts(kube::Manager& manager)
      : policies(manager.cluster().informers().Get(api::PropagationPolicies())),
        cluster_policies(manager.cluster().informers().Get(api::ClusterPropagationPolicies())),
        needed(manager.clock()) {}
  PolicyIndex policies;
  PolicyIndex cluster_policies;
  WaitingSet waiting, uncounted;
  TemplateEdits edits;
  NeededKinds needed;
};

Detector::Detector(kube::Manager& manager, const interpreter::Interpreter& interpreter,
                   DetectorOptions options)
    : parts_(std::make_unique<Parts>(manager)) {
  const Deps deps{manager,         interpreter,       parts_->policies, parts_->cluster_policies,
                  parts_->waiting, parts_->uncounted, parts_->edits,    options.gates};
  options.limiter.qps = 0;  // Upstream's private queues have the exponential part only.
  kube::Controller& templates = kube::ControllerBuilder(manager)
                                    .Named("resource detector")
                                    .WithWorkers(options.template_workers)
                                    .WithLimiter(options.limiter)
                                    .Build(std::make_unique<TemplateReconciler>(deps));
  kube::InformerSet& informers = manager.cluster().informers();
  for (const kube::Resource* r : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies(),
                                  &api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    templates.WaitFor(informers.Get(*r));
  }
  RequeueTemplates(interpreter, informers, templates.queue());
  RequeueUncounted(interpreter, parts_->uncounted, templates.queue());
  BuildPolicyLoop<api::policy_scope::Namespaced>(deps, templates.queue(), options.policy_workers,
                                                 options.limiter);
  BuildPolicyLoop<api::policy_scope::Cluster>(deps, templates.queue(),
                                              options.cluster_policy_workers, options.limiter);
  TemplateSource::Deps source{manager,           std::move(options.filter),
                              parts_->policies,  parts_->cluster_policies,
                              parts_->edits,     parts_->needed,
                              templates.queue(), options.cluster_status_round};
  FeedNeededKinds(informers, parts_->needed);
  manager.Add(std::make_unique<TemplateSource>(std::move(source)));
}

Detector::~Detector() = default;

}  // namespace detector
