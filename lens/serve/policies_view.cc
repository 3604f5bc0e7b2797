// Policies with what they have claimed, by the claims of the bindings, and with selectors that
// select nothing, not even what another policy governs: of those for which the claims say so some
// are asked about, since what was not claimed yet, or cannot be, is in no binding. Where not all
// bindings could be read that an answer depends on, it is null. Of policies that govern nothing
// some are asked about as `why` does, which names what they nearly select, and templates that are
// claimed and have no binding; the others have a link to that answer.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/binding.h"
#include "api/policy.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "lens/serve/dead_selectors.h"
#include "lens/serve/lists.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "lens/why/matching.h"
#include "lens/why/own_kinds.h"

namespace lens::serve {
namespace {

constexpr size_t kExplained = 8;
constexpr absl::Duration kExplainFor = absl::Seconds(3);

// What a policy has claimed.
struct Claimed {
  int64_t templates = 0;
  std::set<std::string> objects;  // "apps/v1 Deployment shop/web"
  std::set<std::string> kinds;    // "apps/v1 Deployment"
};

// What all policies have claimed.
struct Claims {
  struct Object {
    std::string ns;
    std::string policy;  // The one that has claimed it.
  };
  std::map<std::string, Claimed> by_policy;  // By "PropagationPolicy shop/web".
  std::map<std::pair<std::string, std::string>, std::vector<Object>> by_name;  // By kind and name.
  std::set<std::pair<std::string, std::string>> kinds;      // Each with each namespace.
  bool knows_namespaced = true, knows_cluster_wide = true;  // All bindings were read.

  // A PropagationPolicy claims nothing that has no namespace.
  bool Knows(const kube::Object& policy) const {
    return knows_namespaced && (knows_cluster_wide || !policy.ns().empty());
  }
};

std::string KindText(absl::string_view api_version, absl::string_view kind) {
  return absl::StrCat(api_version, " ", kind);
}

Claims ReadClaims(const why::Chain& chain, ListsOfView& lists) {
  Claims claims;
  const auto add = [&](const kube::Object& binding) {
    std::string claim;
    why::ClaimingPolicy(chain, binding, &claim);
    if (claim.empty()) return true;
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    const std::string kind = KindText(reference.gvk().ApiVersion(), reference.gvk().kind);
    const kube::ObjectKey key = reference.key();
    Claimed& claimed = claims.by_policy[claim];
    ++claimed.templates;
    claimed.kinds.insert(kind);
    claimed.objects.insert(absl::StrCat(kind, " ", key.ToString()));
    claims.by_name[{kind, key.name}].push_back({key.ns, claim});
    claims.kinds.insert({kind, key.ns});
    return true;
  };
  const auto read = [&](const kube::Resource& kind) {
    return lists.Each(kind, {"metadata.labels", "metadata.annotations", "spec.resource"}, "", add);
  };
  claims.knows_namespaced = read(api::ResourceBindings());
  claims.knows_cluster_wide = read(api::ClusterResourceBindings());
  return claims;
}

std::string SelectorText(const api::ResourceSelector& selector, const kube::Object& policy) {
  const absl::string_view ns = selector.ns().empty() ? policy.ns() : selector.ns();
  std::string text = KindText(selector.api_version(), selector.kind());
  if (!selector.name().empty()) {
    absl::StrAppend(&text, " ", ns.empty() ? "" : absl::StrCat(ns, "/"), selector.name());
  } else if (!ns.empty()) {
    absl::StrAppend(&text, " of the namespace ", ns);
  }
  return text;
}

// Whether nothing of what the policy has claimed can be what the selector selects. A selector by
// labels or of all objects of a kind is judged by the kind.
bool IsDead(const api::ResourceSelector& selector, const std::string& text,
            const Claimed& claimed) {
  const std::string kind = KindText(selector.api_version(), selector.kind());
  if (claimed.kinds.count(kind) == 0) return true;
  if (selector.name().empty() || claimed.objects.count(text) > 0) return false;
  // In any namespace, or without one.
  return std::none_of(claimed.objects.begin(), claimed.objects.end(), [&](const auto& object) {
    const size_t slash = object.rfind('/');
    const size_t blank = object.rfind(' ');
    const size_t begin = slash != std::string::npos && slash > blank ? slash : blank;
    return object.substr(begin + 1) == selector.name();
  });
}

// What a selector selects, as far as the claims show it.
struct Selected {
  enum class Verdict { kSomething, kNothing, kNotKnown } verdict;
  std::string governed_by = "";  // Another policy, which has claimed what this one selects.
};

Selected SelectedBy(const json::Value& json, const kube::Object& policy, const Claimed& claimed,
                    const Claims& claims) {
  using Verdict = Selected::Verdict;
  const api::ResourceSelector selector = api::ResourceSelector::FromJson(json);
  if (!claims.Knows(policy)) return {Verdict::kNotKnown};
  if (!IsDead(selector, SelectorText(selector, policy), claimed)) return {Verdict::kSomething};
  const std::string kind = KindText(selector.api_version(), selector.kind());
  const std::string ns(selector.ns().empty() ? policy.ns() : selector.ns());
  if (!selector.name().empty()) {
    const auto found = claims.by_name.find({kind, std::string(selector.name())});
    if (found == claims.by_name.end()) return {Verdict::kNothing};
    for (const Claims::Object& object : found->second) {
      if (ns.empty() || object.ns == ns) return {Verdict::kSomething, object.policy};
    }
    return {Verdict::kNothing};
  }
  const auto of_kind = claims.kinds.lower_bound({kind, ns});
  const bool others_have_some = of_kind != claims.kinds.end() && of_kind->first == kind &&
                                (ns.empty() || of_kind->second == ns);
  if (!others_have_some) return {Verdict::kNothing};
  // Whether one of them has the labels is not in the bindings.
  return {json["labelSelector"].is_null() ? Verdict::kSomething : Verdict::kNotKnown};
}

json::Value SelectsNothing(Selected::Verdict verdict, const json::Value& selector,
                           const kube::Object& policy, DeadSelectors& dead) {
  if (verdict == Selected::Verdict::kNotKnown) return json::Value();
  return verdict == Selected::Verdict::kNothing ? dead.IsDead(selector, policy)
                                                : json::Value(false);
}

// Which policies have the very same selector by name, so that priority decides between them.
using Rivals = std::map<std::string, std::vector<std::string>>;

Rivals RivalsAmong(const why::Objects& policies) {
  Rivals rivals;
  for (const kube::ObjectPtr& policy : policies) {
    for (const api::ResourceSelector& selector : api::PolicyView(*policy).ResourceSelectors()) {
      if (selector.name().empty()) continue;
      rivals[SelectorText(selector, *policy)].push_back(policy->Describe());
    }
  }
  return rivals;
}

json::Value PolicyJson(const kube::Object& policy, const Claims& claims, const Rivals& rivals,
                       json::Value not_fine, DeadSelectors& dead) {
  const api::PolicyView view(policy);
  const auto own = claims.by_policy.find(policy.Describe());
  static const Claimed& nothing = *new Claimed();
  const Claimed& claimed = own == claims.by_policy.end() ? nothing : own->second;
  json::Value selectors = json::Value::Array();
  for (const json::Value& selector : policy.spec()["resourceSelectors"].items()) {
    const std::string text = SelectorText(api::ResourceSelector::FromJson(selector), policy);
    json::Value others = json::Value::Array();
    if (const auto found = rivals.find(text); found != rivals.end()) {
      for (const std::string& other : found->second) {
        if (other != policy.Describe()) others.Append(other);
      }
    }
    const Selected selected = SelectedBy(selector, policy, claimed, claims);
    selectors.Append(json::Value::Object(
        {{"text", Shortened(text)},
         {"selectsNothing", SelectsNothing(selected.verdict, selector, policy, dead)},
         {"governedBy", selected.governed_by},
         {"alsoIn", std::move(others)}}));
  }
  json::Value json = SubjectOf(policy.gvk(), policy.key());
  json.Set("priority", view.Priority());
  json.Set("preempts", view.PreemptsAlways());
  json.Set("isLazy", view.IsLazy());
  json.Set("propagateDeps", view.PropagateDeps());
  json.Set("claims", claims.Knows(policy) ? json::Value(claimed.templates) : json::Value());
  json.Set("notFine", std::move(not_fine));
  json.Set("selectors", std::move(selectors));
  json.Set("created", policy.metadata()["creationTimestamp"]);
  json.Set("deleting", policy.metadata()["deletionTimestamp"]);
  return json;
}

// Says why the policy governs nothing; leaves it out when that could not be read.
void Explain(const Asked& asked, const kube::Discovery& served, json::Value& policy) {
  why::Question question = asked.flags;
  const auto gvk = kube::ParseGvk(policy["apiVersion"].AsString(), policy["kind"].AsString());
  if (!gvk.ok()) return;
  question.gvk = *gvk;
  question.key = {policy["namespace"].ToString(), policy["name"].ToString()};
  const auto chain = why::ReadChain({asked.viewer.client(), served, asked.viewer.config()},
                                    std::move(question), asked.stop);
  if (!chain.ok()) return;
  const why::Diagnosis diagnosis = why::Diagnose(*chain);
  policy.Set("headline", why::AsSentence(Shortened(diagnosis.headline)));
  policy.Set("advice", why::AsSentence(Shortened(diagnosis.advice)));
  // The claims are those of bindings.
  policy.Set("claims", static_cast<int64_t>(why::ClaimedOnly(*chain).size()));
}

void ExplainSome(const Asked& asked, const kube::Discovery& served, json::Value& policies) {
  const base::SteadyTime end = base::RealClock().SteadyNow() + kExplainFor;
  size_t explained = 0;
  for (size_t i = 0; i < policies.size(); ++i) {
    const json::Value& claims = policies.At(i)["claims"];
    if (claims.is_null() || claims.AsInt() > 0 || explained == kExplained) continue;
    if (base::RealClock().SteadyNow() > end) return;
    Explain(asked, served, policies.MutableAt(i));
    ++explained;
  }
}

}  // namespace

absl::StatusOr<json::Value> PoliciesView(const Asked& asked) {
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  ListsOfView lists(asked.viewer.client(), asked.stop);
  const std::string ns = asked.parameters.Get("namespace");
  why::Objects policies = lists.All(api::PropagationPolicies(), {"metadata", "spec"}, ns);
  json::Value unknown = policies.empty() ? lists.UnknownNamespace(ns) : json::Value::Array();
  for (const kube::ObjectPtr& policy :
       lists.All(api::ClusterPropagationPolicies(), {"metadata", "spec"})) {
    policies.push_back(policy);
  }
  RETURN_IF_ERROR(lists.Check());
  ASSIGN_OR_RETURN(why::Chain chain, why::EmptyChain(asked.flags, absl::Now()));
  chain.policies = policies;
  const Claims claims = ReadClaims(chain, lists);
  const Rivals rivals = RivalsAmong(policies);
  const NotFine not_fine = asked.viewer.fleet().CountsAt(base::RealClock().SteadyNow());
  json::Value items = json::Value::Array();
  DeadSelectors dead(asked, *served);
  for (const kube::ObjectPtr& policy : policies) {
    items.Append(PolicyJson(*policy, claims, rivals, not_fine.OfPolicy(policy->Describe()), dead));
  }
  ExplainSome(asked, *served, items);
  return json::Value::Object({{"policies", std::move(items)},
                              {"unknown", std::move(unknown)},
                              {"knowsNotFine", not_fine.is_known},
                              {"notFineReadAt", not_fine.ReadAt()},
                              {"unread", lists.Unread()},
                              {"readAt", kube::FormatTime(absl::Now())}});
}

}  // namespace lens::serve
