// A pass over a policy writes nothing to templates that stay: it only queues them, and their own
// passes claim, update and release. It queues the templates of the bindings that carry the policy's
// claim, which includes those that it does not select any more, and the waiting templates that it
// selects, and those that could not follow a policy, if it was this one or this one may select
// them. Templates that a lazy policy has claimed need not have a binding: when it was edited, or is
// deleted, they are found by their label in all kinds that are watched, because the selectors of
// before are not known. At a start that is not needed: every template is queued when its kind is
// listed, and then bound or released. A policy that may preempt others also queues the templates
// that it names and that others have claimed; their passes determine whether it has the priority to
// take them (preemption.h).
//
// A policy that is being deleted is let go in three steps: the claim is taken from the templates of
// the kinds that it selects now; the templates of its bindings are queued, because those of kinds
// that it selected earlier have its claim as well; and its finalizer is removed. A failure of the
// first step keeps the finalizer, and the pass is repeated with back-off. Kinds that cannot be read
// do not hold up the others.
//
// All that is remembered between passes is which policies were seen, at which generation, and
// whether they were lazy then; a policy that is gone is forgotten. A policy that was not seen
// before counts as one that was not edited: after a restart the lists of the templates make up for
// that.

#include "detector/policy_reconciler.h"

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"
#include "api/binding_scope.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/status.h"
#include "detector/claims.h"
#include "detector/request_reason.h"
#include "detector/template_filter.h"
#include "kube/client/errors.h"

namespace detector {
namespace {

// Returns the request for a template on behalf of the policy.
kube::Request RequestFor(kube::Request item, const kube::Object& policy) {
  if (api::PolicyView(policy).IsLazy()) item.reason = kNotByAnEdit;
  return item;
}

// Returns whether the policy may select the template, whatever labels that has.
bool MaySelect(const api::PolicySelectors& selectors, const kube::Object& policy,
               const kube::Request& item) {
  if (!policy.ns().empty() && policy.ns() != item.key.ns) return false;
  api::ObjectReference object;
  object.api_version = item.gvk.ApiVersion();
  object.kind = item.gvk.kind;
  object.ns = item.key.ns;
  object.name = item.key.name;
  return selectors.MaySelect(object);
}

struct Claimed {
  std::string ns;  // "" stands for all namespaces.
  kube::LabelSelector labels;
};

// Reads the cache while the kind is watched, else asks the server, which reads all objects of the
// kind for that. This is rare: what a policy selects is watched as long as the policy exists, so
// only a policy that is deleted before the watch has begun leads to it, once per kind and attempt.
// Each page has the deadline of a request; what fails is tried again with back-off.
absl::StatusOr<std::vector<kube::ObjectPtr>> ClaimedTemplates(kube::ClusterClient& client,
                                                              const kube::Resource& resource,
                                                              const Claimed& claimed,
                                                              const base::StopToken& stop) {
  const std::shared_ptr<kube::Informer> informer = client.informers().Find(resource);
  if (informer != nullptr && informer->HasSynced()) {
    return informer->store().List(claimed.ns, claimed.labels);
  }
  ASSIGN_OR_RETURN(kube::ListPage page,
                   client.raw().ListAll(resource, claimed.ns,
                                        {.label_selector = claimed.labels.ToString()}, stop));
  std::vector<kube::ObjectPtr> templates;
  for (kube::Object& object : page.items) templates.push_back(kube::Share(std::move(object)));
  return templates;
}

}  // namespace

template <class PolicyScope>
std::vector<kube::Request> TemplatesBoundBy(kube::ClusterClient& client,
                                            const kube::Object& policy) {
  std::vector<kube::Request> templates;
  const std::string id(policy.Label(PolicyScope::kIdLabel));
  if (id.empty()) return templates;
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    for (const kube::ObjectPtr& binding : client.ByIndex(*bindings, PolicyScope::kIdLabel, id)) {
      if (!api::MayStandForResource(*binding)) continue;
      const api::ObjectReference reference = api::BindingView(*binding).Resource();
      templates.push_back({.key = reference.key(), .gvk = reference.gvk()});
    }
    if (PolicyScope::kNamespaced) break;  // It has no other bindings.
  }
  return templates;
}

template <class PolicyScope>
absl::StatusOr<kube::Action> PolicyReconciler<PolicyScope>::Reconcile(const kube::Request& request,
                                                                      const base::StopToken& stop) {
  const kube::ObjectPtr policy = manager_.cluster().Find(PolicyScope::Policies(), request.key);
  if (policy == nullptr) {
    absl::MutexLock lock(&mu_);
    seen_.erase(request.key);
    return kube::Action::Done();
  }
  if (policy->IsDeleting()) return Finalize(policy, stop);

  // Queues the claimed templates: the reconcile of one that the policy does not select any more
  // releases it.
  QueueBound(*policy);
  const api::PolicySelectors selectors(*policy);
  QueueBlocked(*policy, selectors);
  if (NoteAndMayHaveUnbound(*policy)) QueueUnbound(*policy);
  const bool preempts = is_lazily_claimed_ && api::PolicyView(*policy).PreemptsAlways();
  if (preempts) QueueClaimed(*policy, selectors);
  RETURN_IF_ERROR(base::Annotate(QueueWaiting(*policy, selectors, stop),
                                 "looking for templates that wait for ",
                                 PolicyScope::Describe(request.key)));
  return kube::Action::Done();
}

template <class PolicyScope>
void PolicyReconciler<PolicyScope>::QueueBound(const kube::Object& policy) {
  for (kube::Request& item : TemplatesBoundBy<PolicyScope>(manager_.cluster(), policy)) {
    templates_.Add(RequestFor(std::move(item), policy), kube::kInitialListPriority);
  }
}

template <class PolicyScope>
bool PolicyReconciler<PolicyScope>::NoteAndMayHaveUnbound(const kube::Object& policy) {
  const Seen now{std::string(policy.uid()), policy.generation(), api::PolicyView(policy).IsLazy()};
  absl::MutexLock lock(&mu_);
  const auto [entry, is_new] = seen_.try_emplace(policy.key(), now);
  if (is_new) return policy.IsDeleting() && now.is_lazy;
  const Seen before = std::exchange(entry->second, now);
  if (!before.is_lazy && !now.is_lazy) return false;
  const bool was_edited = before.uid == now.uid && before.generation != now.generation;
  return was_edited || policy.IsDeleting();
}

// A kind whose objects the cache does not have yet is left out: each of them is queued when it is
// added.
template <class PolicyScope>
void PolicyReconciler<PolicyScope>::QueueUnbound(const kube::Object& policy) {
  const std::string id(policy.Label(PolicyScope::kIdLabel));
  if (id.empty()) return;
  const kube::LabelSelector labels = kube::LabelSelector::Equal(PolicyScope::kIdLabel, id);
  kube::ClusterClient& client = manager_.cluster();
  for (const std::shared_ptr<kube::Informer>& informer : client.informers().All()) {
    const kube::Gvk& gvk = informer->resource().gvk;
    if (IsNeverPropagated(gvk)) continue;
    for (const kube::ObjectPtr& object : informer->store().List(std::string(policy.ns()), labels)) {
      const api::BindingAddress at = api::BindingOf(gvk.kind, object->key());
      const kube::ObjectPtr binding = client.Find(at.resource, at.key);
      // QueueBound has found it.
      if (binding != nullptr && binding->Label(PolicyScope::kIdLabel) == id) continue;
      templates_.Add(RequestFor({.key = object->key(), .gvk = gvk}, policy),
                     kube::kInitialListPriority);
    }
  }
}

template <class PolicyScope>
void PolicyReconciler<PolicyScope>::QueueBlocked(const kube::Object& policy,
                                                 const api::PolicySelectors& selectors) {
  const bool is_lazy = api::PolicyView(policy).IsLazy();
  for (const BlockedSet::Blocked& item : memory_.blocked.All()) {
    const bool is_own = item.policy == policy.key();
    if (!is_own && !MaySelect(selectors, policy, item.request)) continue;
    kube::Request request = item.request;
    // A policy that is not lazy acts as after an edit, also if a lazy one was blocked. That is the
    // request of QueueWaiting, too: a template that waits and is blocked is worked on once.
    if (!is_lazy) request.reason = {};
    templates_.Add(request, kube::kInitialListPriority);
  }
}

// Each kind, namespace and name is looked up once, however many selectors have it.
template <class PolicyScope>
absl::Status PolicyReconciler<PolicyScope>::QueueWaiting(const kube::Object& policy,
                                                         const api::PolicySelectors& selectors,
                                                         const base::StopToken& stop) {
  std::set<std::tuple<kube::Gvk, absl::string_view, absl::string_view>> seen;
  base::ErrorList errors;
  for (const api::ResourceSelector& selector : selectors.list()) {
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    const absl::string_view ns = PolicyScope::kNamespaced ? policy.ns() : selector.ns();
    if (!gvk.ok() || !seen.emplace(*gvk, ns, selector.name()).second) continue;
    const std::vector<kube::Request> waiting = memory_.waiting.Matching(*gvk, ns, selector.name());
    if (waiting.empty()) continue;
    const absl::StatusOr<kube::Resource> resource = manager_.cluster().mapper().ForKind(*gvk, stop);
    if (kube::IsNoSuchKind(resource.status())) continue;  // The kind is not served any more.
    errors.Add(resource.status());
    if (!resource.ok()) continue;
    for (const kube::Request& item : waiting) {
      const kube::ObjectPtr object = manager_.cluster().Find(*resource, item.key);
      if (object == nullptr || selectors.Match(*object) == api::SelectorMatch::kNone) continue;
      // The template's own reconcile removes it from the waiting set once a policy has been
      // applied.
      templates_.Add(RequestFor(item, policy), kube::kInitialListPriority);
    }
  }
  return errors.Join();
}

// A template that the cache does not have yet is queued when it is added.
template <class PolicyScope>
void PolicyReconciler<PolicyScope>::QueueClaimed(const kube::Object& policy,
                                                 const api::PolicySelectors& selectors) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  kube::ClusterClient& client = manager_.cluster();
  for (const api::ResourceSelector& selector : selectors.list()) {
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (!gvk.ok() || selector.name().empty()) continue;
    const std::optional<kube::Resource> resource = client.mapper().Known(*gvk);
    if (!resource.has_value()) continue;
    const kube::ObjectKey key{std::string(PolicyScope::kNamespaced ? policy.ns() : selector.ns()),
                              std::string(selector.name())};
    const kube::ObjectPtr object = client.Find(*resource, key);
    if (object == nullptr || PolicyScope::ClaimOn(*object) == policy.key()) continue;
    if (Namespaced::ClaimOn(*object).name.empty() && Cluster::ClaimOn(*object).name.empty()) {
      continue;
    }
    // The request is the one that an edit makes: two different ones would be worked on at once.
    kube::Request request{.key = key, .gvk = *gvk};
    if (is_lazily_claimed_(*object)) request.reason = kNotByAnEdit;
    templates_.Add(request, kube::kInitialListPriority);
  }
}

template <class PolicyScope>
absl::StatusOr<kube::Action> PolicyReconciler<PolicyScope>::Finalize(const kube::ObjectPtr& policy,
                                                                     const base::StopToken& stop) {
  const bool may_have_unbound = NoteAndMayHaveUnbound(*policy);
  if (!policy->HasFinalizer(PolicyScope::kFinalizer)) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(ReleaseTemplates(*policy, stop), "releasing the templates of ",
                                 PolicyScope::Describe(policy->key())));
  // Templates of kinds that the policy selected earlier still carry its claim. Their own reconciles
  // release them. Those that the policy has blocked before it could claim them may follow another.
  QueueBound(*policy);
  if (may_have_unbound) QueueUnbound(*policy);
  QueueBlocked(*policy, api::PolicySelectors(*policy));
  RETURN_IF_ERROR(manager_.cluster().RemoveFinalizer(PolicyScope::Policies(), policy,
                                                     PolicyScope::kFinalizer, stop));
  return kube::Action::Done();
}

template <class PolicyScope>
absl::Status PolicyReconciler<PolicyScope>::ReleaseTemplates(const kube::Object& policy,
                                                             const base::StopToken& stop) {
  const std::string id(policy.Label(PolicyScope::kIdLabel));
  if (id.empty()) return absl::OkStatus();
  const kube::LabelSelector labels = kube::LabelSelector::Equal(PolicyScope::kIdLabel, id);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  base::ErrorList errors;
  for (const api::ResourceSelector& s : api::PolicyView(policy).ResourceSelectors()) {
    const std::string ns(PolicyScope::kNamespaced ? policy.ns() : s.ns());
    if (!seen.insert({std::string(s.api_version()), std::string(s.kind()), ns}).second) continue;
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(s.api_version(), s.kind());
    // Bindings, and the policy itself, have the label for other reasons.
    if (!gvk.ok() || IsNeverPropagated(*gvk)) continue;
    const absl::StatusOr<kube::Resource> resource = manager_.cluster().mapper().ForKind(*gvk, stop);
    // A kind that is not served has no templates.
    if (kube::IsNoSuchKind(resource.status())) continue;
    errors.Add(resource.status());
    if (!resource.ok()) continue;
    const auto claimed = ClaimedTemplates(manager_.cluster(), *resource, {ns, labels}, stop);
    errors.Add(base::Annotate(claimed.status(), "listing ", resource->plural));
    // The policy is tried again; other kinds do not wait for this one.
    if (!claimed.ok()) continue;
    for (const kube::ObjectPtr& object : *claimed) {
      errors.Add(Release<PolicyScope>(manager_, *resource, {object, kPolicyDeleted}, stop));
    }
  }
  return errors.Join();
}

template std::vector<kube::Request> TemplatesBoundBy<api::policy_scope::Namespaced>(
    kube::ClusterClient&, const kube::Object&);
template std::vector<kube::Request> TemplatesBoundBy<api::policy_scope::Cluster>(
    kube::ClusterClient&, const kube::Object&);
template class PolicyReconciler<api::policy_scope::Namespaced>;
template class PolicyReconciler<api::policy_scope::Cluster>;

}  // namespace detector
