// Calls the functions of the binding loop and of the works loop on the chain: replicas and
// completions, revision, pruning, overrides for one cluster; then the comparison of a Work with
// that, and of a member's object with the Work, without what Karmada adds or others may set. What
// only a webhook or an unreadable object could tell is kUnavailable, so that no check concludes
// anything from it. The order is that of the loops, and has to stay so. No state.

#include "lens/why/expected.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "binding/work_templates.h"
#include "kube/meta/patch.h"
#include "works/configuration.h"
#include "works/retention.h"

namespace lens::why {
namespace {

using interpreter::Operation;

absl::Status NeedsWebhook(const Chain& chain, Operation op) {
  return absl::UnavailableError(absl::StrCat(
      interpreter::OperationName(op), " is answered by the webhook ",
      chain.rules->RuleFor(chain.asked.gvk, op).name, ", which is not called from here"));
}

// Names of labels and annotations that decide whether a Work is right.
struct MetadataNames {
  std::set<std::string> labels, annotations;
};

void AddListed(absl::string_view listed, std::set<std::string>& names) {
  for (const absl::string_view name : absl::StrSplit(listed, ',', absl::SkipEmpty())) {
    names.emplace(name);
  }
}

// Returns the names that the expected manifest has, and those that the writer of the Work has put
// into its manifest, which records them. What others have added there does not count.
MetadataNames NamesThatCount(const kube::Object& expected, const kube::Object& in_work) {
  MetadataNames names;
  for (const json::Member& m : expected.labels().members()) names.labels.emplace(m.name());
  for (const json::Member& m : expected.annotations().members()) {
    names.annotations.emplace(m.name());
  }
  AddListed(in_work.Annotation(api::kManagedLabelsAnnotation), names.labels);
  AddListed(in_work.Annotation(api::kManagedAnnotationsAnnotation), names.annotations);
  return names;
}

json::Value Kept(const json::Value& map, const std::set<std::string>& names) {
  json::Value kept = json::Value::Object();
  for (const json::Member& m : map.members()) {
    const absl::string_view domain = m.name().substr(0, m.name().find('/'));
    const bool of_karmada = absl::EndsWith(absl::StrCat(".", domain), api::kGroupSuffix);
    if (!of_karmada && names.contains(std::string(m.name()))) kept.Set(m.name(), m.value);
  }
  return kept;
}

// Returns the manifest without what the writer of Works leaves out or adds, and without labels and
// annotations that do not count.
kube::Object Comparable(kube::Object manifest, const MetadataNames& names) {
  interpreter::Prune(manifest);
  manifest.Erase({"status"});
  manifest.Set({"metadata", "labels"}, Kept(manifest.labels(), names.labels));
  manifest.Set({"metadata", "annotations"}, Kept(manifest.annotations(), names.annotations));
  return manifest;
}

bool CouldReadOverrides(const Chain& chain) {
  return chain.CouldRead(api::OverridePolicies().gvk, {chain.asked.key.ns, ""}) &&
         chain.CouldRead(api::ClusterOverridePolicies().gvk);
}

}  // namespace

bool CouldReadRules(const Chain& chain) {
  return chain.CouldRead(api::InterpreterCustomizations().gvk) &&
         chain.CouldRead(api::InterpreterWebhookConfigurations().gvk);
}

absl::StatusOr<Expected> ExpectedFor(const Chain& chain, const api::TargetCluster& target) {
  for (const Operation op : {Operation::kReviseReplica, Operation::kPrune}) {
    if (chain.rules->IsAnsweredByWebhook(chain.asked.gvk, op)) return NeedsWebhook(chain, op);
  }
  if (!CouldReadRules(chain) || !CouldReadOverrides(chain)) {
    return absl::UnavailableError("the customizations or override policies could not be read");
  }
  const api::BindingView binding(*chain.binding);
  const std::vector<api::TargetCluster> targets = binding.DispatchTargets();
  const std::vector<int64_t> completions =
      binding::DividedCompletions(*chain.object, binding, targets);
  const auto at = std::find(targets.begin(), targets.end(), target) - targets.begin();
  const bool divided = static_cast<size_t>(at) < completions.size();
  ASSIGN_OR_RETURN(kube::Object manifest, binding::ManifestFor(*chain.object, binding, target,
                                                               divided ? completions[at] : -1,
                                                               chain.rules->WithoutWebhooks()));
  const auto cluster = chain.clusters.find(target.name);
  if (cluster == chain.clusters.end()) return Expected{std::move(manifest), {}};
  overrides::Application application =
      overrides::Apply(chain.overrides, manifest, api::ClusterView(*cluster->second));
  if (application.failed != nullptr) {
    return base::Annotate(application.status, application.failed->object().Describe());
  }
  kube::Object result = application.object;
  return Expected{std::move(result), std::move(application)};
}

bool StaysSuspended(const api::BindingView& binding, const std::string& cluster,
                    const kube::Object* member) {
  if (!binding.IsDispatchingSuspended(cluster)) return false;
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (task.from_cluster == cluster) return false;
  }
  return member != nullptr && !member->IsDeleting();
}

works::Passage PassageFor(const Chain& chain) {
  const api::BindingView binding(*chain.binding);
  const auto find = [&] {
    Objects works;
    for (const api::TargetCluster& target : binding.DispatchTargets()) {
      const auto work = chain.works.find(target.name);
      if (work != chain.works.end()) works.push_back(work->second);
    }
    return works;
  };
  return works::PassageOf(binding, *chain.object, find, chain.rules->WithoutWebhooks());
}

absl::StatusOr<json::Value> MissingInWork(const Chain& chain, const api::TargetCluster& target,
                                          const kube::Object& work) {
  ASSIGN_OR_RETURN(const Expected expected, ExpectedFor(chain, target));
  const api::WorkView view(work);
  const auto index = view.IndexOf(expected.manifest);
  if (!index.has_value()) return expected.manifest.root();
  const kube::Object in_work(view.Manifests()[*index]);
  MetadataNames names = NamesThatCount(expected.manifest, in_work);
  // State that moves with a workload is labels, too, behind a feature gate that nothing shows here.
  for (const api::EvictionTask& task : api::BindingView(*chain.binding).EvictionTasks()) {
    for (const json::Member& label : task.json["preservedLabelState"].members()) {
      names.labels.erase(std::string(label.name()));
    }
  }
  return kube::DiffMergePatch(Comparable(in_work, names).root(),
                              Comparable(expected.manifest, names).root());
}

absl::StatusOr<json::Value> DifferenceIn(const Chain& chain, const std::string& cluster) {
  const auto work = chain.works.find(cluster);
  const auto member = chain.members.find(cluster);
  const bool both = work != chain.works.end() && member != chain.members.end() &&
                    member->second.object != nullptr;
  if (!both) return json::Value::Object();
  if (chain.rules->IsAnsweredByWebhook(chain.asked.gvk, Operation::kRetain)) {
    return NeedsWebhook(chain, Operation::kRetain);
  }
  const api::WorkView view(*work->second);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  if (!index.has_value()) return json::Value::Object();
  const kube::Object& observed = *member->second.object;
  const kube::Object manifest(view.Manifests()[*index]);
  const interpreter::Interpreter& rules = chain.rules->WithoutWebhooks();
  const bool is_applied = !observed.Annotation(api::kAppliedManifestAnnotation).empty();
  ASSIGN_OR_RETURN(const bool applies, works::UsesServerSideApply(manifest, is_applied));
  if (applies) {
    ASSIGN_OR_RETURN(const kube::Object configuration,
                     works::ConfigurationOf(manifest, observed, rules));
    if (works::IsApplied(configuration, observed)) return json::Value::Object();
  }
  ASSIGN_OR_RETURN(const json::Value change, works::ChangeOf(manifest, observed, rules));
  // What the change sets to the value that is there already is not sent either.
  kube::Object wanted(kube::ApplyMergePatch(observed.root(), change));
  if (applies) {
    wanted.SetAnnotation(api::kAppliedManifestAnnotation,
                         observed.Annotation(api::kAppliedManifestAnnotation));
  }
  return kube::DiffMergePatch(observed.root(), wanted.root());
}

std::vector<std::string> OverridesOf(const kube::Object& work, const std::string& ns) {
  std::vector<std::string> names;
  for (const auto& [annotation, prefix] :
       {std::pair(api::kAppliedClusterOverridesAnnotation, std::string("ClusterOverridePolicy ")),
        std::pair(api::kAppliedOverridesAnnotation, absl::StrCat("OverridePolicy ", ns, "/"))}) {
    const absl::StatusOr<json::Value> applied = json::Parse(work.Annotation(annotation));
    if (!applied.ok()) continue;
    for (const json::Value& item : applied->items()) {
      std::string name = absl::StrCat(prefix, item["policyName"].AsString());
      const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
      if (is_new) names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace lens::why
