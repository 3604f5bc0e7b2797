// Objects of Karmada's own groups have no way to members; they say themselves how they are. So the
// checks read their conditions (of which a few are fine when they are False), a binding's refusal,
// and, where nothing better is known, the last Warning event that no later event has followed. An
// object of a kind behind a feature gate without any condition is taken for one that nobody looks
// at. No state.

#include "lens/why/own_objects.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/absent_clusters.h"
#include "api/binding_resource.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "config/feature_gates.h"
#include "config/support.h"
#include "lens/why/agents.h"
#include "lens/why/lost_cluster.h"
#include "lens/why/own_deletions.h"
#include "lens/why/own_registries.h"

namespace lens::why {
namespace {

constexpr size_t kWarningsShown = 5;

// Conditions that say of something unwelcome whether it is so, or of something that is over.
constexpr absl::string_view kFineWhenFalse[] = {"ScalingLimited", "Degraded", "Progressing"};

const json::Value& ConditionsOf(const kube::Object& object) {
  return object.status()["conditions"];
}

bool IsBad(const json::Value& condition) {
  if (condition["status"].AsString() == "True") return false;
  return std::find(std::begin(kFineWhenFalse), std::end(kFineWhenFalse),
                   condition["type"].AsString()) == std::end(kFineWhenFalse);
}

// Returns the name of the gate without which the daemon does not look at the kind; "" for none.
absl::string_view GateOf(const kube::Gvk& gvk) {
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.group != gvk.group || kind.kind != gvk.kind) continue;
    return kind.gate.has_value() ? config::FeatureGates::NameOf(*kind.gate) : "";
  }
  return "";
}

// Returns the last Warning event about the object of each reason, the latest first.
Objects WarningsAbout(const Chain& chain, const kube::Object& object) {
  std::set<std::string> reasons;
  for (const kube::ObjectPtr& event : chain.events) {
    if (event->root()["type"].AsString() == "Warning") {
      reasons.insert(event->root()["reason"].ToString());
    }
  }
  Objects warnings;
  for (const std::string& reason : reasons) {
    if (const kube::ObjectPtr last = LastEvent(chain, object, {reason})) warnings.push_back(last);
  }
  std::stable_sort(warnings.begin(), warnings.end(),
                   [](const kube::ObjectPtr& a, const kube::ObjectPtr& b) {
                     return EventTime(*a) > EventTime(*b);
                   });
  return warnings;
}

}  // namespace

bool IsAboutOwnObject(const Chain& chain) { return IsOwnGroup(chain.asked.gvk.group); }

std::string ConditionText(const json::Value& condition, bool with_message) {
  const std::string message = condition["message"].ToString();
  return absl::StrCat(condition["type"].AsString(), "=", condition["status"].AsString(), " (",
                      condition["reason"].AsString(),
                      with_message && !message.empty() ? absl::StrCat(": ", message) : "", ")");
}

std::vector<std::string> OwnConditions(const Chain& chain) {
  std::vector<std::string> lines;
  for (const json::Value& condition : ConditionsOf(*chain.object).items()) {
    lines.push_back(ConditionText(condition, /*with_message=*/true));
  }
  return lines;
}

std::vector<std::string> OwnWarnings(const Chain& chain) {
  std::vector<std::string> lines;
  for (const kube::ObjectPtr& event : WarningsAbout(chain, *chain.object)) {
    if (lines.size() == kWarningsShown) break;
    const absl::Time time = EventTime(*event);
    lines.push_back(absl::StrCat(
        time == absl::InfinitePast() ? "" : absl::StrCat(kube::FormatTime(time), " "),
        event->root()["reason"].AsString(), ": ", event->root()["message"].AsString()));
  }
  return lines;
}

// Returns why nothing follows the binding; "" for one that stands for its object, and for others.
// The conditions of a refused one are of an earlier time.
std::string WhyRefused(const Chain& chain) {
  if (chain.object->gvk() != api::ResourceBindings().gvk) return "";
  const absl::Status fits = api::CheckBindingResource(*chain.object);
  if (!fits.ok()) return std::string(fits.message());
  return StandingFailure(chain, *chain.object, api::reason::kBindingRefused,
                         api::reason::kSyncWorkSucceed);
}

// Returns ", and 3 of its 5 Works wait for it" for the Works that the agent has not applied, or
// removed; "" for none.
std::string WorksThatWait(const Chain& chain) {
  const size_t all = chain.own_works.size();
  const auto waiting = std::count_if(
      chain.own_works.begin(), chain.own_works.end(),
      [](const auto& work) { return work->IsDeleting() || !api::WorkView(*work).IsApplied(); });
  if (waiting == 0) return "";
  if (all == 1) return ", and its Work waits for it";
  return absl::StrCat(", and ", waiting, " of its ", all,
                      waiting == 1 ? " Works waits" : " Works wait", " for it");
}

// Returns what to do about a condition with this message.
std::string AdviceForCondition(const Chain& chain, absl::string_view type,
                               absl::string_view message, bool has_warnings) {
  if (chain.asked.gvk == api::Clusters().gvk && type == api::kClusterReady) {
    return IsPull(chain, chain.asked.key.name) ? AdviceForAgent(chain, chain.asked.key.name)
                                               : AdviceForNotReady(chain, *chain.object);
  }
  for (const absl::string_view group :
       {"custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.k8s.io"}) {
    const bool is_missing = absl::StrContains(message, "could not find the requested resource") ||
                            absl::StrContains(message, "no custom metrics API");
    if (!is_missing || !absl::StrContains(message, group)) continue;
    return absl::StrCat("see whether karmada-metrics-adapter runs, since nothing serves ", group,
                        " in the control plane: kubectl get apiservices");
  }
  if (absl::StrContains(message, "missing request for ")) {
    return "give each container of what it scales a request for that resource "
           "(resources.requests), or set a target of the type AverageValue";
  }
  return has_warnings ? "mend what the condition and the Warning events say"
                      : "mend what the condition says";
}

// Returns what its agent has to do with a condition of the Cluster that is asked about; "" for
// others.
std::string AgentOfCondition(const Chain& chain, const json::Value& condition) {
  const bool is_ready =
      chain.asked.gvk == api::Clusters().gvk && condition["type"].AsString() == api::kClusterReady;
  const std::string state = is_ready ? AgentState(chain, chain.asked.key.name) : "";
  return state.empty() ? "" : absl::StrCat(": ", state, WorksThatWait(chain));
}

// The controller manager notices it after --cluster-monitor-grace-period, while it runs.
Findings OwnAgentIsSilent(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::Clusters().gvk) return {};
  const std::string& name = chain.asked.key.name;
  if (!api::ClusterView(*chain.object).IsReady()) return {};
  if (WhyAgentIsSilent(chain, name).empty()) return {};
  return {{Step::kTemplate, Grade::kStuck,
           absl::StrCat(chain.Name(), " counts as ready, but ", AgentState(chain, name),
                        WorksThatWait(chain)),
           AdviceForAgent(chain, name)}};
}

Findings OwnObjectFails(const Chain& chain) {
  if (chain.object == nullptr || !IsAboutOwnObject(chain) || IsRegistry(chain)) return {};
  Findings findings;
  const std::string refusal = WhyRefused(chain);
  if (!refusal.empty()) {
    findings.push_back({Step::kTemplate, Grade::kStuck, refusal,
                        "delete it, or let it name an object of its own namespace"});
  }
  for (const json::Value& condition : ConditionsOf(*chain.object).items()) {
    if (!IsBad(condition)) continue;
    findings.push_back(
        {Step::kTemplate, Grade::kStuck,
         absl::StrCat(chain.Name(), " reports ", ConditionText(condition, /*with_message=*/true),
                      Since(condition), AgentOfCondition(chain, condition)),
         AdviceForCondition(chain, condition["type"].AsString(), condition["message"].AsString(),
                            !OwnWarnings(chain).empty())});
  }
  return findings;
}

// Returns the last Warning about the object after which nothing welcome has been said of it.
kube::ObjectPtr StandingWarning(const Chain& chain) {
  const Objects warnings = WarningsAbout(chain, *chain.object);
  const kube::ObjectPtr last = LastEvent(chain, *chain.object, {});
  if (warnings.empty() || last == nullptr || last->root()["type"].AsString() != "Warning") {
    return nullptr;
  }
  return warnings[0];
}

// Of what has no check of its own, events are all that is known. What they say of policies, and of
// clusters that do not exist, is seen from the objects, and no event says that it is over.
Findings OwnObjectIsWarnedOf(const Chain& chain) {
  if (chain.object == nullptr || !IsAboutOwnObject(chain)) return {};
  const bool is_policy = chain.asked.gvk == api::PropagationPolicies().gvk ||
                         chain.asked.gvk == api::ClusterPropagationPolicies().gvk;
  const kube::ObjectPtr warning = is_policy ? nullptr : StandingWarning(chain);
  if (warning == nullptr) return {};
  if (warning->root()["reason"].AsString() == api::reason::kClusterNotFound) return {};
  std::string message = warning->root()["message"].ToString();
  if (absl::EndsWith(message, ".")) message.pop_back();
  return {{Step::kTemplate, Grade::kStuck,
           absl::StrCat(chain.Name(), ": ", message, " (Warning ",
                        warning->root()["reason"].AsString(), ")"),
           "mend what the message says; docs/events.md explains each reason"}};
}

Findings OwnObjectIsNotLookedAt(const Chain& chain) {
  if (chain.object == nullptr || chain.object->IsDeleting()) return {};
  const absl::string_view gate = GateOf(chain.asked.gvk);
  if (gate.empty() || !ConditionsOf(*chain.object).empty()) return {};
  // Who looks at it begins with a finalizer, also where nothing is to be reported yet.
  for (const json::Value& finalizer : chain.object->metadata()["finalizers"].items()) {
    if (IsKarmadasFinalizer(finalizer.AsString(), chain.asked.gvk)) return {};
  }
  return {{Step::kTemplate,
           Grade::kStuck,
           absl::StrCat(chain.Name(),
                        " has no conditions, so nothing seems to look at it: that "
                        "needs the feature gate ",
                        gate, " of karmada-controller-manager"),
           absl::StrCat("see whether karmada-controller-manager runs with --feature-gates=", gate,
                        "=true"),
           "",
           {},
           Program::kControllerManager}};
}

}  // namespace lens::why
