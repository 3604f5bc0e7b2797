// Two halves. The first repeats the detector's choice by the detector's own functions: which
// policies select the template, which goes first, whose claim it has, what a policy waits for. The
// second is for people whose policy does not select the template: each selector is compared part by
// part (kind, name, version, namespace, labels), and the one that lacks least gives the reason and
// the advice. A selector that may well be right as it is gets an advice that leaves it alone. No
// state.

#include "lens/why/matching.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/programs.h"
#include "base/spelling.h"
#include "detector/binding_builder.h"
#include "detector/policy_index.h"

namespace lens::why {
namespace {

using api::SelectorMatch;

bool MayGovern(const kube::Object& object, const kube::Object& policy) {
  return policy.ns().empty() || policy.ns() == object.ns();
}

bool SelectsIt(const kube::Object& object, const kube::Object& policy) {
  return MayGovern(object, policy) && api::BestMatch(api::PolicyView(policy).ResourceSelectors(),
                                                     object) != SelectorMatch::kNone;
}

std::string RankName(SelectorMatch rank) {
  switch (rank) {
    case SelectorMatch::kName:
      return "by name";
    case SelectorMatch::kLabels:
      return "by labels";
    default:
      return "by kind alone";
  }
}

// One selector of a policy, as it is written.
class Selector {
 public:
  Selector(const json::Value& json, const kube::ObjectPtr& policy, const kube::Object& object)
      : json_(json), policy_(policy), object_(object) {}

  // Returns how nearly it selects the object, and what keeps it from doing so.
  NearMiss Miss() const {
    if (Text("kind") != object_.kind()) return WrongKind();
    const std::string version = Text("apiVersion");
    const std::string name = Text("name");
    // One that names something quite different is meant for that.
    if (!name.empty() && !IsSimilar(name)) return {};
    if (version != object_.api_version()) {
      if (!MayBeItsNamespace()) return {};
      return Closer(
          IsNamedOrAny(name) ? Nearness::kOtherVersion : Nearness::kOtherVersionAndName,
          absl::StrCat("selects ", version, " ", object_.kind(), ", not ", object_.api_version()),
          absl::StrCat("write apiVersion: ", object_.api_version(), " there"));
    }
    if (!MayBeItsNamespace()) return OtherNamespace(name);
    if (!name.empty()) return OtherName(name);
    return Closer(Nearness::kOtherLabels,
                  absl::StrCat("selects by labels which it does not have: ",
                               json::Write(json_["labelSelector"])),
                  "give the template these labels, or change the selector");
  }

 private:
  std::string Text(absl::string_view field) const { return json_[field].ToString(); }

  NearMiss Closer(Nearness nearness, std::string why, std::string advice) const {
    NearMiss miss{policy_, std::move(why), std::move(advice), nearness};
    miss.name = Text("name");
    return miss;
  }

  NearMiss WrongKind() const {
    const bool alike = base::NearestName(Text("kind"), {std::string(object_.kind())}).has_value();
    const std::string name = Text("name");
    if (!alike || !MayBeItsNamespace() || (!name.empty() && !IsSimilar(name))) return {};
    return Closer(
        name == object_.name() ? Nearness::kMisspeltKindOfThatName : Nearness::kMisspeltKind,
        absl::StrCat("selects the kind ", Text("kind"), ", which is not ", object_.kind()),
        absl::StrCat("write kind: ", object_.kind(), " there"));
  }

  // Of a policy that cannot govern the object, or a selector that is for another namespace.
  NearMiss OtherNamespace(const std::string& name) const {
    const bool is_elsewhere = !policy_->ns().empty() && policy_->ns() != object_.ns();
    if (name.empty()) return OthersLikeIt();
    if (name != object_.name()) return {};
    if (is_elsewhere && object_.ns().empty()) {
      return Closer(Nearness::kNeedsClusterPolicy,
                    absl::StrCat("selects it, but a PropagationPolicy governs no cluster-scoped "
                                 "objects"),
                    "write a ClusterPropagationPolicy instead");
    }
    if (is_elsewhere) {
      return Closer(Nearness::kPolicyInOtherNamespace,
                    absl::StrCat("names it, but a PropagationPolicy governs only templates of its "
                                 "own namespace"),
                    absl::StrCat("create the policy in the namespace ", object_.ns()));
    }
    return Closer(Nearness::kOtherNamespace,
                  absl::StrCat("selects only the namespace ", Text("namespace")),
                  absl::StrCat("add a selector with namespace: ", object_.ns(), " to it"));
  }

  // It may be meant for the object, but it may as well be right as it is: it is not to be changed.
  NearMiss OthersLikeIt() const {
    if (object_.ns().empty()) return {};
    json::Value here = json_;
    here.Erase("namespace");
    if (api::ResourceSelector::FromJson(here).Rank(object_) == SelectorMatch::kNone) return {};
    return Closer(
        Nearness::kSelectsOthersLikeIt,
        policy_->ns().empty()
            ? absl::StrCat("selects such objects, but only in the namespace ", Text("namespace"))
            : "selects such objects, but only in its own namespace",
        absl::StrCat("write a PropagationPolicy in the namespace ", object_.ns(),
                     " whose resourceSelectors match it"));
  }

  NearMiss OtherName(const std::string& name) const {
    return Closer(Nearness::kMisspeltName, absl::StrCat("selects only the name ", name),
                  absl::StrCat("add a selector with name: ", object_.name(), " to it"));
  }

  // Returns whether the name is the object's or may be meant for it. Between names of one letter
  // there is no likeness.
  bool IsSimilar(const std::string& name) const {
    if (name == object_.name()) return true;
    const bool has_letters = name.size() > 1 || object_.name().size() > 1;
    return has_letters && base::NearestName(name, {std::string(object_.name())}).has_value();
  }

  bool IsNamedOrAny(const std::string& name) const {
    return name.empty() || name == object_.name();
  }

  // Returns whether the selector is for the object's namespace, or for all of them.
  bool MayBeItsNamespace() const {
    const std::string ns = Text("namespace");
    return (policy_->ns().empty() || policy_->ns() == object_.ns()) &&
           (ns.empty() || ns == object_.ns());
  }

  const json::Value& json_;
  const kube::ObjectPtr& policy_;
  const kube::Object& object_;
};

// Objects without namespace are selected from anywhere, as far as one can be mistaken about that.
Kinship KinshipOf(const kube::Object& object, const kube::Object& policy) {
  if (object.ns().empty()) return Kinship::kCluster;
  if (policy.ns().empty()) return Kinship::kCluster;
  return policy.ns() == object.ns() ? Kinship::kSameNamespace : Kinship::kOtherNamespace;
}

template <class PolicyScope>
kube::ObjectPtr Find(const Chain& chain, const kube::ObjectKey& key) {
  for (const kube::ObjectPtr& policy : chain.policies) {
    if (policy->kind() == PolicyScope::kKind && policy->key() == key) return policy;
  }
  return nullptr;
}

// The fields of a binding's spec that follow the policy alone. Not those that gates decide about,
// which nothing shows here.
constexpr absl::string_view kPolicyFields[] = {
    "placement",     "schedulerName", "conflictResolution", "preserveResourcesOnDeletion",
    "propagateDeps", "failover",      "suspension"};

// Returns what the value of such a field means: absent ones stand for the default. A placement that
// is empty is not one that is absent, which nobody schedules.
json::Value Meaning(absl::string_view field, const json::Value& value) {
  if (field == "placement") return value;
  const bool says_nothing = value.is_null() || (value.is_bool() && !value.AsBool()) ||
                            (value.is_string() && value.AsString().empty()) ||
                            (value.is_object() && value.empty());
  if (!says_nothing) return value;
  if (field == "schedulerName") return api::kDefaultSchedulerName;
  return field == "conflictResolution" ? json::Value(api::kResolveAbort) : json::Value();
}

template <class PolicyScope>
std::vector<std::string> FieldsThatFollow(const kube::Object& object, const kube::Object& binding,
                                          const kube::Object& policy) {
  std::vector<std::string> fields;
  const auto merged = detector::MergeBinding<PolicyScope>(
      binding, detector::BuildBinding<PolicyScope>(object, policy, {}, {}));
  if (!merged.ok()) return fields;
  for (const absl::string_view field : kPolicyFields) {
    const bool differs =
        Meaning(field, merged->spec()[field]) != Meaning(field, binding.spec()[field]);
    if (differs) fields.emplace_back(field);
  }
  return fields;
}

// Returns whether fewer letters of the one name differ from the template's than of the other.
bool IsNearerName(const kube::Object& object, const NearMiss& one, const NearMiss& other) {
  if (one.name.empty() || other.name.empty()) return false;
  const auto nearest = base::NearestName(object.name(), {other.name, one.name});
  return nearest.has_value() && *nearest == 1;  // Of equally near ones the first is found.
}

}  // namespace

Match MatchOf(const kube::ObjectPtr& policy, const kube::Object& object) {
  const api::PolicyView view(*policy);
  return {policy, view.Priority(), api::BestMatch(view.ResourceSelectors(), object)};
}

bool GoesBefore(const Match& a, const Match& b) {
  if (a.namespaced() != b.namespaced()) return a.namespaced();
  return detector::Preference{a.priority, a.rank, a.policy->name()}.IsBefore(
      {b.priority, b.rank, b.policy->name()});
}

std::vector<Match> Matches(const Chain& chain) {
  std::vector<Match> matches;
  if (chain.object == nullptr) return matches;
  for (const kube::ObjectPtr& policy : chain.policies) {
    if (!MayGovern(*chain.object, *policy) || policy->IsDeleting()) continue;
    Match match = MatchOf(policy, *chain.object);
    if (match.rank != SelectorMatch::kNone) matches.push_back(std::move(match));
  }
  std::sort(matches.begin(), matches.end(), GoesBefore);
  return matches;
}

std::string WhyBefore(const Match& better, const Match& other) {
  if (better.namespaced() != other.namespaced()) {
    return "a PropagationPolicy goes before a ClusterPropagationPolicy";
  }
  if (better.priority != other.priority) {
    return absl::StrCat("it has the higher priority (", better.priority, " over ", other.priority,
                        ")");
  }
  if (better.rank != other.rank) {
    return absl::StrCat("it selects the template ", RankName(better.rank), ", the other one ",
                        RankName(other.rank));
  }
  return "both fit equally well, and its name comes first in the alphabet";
}

kube::ObjectPtr ClaimingPolicy(const Chain& chain, const kube::Object& object, std::string* claim) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  claim->clear();
  const kube::ObjectKey key = Namespaced::ClaimOn(object);
  if (!key.name.empty()) {
    *claim = absl::StrCat(Namespaced::kKind, " ", key.ToString());
    return Find<Namespaced>(chain, key);
  }
  const kube::ObjectKey cluster_key = Cluster::ClaimOn(object);
  if (cluster_key.name.empty()) return nullptr;
  *claim = absl::StrCat(Cluster::kKind, " ", cluster_key.ToString());
  return Find<Cluster>(chain, cluster_key);
}

std::vector<std::string> FieldsBehind(const kube::Object& object, const kube::Object& binding,
                                      const kube::Object& policy) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  return policy.ns().empty() ? FieldsThatFollow<Cluster>(object, binding, policy)
                             : FieldsThatFollow<Namespaced>(object, binding, policy);
}

bool HasFieldsOf(const kube::Object& binding, const kube::Object& policy) {
  return std::all_of(
      std::begin(kPolicyFields), std::end(kPolicyFields), [&](absl::string_view field) {
        return Meaning(field, policy.spec()[field]) == Meaning(field, binding.spec()[field]);
      });
}

AwaitedOverride MissingOverride(const Chain& chain) {
  if (chain.object == nullptr) return {};
  std::string claim;
  kube::ObjectPtr policy = ClaimingPolicy(chain, *chain.object, &claim);
  const std::vector<Match> matches = Matches(chain);
  if (policy == nullptr && !matches.empty()) policy = matches[0].policy;
  if (policy == nullptr) return {};
  for (const std::string& name : api::PolicyView(*policy).DependentOverrides()) {
    const kube::ObjectKey key{std::string(policy->ns()), name};
    const kube::Resource& kind =
        key.ns.empty() ? api::ClusterOverridePolicies() : api::OverridePolicies();
    if (chain.override_names.count(key) > 0 || !chain.CouldRead(kind.gvk, key)) continue;
    return {policy, key};
  }
  return {};
}

NearMiss MissOf(const kube::Object& object, const kube::ObjectPtr& policy) {
  if (policy->IsDeleting()) {
    if (!SelectsIt(object, *policy)) return {};
    // One of the same name cannot be made as long as this one is there.
    return {policy, "is being deleted",
            "write a policy with another name that selects it, or this one again when it has gone",
            Nearness::kBeingDeleted};
  }
  NearMiss nearest;
  for (const json::Value& selector : policy->spec()["resourceSelectors"].items()) {
    NearMiss miss = Selector(selector, policy, object).Miss();
    if (miss.nearness > nearest.nearness) nearest = std::move(miss);
  }
  return nearest;
}

std::vector<NearMiss> NearMisses(const Chain& chain) {
  std::vector<NearMiss> misses;
  if (chain.object == nullptr) return misses;
  for (const kube::ObjectPtr& policy : chain.policies) {
    NearMiss nearest = MissOf(*chain.object, policy);
    if (nearest.nearness == Nearness::kFar) continue;
    nearest.kinship = KinshipOf(*chain.object, *policy);
    misses.push_back(std::move(nearest));
  }
  std::stable_sort(misses.begin(), misses.end(), [&](const NearMiss& a, const NearMiss& b) {
    const auto of_a = std::pair(a.kinship, a.nearness), of_b = std::pair(b.kinship, b.nearness);
    return of_a != of_b ? of_a > of_b : IsNearerName(*chain.object, a, b);
  });
  return misses;
}

}  // namespace lens::why
