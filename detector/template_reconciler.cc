// A pass over a template takes these steps. It reads the template; one that is gone is forgotten,
// and its binding is left to the garbage collector. It determines the policy: the one whose claim
// the template has, else the best one that matches. If another policy may preempt the one with the
// claim, the claim is moved and the pass ends. A claim of a policy that is gone, or does not match
// any more, is taken away. Either change queues the template again. A template that no policy
// matches waits in a set until a policy or the template changes. Then the pass checks the overrides
// that the policy waits for, writes the claim, asks the interpreter for the pods, and creates or
// updates the binding, with a record of the template's state: only a state that has come as far as
// this is put into clusters. A lazy policy ends the pass after the claim unless a user has edited
// or created the template. A template that is being deleted stays in its clusters until it is gone;
// when finalizers have held that up for some minutes, counted from its deletionTimestamp, an event
// names them.
//
// A step that fails ends the pass, and the next one starts from the first step; what has been
// written is then there already. Gaps are closed by a second look: policies are searched once more
// after the template has entered the waiting set, and a policy that changed during the pass, or one
// that was added and preempts it, makes the pass fail with kAborted. All memory is in
// TemplateMemory, any part of which may be lost.

#include "detector/template_reconciler.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/blocked_deletion.h"
#include "api/keys.h"
#include "api/passed_template.h"
#include "api/policy.h"
#include "api/policy_claim.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "base/status.h"
#include "detector/binding_builder.h"
#include "detector/claims.h"
#include "detector/lazy_activation.h"
#include "detector/request_reason.h"
#include "kube/client/errors.h"
#include "kube/meta/specification.h"
#include "kube/runtime/events.h"
#include "works/passage.h"

namespace detector {
namespace {

metrics::Labels ResultLabel(bool ok) { return {{"result", ok ? "success" : "error"}}; }

// Returns the binding with a record of the state of its template, which passes with it.
kube::Object WithRecord(kube::Object binding, const kube::Object& object) {
  binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(object));
  return binding;
}

// Returns how the binding is written. An empty suspension is removed as a whole, and scheduling may
// have been suspended in it since the binding was read. A request that no edit has led to may be
// worked on at the same time as one of an edit, and must not undo what that one writes.
kube::UpdateOptions OptionsFor(const kube::Request& request, const kube::Object& before,
                               const kube::Object& after) {
  const bool is_guarded =
      request.reason == kNotByAnEdit || before.spec()["suspension"] != after.spec()["suspension"];
  kube::UpdateOptions options;
  if (is_guarded) options.precondition = kube::UpdateOptions::Precondition::kAlways;
  return options;
}

}  // namespace

absl::StatusOr<kube::Action> TemplateReconciler::Reconcile(const kube::Request& request,
                                                           const base::StopToken& stop) {
  const absl::StatusOr<kube::Resource> resource =
      deps_.manager.cluster().mapper().ForKind(request.gvk, stop);
  const absl::StatusOr<kube::ObjectPtr> object =
      resource.ok() ? deps_.manager.cluster().Get(*resource, request.key, stop) : resource.status();
  // A kind that is not served has no templates; when it is served again, each of them is queued.
  if (kube::IsNoSuchKind(object.status()) || kube::IsGone(object.status())) {
    deps_.memory.Forget(request);
    if (deps_.edit_times != nullptr) deps_.edit_times->Forget(request.gvk, request.key);
    return kube::Action::Done();  // The binding is left to the garbage collector.
  }
  RETURN_IF_ERROR(object.status());
  const Template t{request, *resource, *object};
  // A template that is being deleted follows the policy that has claimed it, and gets no other.
  const bool claimed = api::IsClaimed(*t.object);
  if (!t.object->Label(api::kClaimedByLabel).empty() || (t.object->IsDeleting() && !claimed)) {
    deps_.memory.waiting.Remove(request);
    deps_.memory.uncounted.Remove(request);
    deps_.memory.blocked.Forget(request);
    return kube::Action::Done();
  }
  ASSIGN_OR_RETURN(const Match match, claimed ? MatchOfClaimed(t, stop) : MatchOfUnclaimed(t));
  if (match.policy != nullptr) {
    const bool namespaced = !match.policy->ns().empty();
    const absl::Status applied = namespaced
                                     ? Apply<api::policy_scope::Namespaced>(t, *match.policy, stop)
                                     : Apply<api::policy_scope::Cluster>(t, *match.policy, stop);
    // A preemption that is refused is tried again; until then the template follows its policy.
    RETURN_IF_ERROR(match.preemption);
    RETURN_IF_ERROR(applied);
    RETURN_IF_ERROR(CheckStillMatches(t, match.policy));
  }
  // Whatever the pass has led to, nothing that a policy asks for is missing.
  deps_.memory.blocked.Remove(request);
  return t.object->IsDeleting() ? ReportBlockedDeletion(t) : kube::Action::Done();
}

kube::Action TemplateReconciler::ReportBlockedDeletion(const Template& t) {
  const std::optional<api::BlockedDeletion> blocked =
      api::BlockedDeletionOf(*t.object, deps_.manager.clock().Now());
  if (!blocked.has_value()) return kube::Action::Done();
  if (blocked->due > absl::ZeroDuration()) return kube::Action::After(blocked->due);
  if (!deps_.memory.deletions.Note(t.request, *blocked)) return kube::Action::Done();
  const api::BindingAddress at = api::BindingOf(t.object->kind(), t.object->key());
  const kube::ObjectPtr binding = deps_.manager.cluster().Find(at.resource, at.key);
  const size_t clusters =
      binding == nullptr ? 0 : api::BindingView(*binding).ExpectedClusters().size();
  deps_.memory.outcomes.Warning(kube::InvolvedObject::Of(*t.object), api::reason::kDeletionBlocked,
                                api::message::TemplateStays(*t.object, *blocked, clusters));
  return kube::Action::Done();
}

absl::StatusOr<TemplateReconciler::Match> TemplateReconciler::MatchOfClaimed(
    const Template& t, const base::StopToken& stop) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  const absl::StatusOr<bool> preempted = preemption_.Try(t.resource, t.object, stop);
  if (preempted.ok() && *preempted) return Match{};
  if (kube::IsNoOutcome(preempted.status())) return preempted.status();
  const kube::ObjectKey policy = Namespaced::ClaimOn(*t.object);
  absl::StatusOr<kube::ObjectPtr> holder =
      policy.name.empty()
          ? HolderOrRelease<Cluster>(t, deps_.cluster_policies, Cluster::ClaimOn(*t.object), stop)
          : HolderOrRelease<Namespaced>(t, deps_.policies, policy, stop);
  if (!preempted.ok() && (!holder.ok() || *holder == nullptr)) return preempted.status();
  RETURN_IF_ERROR(holder.status());
  return Match{*std::move(holder), preempted.status()};
}

template <class PolicyScope>
absl::StatusOr<kube::ObjectPtr> TemplateReconciler::HolderOrRelease(const Template& t,
                                                                    const PolicyIndex& policies,
                                                                    const kube::ObjectKey& key,
                                                                    const base::StopToken& stop) {
  // Removing the claim is a change that queues the template again; then other policies are tried.
  const auto release = [&](const char* why) -> absl::StatusOr<kube::ObjectPtr> {
    RETURN_IF_ERROR(Release<PolicyScope>(deps_.manager, t.resource, {t.object, why}, stop));
    return kube::ObjectPtr();
  };
  // A claim that was copied from another namespace is released without a look at the policy, so
  // that the answer does not depend on whether that policy exists.
  if (PolicyScope::kNamespaced && key.ns != t.object->ns()) return release(kPolicyDoesNotMatch);
  kube::ObjectPtr policy = policies.Find(key);
  if (policy == nullptr || policy->IsDeleting()) return release(kPolicyDeleted);
  if (policies.Matches(*policy, *t.object)) return policy;
  if (BelongsToAnotherView(t, *policy)) return kube::ObjectPtr();
  return release(kPolicyDoesNotMatch);
}

// The same object can be visible in two API groups; only the one that the policy names is
// propagated, and only the reconciles of that one may release it.
bool TemplateReconciler::BelongsToAnotherView(const Template& t, const kube::Object& policy) const {
  const api::BindingAddress at = api::BindingOf(t.object->kind(), t.object->key());
  const kube::ObjectPtr binding = deps_.manager.cluster().Find(at.resource, at.key);
  if (binding != nullptr) return api::BindingView(*binding).Resource().gvk() != t.object->gvk();
  const std::vector<api::ResourceSelector> selectors = api::PolicyView(policy).ResourceSelectors();
  return std::any_of(selectors.begin(), selectors.end(), [&](const api::ResourceSelector& s) {
    return s.RankInAnyVersion(*t.object) != api::SelectorMatch::kNone;
  });
}

TemplateReconciler::Match TemplateReconciler::MatchOfUnclaimed(const Template& t) {
  kube::ObjectPtr policy = BestPolicyFor(*t.object);
  // A policy created at the same moment may have looked through the waiting set before this
  // template was in it. Policies are indexed before their reconcile is queued, so looking once more
  // here closes the gap.
  if (policy == nullptr && deps_.memory.waiting.Add(t.request)) policy = BestPolicyFor(*t.object);
  if (policy == nullptr) {
    DoNotTime(t);
    RecheckAttached(*t.object);
  }
  return {std::move(policy), absl::OkStatus()};
}

void TemplateReconciler::DoNotTime(const Template& t) {
  if (deps_.edit_times != nullptr) {
    deps_.edit_times->NotPropagated(t.request.gvk, t.request.key);
  }
}

kube::ObjectPtr TemplateReconciler::BestPolicyFor(const kube::Object& object) {
  const base::SteadyTime start = deps_.manager.clock().SteadyNow();
  kube::ObjectPtr policy;
  if (!object.ns().empty()) policy = deps_.policies.BestFor(object.ns(), object);
  if (policy == nullptr) policy = deps_.cluster_policies.BestFor("", object);
  deps_.manager.registry()
      .GetHistogram("resource_match_policy_duration_seconds",
                    "Duration of finding a matched propagation policy for a resource template.",
                    metrics::ExponentialBuckets(0.001, 2, 12))
      .Observe(absl::ToDoubleSeconds(deps_.manager.clock().SteadyNow() - start));
  return policy;
}

// A binding without a policy was made by a dependencies distributor, or its policy is
// gone. If other bindings require it, it follows its template all the same.
void TemplateReconciler::RecheckAttached(const kube::Object& object) {
  if (object.ns().empty()) return;
  const api::BindingAddress at = api::BindingOf(object.kind(), object.key());
  const kube::ObjectPtr binding = deps_.manager.cluster().Find(at.resource, at.key);
  if (binding == nullptr) return;
  const api::BindingView view(*binding);
  if (view.RequiredBy().empty() || view.Resource().uid != object.uid() ||
      view.Resource().resource_version == object.resource_version()) {
    return;
  }
  deps_.rechecks.Publish(*binding);
}

absl::Status TemplateReconciler::CheckStillMatches(const Template& t,
                                                   const kube::ObjectPtr& policy) {
  const PolicyIndex& policies = policy->ns().empty() ? deps_.cluster_policies : deps_.policies;
  // A policy that changed meanwhile has queued the templates of its bindings in its own reconcile,
  // perhaps before this binding existed. The policy is indexed before its reconcile is queued, so
  // comparing it here closes the gap.
  if (policies.Find(policy->key()) != policy) return absl::AbortedError("the policy has changed");
  // So may one that preempts this policy: its reconcile may have seen the template without a claim.
  if (preemption_.PreemptorOf(*t.object, *policy) != nullptr) {
    return absl::AbortedError("another policy preempts the one that was applied");
  }
  return absl::OkStatus();
}

template <class PolicyScope>
absl::Status TemplateReconciler::Apply(const Template& t, const kube::Object& policy,
                                       const base::StopToken& stop) {
  const kube::SyncTimer timer(deps_.manager, "resource_apply_policy_duration_seconds",
                              "Duration of applying a propagation policy to a resource template.");
  // It is added first, so that what is created meanwhile finds it.
  deps_.memory.blocked.Add(t.request, policy.key());
  const absl::StatusOr<kube::ObjectPtr> claimed = Claim<PolicyScope>(t, policy, stop);
  absl::StatusOr<bool> changed = false;
  if (!claimed.ok()) {
    changed = claimed.status();
  } else if (*claimed != nullptr) {
    changed = Bind<PolicyScope>({t.request, t.resource, *claimed}, policy, stop);
  }
  const bool is_blocked =
      absl::IsFailedPrecondition(changed.status()) || absl::IsInvalidArgument(changed.status());
  if (is_blocked) {
    DoNotTime(t);
  } else {
    deps_.memory.blocked.Remove(t.request);
  }
  return Report(t, PolicyScope::Describe(policy.key()), changed, timer);
}

template <class PolicyScope>
absl::StatusOr<kube::ObjectPtr> TemplateReconciler::Claim(const Template& t,
                                                          const kube::Object& policy,
                                                          const base::StopToken& stop) {
  RETURN_IF_ERROR(CheckDependentOverrides(policy, stop));
  deps_.memory.waiting.Remove(t.request);
  const ClaimRequest claim{t.object, &policy};
  kube::Object expected = Claimed<PolicyScope>(claim);
  if (kube::SpecificationChanged(*t.object, expected)) {
    deps_.memory.claims.Expect(t.request, std::move(expected));
  }
  ASSIGN_OR_RETURN(kube::ObjectPtr object,
                   detector::Claim<PolicyScope>(deps_.manager.cluster(), t.resource, claim, stop));
  if (api::PolicyView(policy).IsLazy()) {
    ASSIGN_OR_RETURN(const bool acts, lazy_.Acts({t.request, t.resource, *t.object, policy}, stop));
    if (!acts) {
      DoNotTime(t);
      return kube::ObjectPtr();
    }
  }
  return object;
}

template <class PolicyScope>
absl::StatusOr<bool> TemplateReconciler::Bind(const Template& claimed, const kube::Object& policy,
                                              const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const PodDemand demand, DemandOf(claimed));
  ASSIGN_OR_RETURN(const SchedulingHints hints, HintsFor(claimed, policy, stop));
  const kube::Object built = BuildBinding<PolicyScope>(*claimed.object, policy, demand, hints);
  ASSIGN_OR_RETURN(const bool changed, WriteBinding<PolicyScope>(claimed, built, stop));
  // Not before: a rule that changes finds the template by its binding, which is in the cache now.
  deps_.memory.uncounted.Remove(claimed.request);
  if (changed) pods_.ReportAnswered(*claimed.object);
  return changed;
}

absl::Status TemplateReconciler::Report(const Template& t, const std::string& policy,
                                        const absl::StatusOr<bool>& changed,
                                        const kube::SyncTimer& timer) {
  const absl::Status result = deps_.memory.outcomes.Judge(t.request, kApplying, changed.status());
  if (kube::IsNoOutcome(result)) return result;
  timer.Observe(result);
  deps_.manager.registry()
      .GetCounter("policy_apply_attempts_total",
                  "Number of attempts to apply a propagation policy to a resource template.",
                  ResultLabel(result.ok()))
      .Increment();
  deps_.memory.outcomes.Outcome(
      {.of = t.request,
       .part = kApplying,
       .about = {kube::InvolvedObject::Of(*t.object)},
       .success = {api::reason::kApplyPolicySucceed, api::message::PolicyApplied(policy)},
       .failure = {api::reason::kApplyPolicyFailed, api::message::PolicyNotApplied(policy, result)},
       .changed = changed.ok() && *changed},
      result);
  return base::Annotate(result, "applying ", policy, " to ", t.object->Describe());
}

absl::StatusOr<SchedulingHints> TemplateReconciler::HintsFor(const Template& t,
                                                             const kube::Object& policy,
                                                             const base::StopToken& stop) {
  SchedulingHints hints;
  if (t.object->ns().empty()) return hints;
  if (deps_.gates.workload_affinity) hints.affinity_groups = AffinityGroupsOf(policy, *t.object);
  if (!deps_.gates.schedule_priority) return hints;
  ASSIGN_OR_RETURN(hints.priority, SchedulePriorityOf(policy, deps_.manager.cluster(), stop));
  return hints;
}

absl::StatusOr<PodDemand> TemplateReconciler::DemandOf(const Template& t) {
  // It is added first, so that a rule that changes meanwhile finds it.
  deps_.memory.uncounted.Add(t.request);
  return pods_.Ask(*t.object);
}

bool TemplateReconciler::MayRecord(const Template& t, const kube::Object& existing) {
  const std::string recorded = api::BindingView(existing).Resource().resource_version;
  return deps_.memory.edits.HasSince(t.request, recorded) ||
         !HasPassedOrLater(*t.object, existing, deps_.manager.cluster(), deps_.interpreter);
}

template <class PolicyScope>
absl::StatusOr<bool> TemplateReconciler::WriteBinding(const Template& t, const kube::Object& built,
                                                      const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  const api::BindingAddress at = api::BindingOf(t.object->kind(), t.object->key());
  const kube::ObjectPtr existing = client.Find(at.resource, at.key);
  if (existing == nullptr) {
    if (t.object->IsDeleting()) return false;  // The garbage collector has deleted the binding.
    RETURN_IF_ERROR(CheckBindingName(built));
    RETURN_IF_ERROR(client.Create(at.resource, WithRecord(built, *t.object), stop).status());
    return true;
  }
  ASSIGN_OR_RETURN(kube::Object merged, MergeBinding<PolicyScope>(*existing, built));
  const std::string recorded = api::BindingView(*existing).Resource().resource_version;
  if (recorded != t.object->resource_version() && DifferOnlyInTemplateVersion(merged, *existing) &&
      !MayRecord(t, *existing)) {
    deps_.rechecks.Publish(*existing);
    return false;
  }
  // A record is written with other changes, never alone.
  if (!(merged == *existing)) merged = WithRecord(std::move(merged), *t.object);
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr written,
      client.Update(at.resource, existing, merged, OptionsFor(t.request, *existing, merged), stop));
  // The binding had this version before the edit was seen: the server went back to it (it was
  // restored from a backup), and a loop that knew the later state may have written Works from that.
  const bool went_back =
      recorded == t.object->resource_version() && deps_.memory.edits.Take(t.request, recorded);
  if (went_back && written == existing) deps_.rechecks.Publish(*existing, kube::kNormalPriority);
  return written != existing;
}

absl::Status TemplateReconciler::CheckDependentOverrides(const kube::Object& policy,
                                                         const base::StopToken& stop) const {
  const bool namespaced = !policy.ns().empty();
  const kube::Resource& overrides =
      namespaced ? api::OverridePolicies() : api::ClusterOverridePolicies();
  kube::ClusterClient& client = deps_.manager.cluster();
  for (const std::string& name : api::PolicyView(policy).DependentOverrides()) {
    const kube::ObjectKey key{std::string(policy.ns()), name};
    // This reads the cache while the kind is watched, else it asks the server.
    const absl::Status found = client.Get(overrides, key, stop).status();
    if (kube::IsGone(found) || kube::IsNoSuchKind(found)) {
      return absl::FailedPreconditionError(
          absl::StrCat("waiting for dependent overrides: ", key.ToString()));
    }
    RETURN_IF_ERROR(base::Annotate(found, "looking for dependent override ", key.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace detector
