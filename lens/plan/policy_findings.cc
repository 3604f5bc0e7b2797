// For each policy in the files: whether each selector selects something that exists on the
// simulated control plane, in the namespaces that the policy governs; whether preemption is
// switched on; whether a purge mode has a name that Karmada refuses by now; whether each named
// cluster exists, wherever in the spec it is named; whether each target of an override matches a
// cluster. Findings have the place of the field. No state.

#include "lens/plan/policy_findings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/eviction.h"
#include "api/policy.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "base/spelling.h"
#include "kube/meta/nearest_kind.h"

namespace lens::plan {
namespace {

using Objects = std::vector<kube::ObjectPtr>;

struct Subject {
  const Scene& scene;
  const InputObject& read;
  const Objects& clusters;
  std::vector<Finding>& out;

  void Add(const std::string& path, absl::string_view code, std::string message) const {
    out.push_back(
        {read.PlaceOf(path), std::string(code), read.object.Describe(), std::move(message)});
  }
};

Objects All(sandbox::Backend& backend, const kube::Gvr& resource) {
  auto objects = backend.List(resource, "", kube::LabelSelector());
  return objects.ok() ? *std::move(objects) : Objects();
}

std::string SelectorText(const api::ResourceSelector& selector) {
  std::string text = absl::StrCat(selector.kind(), " (", selector.api_version(), ")");
  if (!selector.name().empty()) absl::StrAppend(&text, " ", selector.name());
  if (!selector.ns().empty()) absl::StrAppend(&text, " in namespace ", selector.ns());
  return text;
}

void CheckSelector(const Subject& subject, const std::string& path, const json::Value& item) {
  const api::ResourceSelector selector = api::ResourceSelector::FromJson(item);
  const auto gvk = kube::ParseGvk(selector.api_version(), selector.kind());
  if (!gvk.ok()) return;
  sandbox::Backend& backend = subject.scene.backend;
  const kube::Resource resource = backend.Find(*gvk);
  if (resource.gvk.empty()) {
    std::set<kube::Gvk> served;
    for (const kube::Resource& known : backend.Resources()) served.insert(known.gvk);
    const std::optional<kube::Gvk> nearest = kube::NearestKind(*gvk, served);
    subject.Add(path, finding::kSelectsNothing,
                absl::StrCat("there is no kind ", gvk->kind, " in ", gvk->ApiVersion(),
                             nearest ? absl::StrCat("; did you mean ", nearest->kind, " in ",
                                                    nearest->ApiVersion(), "?")
                                     : ""));
    return;
  }
  const std::string policy_ns =
      subject.read.object.ns().empty() ? "default" : std::string(subject.read.object.ns());
  const bool of_namespace = subject.read.object.kind() == api::PropagationPolicies().gvk.kind ||
                            subject.read.object.kind() == api::OverridePolicies().gvk.kind;
  const Objects objects = All(backend, resource.gvr());
  const bool selects = std::any_of(objects.begin(), objects.end(), [&](const auto& object) {
    return (!of_namespace || object->ns() == policy_ns) &&
           selector.Rank(*object) != api::SelectorMatch::kNone;
  });
  if (selects) return;
  subject.Add(
      path, finding::kSelectsNothing,
      absl::StrCat("this selector selects nothing: there is no matching ", SelectorText(selector),
                   of_namespace ? absl::StrCat(" in the policy's namespace ", policy_ns) : ""));
}

absl::string_view WithoutNumber(absl::string_view name) {
  while (!name.empty() && absl::ascii_isdigit(static_cast<unsigned char>(name.back()))) {
    name.remove_suffix(1);
  }
  return name;
}

// Returns " (did you mean member1?)"; for a name of the clusters that a plan invents, that it has
// invented none.
std::string Meant(const Objects& clusters, const std::string& name) {
  std::vector<std::string> known;
  for (const kube::ObjectPtr& cluster : clusters) known.emplace_back(cluster->name());
  const auto nearest = base::NearestName(name, known);
  // Another number is another cluster, not a misspelling.
  if (nearest && WithoutNumber(name) != WithoutNumber(known[*nearest])) {
    return absl::StrCat(" (did you mean ", known[*nearest], "?)");
  }
  const bool is_invented =
      absl::StartsWith(name, "member") && !known.empty() && !absl::StartsWith(known[0], "member");
  return is_invented ? absl::StrCat("; the clusters are those of the files, such as ", known[0],
                                    ", and no others are invented")
                     : "";
}

// Finds every list of cluster names in a value.
void CheckClusterNames(const Subject& subject, const std::string& path, const json::Value& value) {
  for (const json::Member& member : value.members()) {
    const std::string field = absl::StrCat(path, ".", member.name());
    if (member.name() != "clusterNames") {
      CheckClusterNames(subject, field, member.value);
      continue;
    }
    for (size_t i = 0; i < member.value.size(); ++i) {
      const std::string name = member.value.At(i).ToString();
      const bool exists =
          std::any_of(subject.clusters.begin(), subject.clusters.end(),
                      [&](const kube::ObjectPtr& cluster) { return cluster->name() == name; });
      if (exists) continue;
      subject.Add(absl::StrCat(field, "[", i, "]"), finding::kNoSuchCluster,
                  absl::StrCat("there is no cluster ", name, Meant(subject.clusters, name)));
    }
  }
  for (size_t i = 0; i < value.items().size(); ++i) {
    CheckClusterNames(subject, absl::StrCat(path, "[", i, "]"), value.At(i));
  }
}

void CheckTarget(const Subject& subject, const std::string& path, const json::Value& target) {
  // Absent names are reported one by one.
  if (target.is_null() || !target["clusterNames"].empty()) return;
  const api::ClusterAffinity affinity = api::ClusterAffinity::FromJson(target);
  const bool matches = std::any_of(
      subject.clusters.begin(), subject.clusters.end(),
      [&](const kube::ObjectPtr& cluster) { return affinity.Matches(api::ClusterView(*cluster)); });
  if (!matches) {
    subject.Add(path, finding::kNoClusterMatches,
                "no cluster matches, so these overriders have no effect");
  }
}

void CheckPreemption(const Subject& subject) {
  const bool wanted = api::PolicyView(subject.read.object).PreemptsAlways();
  if (!wanted || subject.scene.options.gates.Enabled(config::Gate::kPropagationPolicyPreemption)) {
    return;
  }
  subject.Add("spec.preemption", finding::kPreemptionOff,
              "preemption: Always has no effect: the feature gate PropagationPolicyPreemption is "
              "off. If it is on in karmada-controller-manager, give "
              "--feature-gates=PropagationPolicyPreemption=true");
}

void CheckPurgeMode(const Subject& subject) {
  const absl::string_view mode = api::OutdatedPurgeMode(subject.read.object);
  if (mode.empty()) return;
  subject.Add(
      "spec.failover.application.purgeMode", finding::kOldPurgeMode,
      absl::StrCat("spec.failover.application.purgeMode: ", api::message::PurgeModeOutdated(mode)));
}

void CheckPolicy(const Subject& subject) {
  const json::Value& spec = subject.read.object.spec();
  const auto selectors = spec["resourceSelectors"].items();
  for (size_t i = 0; i < selectors.size(); ++i) {
    CheckSelector(subject, absl::StrCat("spec.resourceSelectors[", i, "]"), selectors[i]);
  }
  CheckPreemption(subject);
  CheckPurgeMode(subject);
  CheckClusterNames(subject, "spec", spec);
  const auto rules = spec["overrideRules"].items();
  for (size_t i = 0; i < rules.size(); ++i) {
    CheckTarget(subject, absl::StrCat("spec.overrideRules[", i, "].targetCluster"),
                rules[i]["targetCluster"]);
  }
}

bool IsPolicy(const kube::Object& object) {
  for (const auto* policies : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies(),
                               &api::OverridePolicies(), &api::ClusterOverridePolicies()}) {
    if (object.gvk() == policies->gvk) return true;
  }
  return false;
}

}  // namespace

void AddPolicyFindings(const Scene& scene, std::vector<Finding>& out) {
  const Objects clusters = All(scene.backend, api::Clusters().gvr());
  for (const InputObject& read : scene.objects) {
    if (IsPolicy(read.object)) CheckPolicy({scene, read, clusters, out});
  }
}

}  // namespace lens::plan
