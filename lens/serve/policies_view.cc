// Policies with what they have claimed, by the claims of the bindings, and with selectors that
// select nothing. Of those that govern nothing some are asked about as `why` does, which names what
// they nearly select; the others have a link to that answer.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/binding.h"
#include "api/policy.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "lens/serve/lists.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "lens/why/matching.h"

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
using Claims = std::map<std::string, Claimed>;  // By "PropagationPolicy shop/web".

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
    Claimed& claimed = claims[claim];
    ++claimed.templates;
    claimed.kinds.insert(kind);
    claimed.objects.insert(absl::StrCat(kind, " ", reference.key().ToString()));
    return true;
  };
  for (const auto* kind : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    lists.Each(*kind, {"metadata.labels", "metadata.annotations", "spec.resource"}, "", add);
  }
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

json::Value PolicyJson(const kube::Object& policy, const Claimed& claimed, const Rivals& rivals,
                       int64_t not_fine) {
  const api::PolicyView view(policy);
  json::Value selectors = json::Value::Array();
  for (const api::ResourceSelector& selector : view.ResourceSelectors()) {
    const std::string text = SelectorText(selector, policy);
    json::Value others = json::Value::Array();
    if (const auto found = rivals.find(text); found != rivals.end()) {
      for (const std::string& other : found->second) {
        if (other != policy.Describe()) others.Append(other);
      }
    }
    selectors.Append(json::Value::Object({{"text", Shortened(text)},
                                          {"selectsNothing", IsDead(selector, text, claimed)},
                                          {"alsoIn", std::move(others)}}));
  }
  json::Value json = SubjectOf(policy.gvk(), policy.key());
  json.Set("priority", view.Priority());
  json.Set("preempts", view.PreemptsAlways());
  json.Set("isLazy", view.IsLazy());
  json.Set("propagateDeps", view.PropagateDeps());
  json.Set("claims", claimed.templates);
  json.Set("notFine", not_fine);
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
}

void ExplainSome(const Asked& asked, const kube::Discovery& served, json::Value& policies) {
  const base::SteadyTime end = base::RealClock().SteadyNow() + kExplainFor;
  size_t explained = 0;
  for (size_t i = 0; i < policies.size(); ++i) {
    if (policies.At(i)["claims"].AsInt() > 0 || explained == kExplained) continue;
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
  for (const kube::ObjectPtr& policy :
       lists.All(api::ClusterPropagationPolicies(), {"metadata", "spec"})) {
    policies.push_back(policy);
  }
  RETURN_IF_ERROR(lists.Check());
  ASSIGN_OR_RETURN(why::Chain chain, why::EmptyChain(asked.flags, absl::Now()));
  chain.policies = policies;
  const Claims claims = ReadClaims(chain, lists);
  const Rivals rivals = RivalsAmong(policies);
  const FleetAnswerPtr last = asked.viewer.fleet().Last();
  json::Value items = json::Value::Array();
  for (const kube::ObjectPtr& policy : policies) {
    const std::string name = policy->Describe();
    const auto claimed = claims.find(name);
    int64_t not_fine = 0;
    if (last != nullptr && last->by_policy.count(name) > 0) not_fine = last->by_policy.at(name);
    items.Append(PolicyJson(*policy, claimed == claims.end() ? Claimed() : claimed->second, rivals,
                            not_fine));
  }
  ExplainSome(asked, *served, items);
  return json::Value::Object({{"policies", std::move(items)},
                              {"knowsNotFine", last != nullptr && last->status.ok()},
                              {"unread", lists.Unread()},
                              {"readAt", kube::FormatTime(absl::Now())}});
}

}  // namespace lens::serve
