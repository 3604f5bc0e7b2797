// A list of targets is worked off: each template is read with its binding, and leads to what the
// binding records as needed and to the templates that need it. Bindings are listed once, as a
// whole, because claims and kinds are found in them; templates and Works are read only where they
// matter.

#include "lens/plan/live_reader.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/customized/customization_set.h"
#include "kube/client/errors.h"
#include "sandbox/sim/kinds.h"

namespace lens::plan {
namespace {

constexpr size_t kIdsPerRequest = 50;
// More requests than that cost more than one for all of them.
constexpr size_t kMostRequests = 4;
// So many objects of a kind are read one by one; more by a list of all.
constexpr size_t kMostSingly = 10;

bool IsOf(const kube::Object& object, const kube::Resource& resource) {
  return object.gvk().group == resource.gvk.group && object.gvk().kind == resource.gvk.kind;
}

bool IsOverride(const kube::Object& object) {
  return IsOf(object, api::OverridePolicies()) || IsOf(object, api::ClusterOverridePolicies());
}

bool IsPolicy(const kube::Object& object) {
  return IsOf(object, api::PropagationPolicies()) ||
         IsOf(object, api::ClusterPropagationPolicies());
}

kube::ObjectKey KeyOf(const kube::Object& object, bool namespaced) {
  kube::ObjectKey key = object.key();
  if (namespaced && key.ns.empty()) key.ns = "default";
  return key;
}

const kube::Object* FindSame(const std::vector<kube::Object>& objects, const kube::Object& wanted,
                             const kube::ObjectKey& key) {
  for (const kube::Object& object : objects) {
    if (object.kind() == wanted.kind() && object.key() == key) return &object;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<LiveState> LiveReader::ReadTouched(const std::vector<InputObject>& files,
                                                  const base::StopToken& stop) {
  RETURN_IF_ERROR(ReadScenery(stop));
  for (const InputObject& read : files) RETURN_IF_ERROR(Touch(read.object, stop));
  return Drain(stop);
}

absl::StatusOr<LiveState> LiveReader::ReadAll(const std::vector<InputObject>& files,
                                              const base::StopToken& stop) {
  RETURN_IF_ERROR(ReadScenery(stop));
  ASSIGN_OR_RETURN(state_.taint_policies, List(api::ClusterTaintPolicies(), "", "", stop));
  ASSIGN_OR_RETURN(state_.quotas, List(api::FederatedResourceQuotas(), "", "", stop));
  RETURN_IF_ERROR(ListTemplates(stop));
  for (const auto& [key, binding] : bindings_) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    if (!ResourceOf(reference.gvk()).gvk.empty()) Add(reference.gvk(), reference.key());
  }
  for (const InputObject& read : files) RETURN_IF_ERROR(Touch(read.object, stop));
  return Drain(stop);
}

absl::Status LiveReader::ListTemplates(const base::StopToken& stop) {
  std::map<kube::Gvk, size_t> counts;
  for (const auto& [key, binding] : bindings_) {
    ++counts[api::BindingView(binding).Resource().gvk()];
  }
  for (const auto& [gvk, count] : counts) {
    const kube::Resource resource = ResourceOf(gvk);
    if (count <= kMostSingly || resource.gvk.empty()) continue;
    ASSIGN_OR_RETURN(std::vector<kube::Object> objects, List(resource, "", "", stop));
    for (kube::Object& object : objects) {
      const kube::ObjectKey key = object.key();
      listed_[gvk].emplace(key, std::move(object));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<kube::Object> LiveReader::Template(const Target& target,
                                                  const base::StopToken& stop) {
  const auto& [gvk, key] = target;
  const auto kind = listed_.find(gvk);
  if (kind != listed_.end()) {
    const auto found = kind->second.find(key);
    if (found != kind->second.end()) return found->second;
  }
  return client_.Get(ResourceOf(gvk), key, stop);
}

absl::StatusOr<LiveState> LiveReader::ReadNeeded(
    const std::vector<api::DependentReference>& references, const base::StopToken& stop) {
  for (const auto& reference : references) RETURN_IF_ERROR(TouchReference(reference, stop));
  return Drain(stop);
}

absl::StatusOr<std::vector<kube::Object>> LiveReader::List(const kube::Resource& resource,
                                                           const std::string& ns,
                                                           const std::string& labels,
                                                           const base::StopToken& stop) {
  auto page = client_.ListAll(resource, ns, {.label_selector = labels}, stop);
  if (!page.ok()) return base::Annotate(page.status(), "listing ", resource.plural);
  return std::move(page->items);
}

kube::Resource LiveReader::ResourceOf(const kube::Gvk& gvk) const {
  for (const kube::ApiResource& served : discovery_.resources) {
    if (served.resource.gvk == gvk) return served.resource;
  }
  return {};
}

absl::Status LiveReader::ReadScenery(const base::StopToken& stop) {
  std::vector<kube::Object> rules;
  for (const auto& [resources, out] :
       std::initializer_list<std::pair<std::vector<kube::Resource>, std::vector<kube::Object>*>>{
           {{api::Clusters()}, &state_.scenery},
           {{api::InterpreterCustomizations()}, &rules},
           {{api::OverridePolicies(), api::ClusterOverridePolicies()}, &overrides_},
           {{api::PropagationPolicies(), api::ClusterPropagationPolicies()}, &policies_}}) {
    for (const kube::Resource& resource : resources) {
      ASSIGN_OR_RETURN(std::vector<kube::Object> read, List(resource, "", "", stop));
      out->insert(out->end(), read.begin(), read.end());
    }
  }
  ReadAgentLeases(stop);  // The scenery has the Clusters, and nothing else yet.
  for (const auto* more : {&rules, &overrides_, &policies_}) {
    state_.scenery.insert(state_.scenery.end(), more->begin(), more->end());
  }
  for (const kube::Resource& resource : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
    ASSIGN_OR_RETURN(const std::vector<kube::Object> read, List(resource, "", "", stop));
    for (const kube::Object& binding : read) bindings_[binding.key()] = binding;
  }
  return absl::OkStatus();
}

// Who may not read them does without.
void LiveReader::ReadAgentLeases(const base::StopToken& stop) {
  const std::vector<kube::Object>& clusters = state_.scenery;
  const bool any_pull =
      std::any_of(clusters.begin(), clusters.end(),
                  [](const kube::Object& cluster) { return api::ClusterView(cluster).IsPull(); });
  if (!any_pull) return;
  absl::StatusOr<std::vector<kube::Object>> leases =
      List(api::Leases(), api::kClusterNamespace, "", stop);
  if (leases.ok()) state_.agent_leases = *std::move(leases);
}

void LiveReader::Add(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  if (seen_.emplace(gvk, key).second) open_.emplace_back(gvk, key);
}

absl::Status LiveReader::Touch(const kube::Object& file, const base::StopToken& stop) {
  if (IsPolicy(file) || IsOverride(file)) {
    const kube::ObjectKey key = KeyOf(file, !absl::StartsWith(file.kind(), "Cluster"));
    const kube::Object* now = FindSame(IsPolicy(file) ? policies_ : overrides_, file, key);
    if (now != nullptr) {
      TouchClaimed(*now);
      // What the policy selects at present may lose it by the change.
      RETURN_IF_ERROR(TouchSelected(*now, stop));
    }
    return TouchSelected(file, stop);
  }
  if (IsOf(file, api::InterpreterCustomizations())) {
    // Where additional targets do not count, their templates are read in vain.
    const auto read = interpreter::customized::ParseCustomization(file);
    for (const kube::Gvk& target : TargetsOf(read, {.combined = true})) TouchKind(target);
    return absl::OkStatus();
  }
  const kube::Resource resource = ResourceOf(file.gvk());
  const bool is_template = !resource.gvk.empty() && !api::IsKarmadaGroup(resource.gvk.group);
  if (is_template) Add(resource.gvk, KeyOf(file, resource.namespaced));
  return absl::OkStatus();
}

absl::Status LiveReader::TouchSelected(const kube::Object& policy, const base::StopToken& stop) {
  const bool cluster_wide = absl::StartsWith(policy.kind(), "Cluster");
  const std::string ns = cluster_wide ? "" : KeyOf(policy, true).ns;
  const auto selectors = api::ResourceSelector::ListFromJson(policy.spec()["resourceSelectors"]);
  for (const api::ResourceSelector& selector : selectors) {
    RETURN_IF_ERROR(TouchMatching(selector, ns, stop));
  }
  // An override without selectors is for everything that is propagated.
  if (!selectors.empty() || !IsOverride(policy)) return absl::OkStatus();
  for (const auto& [key, binding] : bindings_) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    if (cluster_wide || reference.ns == ns) Add(reference.gvk(), reference.key());
  }
  return absl::OkStatus();
}

absl::Status LiveReader::TouchMatching(const api::ResourceSelector& selector, const std::string& ns,
                                       const base::StopToken& stop) {
  const auto gvk = kube::ParseGvk(selector.api_version(), selector.kind());
  const kube::Resource resource = gvk.ok() ? ResourceOf(*gvk) : kube::Resource();
  if (resource.gvk.empty()) return absl::OkStatus();
  std::string where = ns.empty() ? std::string(selector.ns()) : ns;
  if (!resource.namespaced) where.clear();
  ASSIGN_OR_RETURN(const std::vector<kube::Object> objects, List(resource, where, "", stop));
  for (const kube::Object& object : objects) {
    if (selector.Rank(object) != api::SelectorMatch::kNone) Add(resource.gvk, object.key());
  }
  return absl::OkStatus();
}

void LiveReader::TouchClaimed(const kube::Object& policy) {
  for (const auto& [key, binding] : bindings_) {
    const bool claimed = (IsOf(policy, api::PropagationPolicies()) &&
                          api::policy_scope::Namespaced::ClaimOn(binding) == policy.key()) ||
                         (IsOf(policy, api::ClusterPropagationPolicies()) &&
                          api::policy_scope::Cluster::ClaimOn(binding) == policy.key());
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    if (claimed) Add(reference.gvk(), reference.key());
  }
}

void LiveReader::TouchKind(const kube::Gvk& target) {
  for (const auto& [key, binding] : bindings_) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    if (interpreter::customized::Covers(target, reference.gvk())) {
      Add(reference.gvk(), reference.key());
    }
  }
}

absl::Status LiveReader::TouchReference(const api::DependentReference& reference,
                                        const base::StopToken& stop) {
  const kube::Resource resource = ResourceOf(reference.gvk());
  if (resource.gvk.empty()) return absl::OkStatus();
  const std::string ns = resource.namespaced ? reference.ns : "";
  if (!reference.name.empty()) {
    Add(resource.gvk, {ns, reference.name});
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<kube::Object> objects, List(resource, ns, "", stop));
  for (const kube::Object& object : objects) {
    if (reference.Matches(object)) Add(resource.gvk, object.key());
  }
  return absl::OkStatus();
}

absl::StatusOr<LiveState> LiveReader::Drain(const base::StopToken& stop) {
  while (!open_.empty()) {
    const Target target = open_.front();
    open_.pop_front();
    RETURN_IF_ERROR(ReadTarget(target, stop));
  }
  RETURN_IF_ERROR(ReadWorks(stop));
  return std::exchange(state_, {});
}

absl::Status LiveReader::ReadTarget(const Target& target, const base::StopToken& stop) {
  const auto& [gvk, key] = target;
  RETURN_IF_ERROR(ReadDefinition(gvk, stop));
  absl::StatusOr<kube::Object> object = Template(target, stop);
  // The files may create it; deleted meanwhile is the same.
  if (kube::IsGone(object.status())) return absl::OkStatus();
  if (!object.ok()) return base::Annotate(object.status(), "reading ", gvk.kind);
  state_.templates.push_back(*std::move(object));
  const auto found = bindings_.find({key.ns, api::BindingName(gvk.kind, key.name)});
  if (found == bindings_.end()) return absl::OkStatus();
  const kube::Object& binding = found->second;
  const api::BindingView view(binding);
  if (view.Resource().gvk().kind != gvk.kind || binding.IsDeleting()) return absl::OkStatus();
  state_.bindings.push_back(binding);
  for (const api::DependentReference& reference : api::RecordedDependencies(binding)) {
    RETURN_IF_ERROR(TouchReference(reference, stop));
  }
  for (const api::BindingSnapshot& snapshot : view.RequiredBy()) {
    const auto referrer = bindings_.find({snapshot.ns, snapshot.name});
    if (referrer == bindings_.end()) continue;
    const api::ObjectReference reference = api::BindingView(referrer->second).Resource();
    Add(reference.gvk(), reference.key());
  }
  return absl::OkStatus();
}

absl::Status LiveReader::ReadDefinition(const kube::Gvk& gvk, const base::StopToken& stop) {
  if (!absl::StrContains(gvk.group, '.') || !defined_.insert(gvk).second) return absl::OkStatus();
  const std::string name = absl::StrCat(ResourceOf(gvk).plural, ".", gvk.group);
  absl::StatusOr<kube::Object> definition =
      client_.Get(sandbox::kinds::Definitions(), {"", name}, stop);
  // Kinds of Kubernetes itself and of aggregated servers have none.
  if (kube::IsGone(definition.status())) return absl::OkStatus();
  if (!definition.ok()) return base::Annotate(definition.status(), "reading the definition ", name);
  definition->Erase({"spec", "conversion"});  // Its webhook is not called.
  state_.definitions.push_back(*std::move(definition));
  return absl::OkStatus();
}

absl::Status LiveReader::ReadWorks(const base::StopToken& stop) {
  for (const char* label : {api::kResourceBindingIdLabel, api::kClusterResourceBindingIdLabel}) {
    std::vector<std::string> ids;
    for (const kube::Object& binding : state_.bindings) {
      if (!binding.Label(label).empty()) ids.emplace_back(binding.Label(label));
    }
    if (ids.size() > kMostRequests * kIdsPerRequest) {
      RETURN_IF_ERROR(ReadWorksOf(label, {ids.begin(), ids.end()}, stop));
      continue;
    }
    // Many ids in one request, but not more than a URL may be long.
    for (size_t i = 0; i < ids.size(); i += kIdsPerRequest) {
      const auto end = ids.begin() + std::min(ids.size(), i + kIdsPerRequest);
      const std::string selector =
          absl::StrCat(label, " in (", absl::StrJoin(ids.begin() + i, end, ","), ")");
      ASSIGN_OR_RETURN(const std::vector<kube::Object> read,
                       List(api::Works(), "", selector, stop));
      state_.works.insert(state_.works.end(), read.begin(), read.end());
    }
  }
  return absl::OkStatus();
}

// The server looks at all Works for each request.
absl::Status LiveReader::ReadWorksOf(const std::string& label, const std::set<std::string>& ids,
                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(std::vector<kube::Object> read, List(api::Works(), "", label, stop));
  for (kube::Object& work : read) {
    if (ids.contains(std::string(work.Label(label)))) state_.works.push_back(std::move(work));
  }
  return absl::OkStatus();
}

}  // namespace lens::plan
