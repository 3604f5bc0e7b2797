// Objects are collected first, and filed by MakeChain like those of a snapshot. What has to be read
// depends on what was read before (the binding names clusters, clusters have Works and namespaces,
// the template needs others), so that the chain is made again after each round.

#include "lens/why/chain_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "lens/why/agents.h"
#include "lens/why/matching.h"
#include "lens/why/member_questions.h"
#include "lens/why/member_reader.h"
#include "lens/why/questions.h"
#include "lens/why/seen_now.h"
#include "overrides/policy.h"

namespace lens::why {
namespace {

constexpr size_t kMostWorks = 10;   // The first ones stand for all.
constexpr size_t kMostMissing = 3;  // Those that are looked for in other namespaces.
constexpr const char* kLeases[] = {api::kControllerManager, api::kScheduler};

class Reader {
 public:
  Reader(const ControlPlane& plane, const Question& question, const base::StopToken& stop)
      : plane_(plane), question_(question), stop_(stop) {}

  absl::StatusOr<Chain> Read() {
    const kube::Resource* resource = ServedAs(plane_.discovery, question_.gvk);
    if (resource == nullptr) return kube::NoSuchKindError(question_.gvk);
    RETURN_IF_ERROR(kube::IgnoreGone(TryGet(*resource, question_.key)));
    if (std::optional<Question> about = AboutItsObject(question_, FirstRead(), plane_.discovery)) {
      return Reader(plane_, *about, stop_).Read();
    }
    if (IsOwnGroup(question_.gvk.group)) return ReadOwnObject();
    ReadConfiguration();
    ReadContents();
    ASSIGN_OR_RETURN(Chain chain, Make());
    ReadWorks(chain);
    ASSIGN_OR_RETURN(chain, Make());  // Whose Works have events depends on what they say.
    ReadDependencies(chain);
    ReadSpace(chain);
    ReadEvents(chain);
    ASSIGN_OR_RETURN(chain, Make());
    const MemberQuestion members{*resource, question_.key, ClustersToAsk(chain)};
    const auto secret = [this](const kube::ObjectKey& key) { return Secret(key); };
    chain.members = AskMembers(members, plane_.config, secret, stop_);
    NoteSecrets(chain);
    const Asking asking{plane_.config, plane_.discovery, secret, stop_};
    AskOthers(asking, *resource, chain);
    AskForNeeds(asking, chain);
    AskForPods(asking, chain);
    chain.spaces =
        AskMembers({api::Namespaces(), {"", question_.key.ns}, ClustersWithoutNamespace(chain)},
                   plane_.config, secret, stop_);
    chain.unread = unread_;
    chain.unreadable = unreadable_;
    if (chain.object == nullptr) LookElsewhere(*resource, chain);
    if (chain.object != nullptr) {
      chain.object = WithOwners(plane_.client, *resource, *chain.object, stop_);
    }
    LookForMissing(chain);
    return chain;
  }

 private:
  absl::StatusOr<Chain> Make() { return MakeChain(question_, objects_, absl::Now()); }

  // Reads the bindings that a policy governs, and the objects that it may select: those of its
  // namespace, or of the namespaces that the selectors of a ClusterPropagationPolicy name. Without
  // a namespace there, all of them if it governs nothing, else those that it has claimed.
  void ReadForPolicy(const kube::Object& policy) {
    List(policy.ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings(),
         policy.ns());
    if (policy.ns().empty()) List(api::ResourceBindings(), "");
    // One of them may govern what this one selects. Who may not list them does without.
    TryList(api::PropagationPolicies(), policy.ns()).IgnoreError();
    TryList(api::ClusterPropagationPolicies(), "").IgnoreError();
    const bool governs = AnyIsGovernedBy(objects_, policy);
    ReadSelected(policy, governs ? ClaimSelector(policy) : "");
  }

  // Reads what else answers for the kind of a customization, and what an override policy may
  // select; notes kinds that one of them names and that are not served.
  void ReadForConfiguration(const kube::Object& object) {
    const kube::Gvk& gvk = question_.gvk;
    const bool is_override =
        gvk == api::OverridePolicies().gvk || gvk == api::ClusterOverridePolicies().gvk;
    if (gvk == api::InterpreterCustomizations().gvk) {
      List(api::InterpreterCustomizations(), "");
      NoteUnserved(object.spec()["target"]);
    }
    if (is_override) ReadSelected(object, "");
    if (is_override) ReadChanged(object);
  }

  // Reads what the policy may select: objects of its namespace, or of those that its selectors
  // name; where they name none, those of all namespaces with the labels. Of each only what a
  // selector may be about.
  void ReadSelected(const kube::Object& policy, const std::string& labels_anywhere) {
    std::set<std::pair<kube::Gvk, std::string>> read;
    for (const json::Value& selector : policy.spec()["resourceSelectors"].items()) {
      const kube::Resource* resource = NoteUnserved(selector);
      if (resource == nullptr) continue;
      std::string ns =
          policy.ns().empty() ? selector["namespace"].ToString() : std::string(policy.ns());
      if (!resource->namespaced) ns = "";
      if (!read.insert({resource->gvk, ns}).second) continue;
      kube::ListOptions options;
      options.fields = {"metadata"};
      if (resource->namespaced && ns.empty()) options.label_selector = labels_anywhere;
      List(*resource, ns, options);
    }
  }

  // Reads the Works of what the override policy selects, by which one sees whether clusters take
  // what it makes. Who may not read them does without.
  void ReadChanged(const kube::Object& object) {
    const overrides::Policy policy(kube::Share(kube::Object(object)));
    std::vector<std::string> names;
    for (const kube::ObjectPtr& selected : objects_) {
      if (names.size() == kMostWorks) break;
      if (IsOwnGroup(selected->gvk().group) || policy.rules().empty()) continue;
      if (policy.Rank(*selected) == api::SelectorMatch::kNone) continue;
      names.push_back(api::WorkName(selected->kind(), selected->name(), selected->ns()));
    }
    for (const std::string& name : names) {
      kube::ListOptions options;
      options.field_selector = absl::StrCat("metadata.name=", name);
      TryList(api::Works(), "", options).IgnoreError();
    }
  }

  // Returns how the kind is served that `named` has; nullptr when it is not, which is noted.
  const kube::Resource* NoteUnserved(const json::Value& named) {
    const auto gvk = kube::ParseGvk(named["apiVersion"].AsString(), named["kind"].AsString());
    if (!gvk.ok()) return nullptr;
    const kube::Resource* resource = ServedFirst(plane_.discovery, *gvk);
    if (resource == nullptr) unserved_.push_back(Unserved(plane_.discovery, *gvk));
    return resource;
  }

  // Reads what else scales what an autoscaler scales, and the target's binding. Returns the target
  // if it does not exist; "" otherwise.
  std::string ReadForAutoscaler(const kube::Object& autoscaler) {
    const json::Value& reference = autoscaler.spec()["scaleTargetRef"];
    const auto gvk =
        kube::ParseGvk(reference["apiVersion"].AsString(), reference["kind"].AsString());
    if (reference.is_null() || !gvk.ok()) return "";
    for (const kube::Resource* kind :
         {&api::FederatedHpas(), &api::CronFederatedHpas(), &api::HorizontalPodAutoscalers()}) {
      TryList(*kind, autoscaler.ns()).IgnoreError();
    }
    const kube::Resource* resource = ServedAs(plane_.discovery, *gvk);
    const kube::ObjectKey key{std::string(autoscaler.ns()), reference["name"].ToString()};
    if (resource == nullptr) return Unserved(plane_.discovery, *gvk);
    const api::BindingAddress at = api::BindingOf(gvk->kind, key);
    target_is_unbound_ =
        kube::IsGone(TryGet(at.resource, at.key)) && !api::IsKarmadaGroup(gvk->group);
    const absl::Status got = plane_.client.Get(*resource, key, stop_).status();
    return kube::IsGone(got) ? absl::StrCat(gvk->kind, " ", key.ToString()) : "";
  }

  // An object of Karmada's own has no way: what it says of itself is read, and what it is for.
  absl::StatusOr<Chain> ReadOwnObject() {
    List(api::Clusters(), "");
    ReadLeases();
    EventsAbout(question_.gvk.kind, question_.key);
    const bool is_policy = question_.gvk == api::PropagationPolicies().gvk ||
                           question_.gvk == api::ClusterPropagationPolicies().gvk;
    const kube::ObjectPtr object = FirstRead();
    if (is_policy && object != nullptr) ReadForPolicy(*object);
    if (question_.gvk == api::Clusters().gvk && object != nullptr) {
      List(api::Works(), api::ExecutionNamespace(question_.key.name));
      TryList(api::ClusterTaintPolicies(), "").IgnoreError();
      const std::string space = api::ExecutionNamespace(question_.key.name);
      TryGet(api::Namespaces(), {"", space}).IgnoreError();
      if (object->IsDeleting()) List(api::ResourceBindings(), "");
      if (object->IsDeleting()) List(api::ClusterResourceBindings(), "");
    }
    if (object != nullptr) ReadForConfiguration(*object);
    std::string lost_target;
    if (object != nullptr) lost_target = ReadForAutoscaler(*object);
    if (question_.gvk == api::FederatedResourceQuotas().gvk) {
      List(api::ResourceBindings(), question_.key.ns);
    }
    if (question_.gvk == api::MultiClusterServices().gvk && object != nullptr) {
      lost_target = ReadForMultiClusterService();
    }
    ASSIGN_OR_RETURN(Chain chain, Make());
    chain.unread = unread_;
    chain.unreadable = unreadable_;
    chain.unserved = unserved_;
    chain.lost_target = std::move(lost_target);
    chain.target_is_unbound = target_is_unbound_;
    const bool is_tainted = question_.gvk == api::Clusters().gvk && chain.object != nullptr &&
                            !chain.object->spec()["taints"].empty();
    if (is_tainted) {
      chain.object = WithOwners(plane_.client, api::Clusters(), *chain.object, stop_);
    }
    const kube::Resource* kind = ServedAs(plane_.discovery, question_.gvk);
    if (object == nullptr && kind != nullptr) LookElsewhere(*kind, chain);
    return chain;
  }

  // Reads the Works that bring the service's endpoints. Returns its Service if that does not exist;
  // "" otherwise.
  std::string ReadForMultiClusterService() {
    kube::ListOptions options;
    options.label_selector =
        absl::StrCat(api::kMultiClusterServiceNameLabel, "=", question_.key.name, ",",
                     api::kMultiClusterServiceNamespaceLabel, "=", question_.key.ns);
    List(api::Works(), "", options);
    const bool is_gone = kube::IsGone(TryGet(api::Services(), question_.key));
    return is_gone ? absl::StrCat(api::Services().gvk.kind, " ", question_.key.ToString()) : "";
  }

  // Finds out where else there is such an object as the one that is asked about, and whether there
  // is such a namespace at all.
  void LookElsewhere(const kube::Resource& resource, Chain& chain) {
    chain.elsewhere = NamespacesWith(plane_.client, resource, question_.key.name, stop_);
    if (!resource.namespaced) return;
    absl::StatusOr<kube::Object> got =
        plane_.client.Get(api::Namespaces(), {"", question_.key.ns}, stop_);
    chain.lacks_space = kube::IsGone(got.status());
    if (got.ok()) chain.space = kube::Share(*std::move(got));
  }

  // Looks in other namespaces for what the template needs and does not exist.
  void LookForMissing(Chain& chain) {
    for (const api::DependentReference& missing : chain.missing) {
      const kube::Resource* resource = ServedAs(plane_.discovery, missing.gvk());
      if (resource == nullptr || chain.missing_elsewhere.size() == kMostMissing) continue;
      chain.missing_elsewhere[missing.Describe()] =
          NamespacesWith(plane_.client, *resource, missing.name, stop_);
    }
  }

  // Reads what says why members do not have the namespace. Who may not read it does without.
  void ReadSpace(const Chain& chain) {
    if (question_.key.ns.empty() || ClustersWithoutNamespace(chain).empty()) return;
    TryGet(api::Namespaces(), {"", question_.key.ns}).IgnoreError();
    const api::BindingAddress at = api::BindingOf("Namespace", {"", question_.key.ns});
    TryGet(at.resource, at.key).IgnoreError();
  }

  // Reads the bindings in a Namespace that is being deleted, which do not go without the daemon.
  // Who may not read them does without.
  void ReadContents() {
    const kube::ObjectPtr object = FirstRead();
    if (question_.gvk != api::Namespaces().gvk || object == nullptr) return;
    if (object->IsDeleting()) TryList(api::ResourceBindings(), object->name()).IgnoreError();
  }

  // Returns the object that is asked about; nullptr when there is none.
  kube::ObjectPtr FirstRead() const { return objects_.empty() ? nullptr : objects_[0]; }

  absl::Status TryGet(const kube::Resource& resource, const kube::ObjectKey& key) {
    absl::StatusOr<kube::Object> object = plane_.client.Get(resource, key, stop_);
    RETURN_IF_ERROR(object.status());
    objects_.push_back(kube::Share(*std::move(object)));
    return absl::OkStatus();
  }

  // Records what could not be read; that something does not exist, or is not served, is an answer.
  void Note(const absl::Status& status, const kube::Gvk& gvk, const kube::ObjectKey& key) {
    const absl::Status failed = kube::IgnoreGone(status);
    if (failed.ok() || kube::IsNoSuchKind(failed)) return;
    unread_.emplace_back(failed.message());
    unreadable_.push_back({gvk, key});
  }

  void Get(const kube::Resource& resource, const kube::ObjectKey& key) {
    Note(TryGet(resource, key), resource.gvk, key);
  }

  absl::Status TryList(const kube::Resource& resource, absl::string_view ns,
                       const kube::ListOptions& options = {}) {
    absl::StatusOr<kube::ListPage> page = plane_.client.ListAll(resource, ns, options, stop_);
    RETURN_IF_ERROR(page.status());
    for (kube::Object& object : page->items) objects_.push_back(kube::Share(std::move(object)));
    return absl::OkStatus();
  }

  void List(const kube::Resource& resource, absl::string_view ns,
            const kube::ListOptions& options = {}) {
    Note(TryList(resource, ns, options), resource.gvk, {std::string(ns), ""});
  }

  // Only policies of the template's namespace can govern it. Those of others are read for hints;
  // who may not list them does without.
  void ReadPropagationPolicies() {
    const kube::Resource& resource = api::PropagationPolicies();
    const absl::Status all = TryList(resource, "");
    if (all.ok() || !absl::IsPermissionDenied(all)) return Note(all, resource.gvk, {});
    if (!question_.key.ns.empty()) List(resource, question_.key.ns);
  }

  void ReadConfiguration() {
    ReadPropagationPolicies();
    List(api::ClusterPropagationPolicies(), "");
    if (!question_.key.ns.empty()) List(api::OverridePolicies(), question_.key.ns);
    List(api::ClusterOverridePolicies(), "");
    List(api::Clusters(), "");
    List(api::InterpreterCustomizations(), "");
    List(api::InterpreterWebhookConfigurations(), "");
    List(api::ExploringWebhookConfigurations(), "");
    const api::BindingAddress at = api::BindingOf(question_.gvk.kind, question_.key);
    Get(at.resource, at.key);
    const bool is_service = question_.gvk == api::Services().gvk;
    if (is_service) TryGet(api::MultiClusterServices(), question_.key).IgnoreError();
    ReadLeases();
  }

  // REQUIRES: the Clusters have been read. Who may not read the Leases of agents does without.
  void ReadLeases() {
    for (const char* lease : kLeases) Get(api::Leases(), {api::kSystemNamespace, lease});
    if (AnyIsPull(objects_)) TryList(api::Leases(), api::kClusterNamespace).IgnoreError();
  }

  // Works are looked for by the binding's id; without it, one after the other by their name.
  void ReadWorks(const Chain& chain) {
    const std::string id =
        chain.binding == nullptr ? "" : std::string(api::BindingView(*chain.binding).PermanentId());
    if (!id.empty()) {
      const bool namespaced = !chain.binding->ns().empty();
      kube::ListOptions options;
      options.label_selector = absl::StrCat(
          namespaced ? api::scope::Namespaced::kIdLabel : api::scope::Cluster::kIdLabel, "=", id);
      List(api::Works(), "", options);
    }
    const std::string name =
        api::WorkName(question_.gvk.kind, question_.key.name, question_.key.ns);
    for (const auto& [cluster, object] : chain.clusters) {
      if (!chain.Concerns(cluster)) continue;
      if (id.empty()) Get(api::Works(), {api::ExecutionNamespace(cluster), name});
    }
    for (const api::TargetCluster& target : chain.Targets()) {
      Get(api::Namespaces(), {"", api::ExecutionNamespace(target.name)});
    }
    ReadDependents(chain);
  }

  // Who needs a template that nobody has taken along may be any binding of the namespace.
  void ReadDependents(const Chain& chain) {
    if (chain.binding == nullptr) {
      if (!question_.key.ns.empty()) List(api::ResourceBindings(), question_.key.ns);
      return;
    }
    for (const api::BindingSnapshot& by : api::BindingView(*chain.binding).RequiredBy()) {
      const kube::Resource& resource =
          by.ns.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
      Get(resource, {by.ns, by.name});
    }
  }

  void ReadDependencies(const Chain& chain) {
    for (const api::DependentReference& reference : chain.needed) {
      const kube::Resource* resource = ServedAs(plane_.discovery, reference.gvk());
      if (resource == nullptr) continue;
      const kube::ObjectKey key{resource->namespaced ? reference.ns : "", reference.name};
      Get(*resource, key);
      const api::BindingAddress at = api::BindingOf(reference.kind, key);
      if (chain.binding != nullptr) Get(at.resource, at.key);
    }
  }

  // Reads the events about an object; those of cluster-scoped ones are in the namespace default.
  void EventsAbout(absl::string_view kind, const kube::ObjectKey& key) {
    kube::ListOptions options;
    options.field_selector =
        absl::StrCat("involvedObject.kind=", kind, ",involvedObject.name=", key.name);
    List(api::Events(), key.ns.empty() ? "default" : key.ns, options);
  }

  // Works whose objects are not healthy, or have no health, may have events that say why.
  void ReadWorkEvents(const Chain& chain) {
    size_t count = 0;
    for (const auto& [cluster, work] : chain.works) {
      const bool is_healthy = HealthIn(chain, *work) == api::kHealthy;
      if (is_healthy || !api::WorkView(*work).IsApplied() || !chain.Concerns(cluster)) continue;
      if (++count <= kMostWorks) EventsAbout(work->kind(), work->key());
    }
  }

  void ReadEvents(const Chain& chain) {
    ReadWorkEvents(chain);
    EventsAbout(question_.gvk.kind, question_.key);
    if (chain.binding != nullptr) EventsAbout(chain.binding->kind(), chain.binding->key());
    const std::vector<Match> matches = Matches(chain);
    if (!matches.empty()) EventsAbout(matches[0].policy->kind(), matches[0].policy->key());
  }

  kube::ObjectPtr Secret(const kube::ObjectKey& key) {
    absl::StatusOr<kube::Object> secret = plane_.client.Get(api::Secrets(), key, stop_);
    if (!secret.ok()) unread_secrets_[key] = secret.status();
    return secret.ok() ? kube::Share(*std::move(secret)) : nullptr;
  }

  // Without its Secret a member may still have answered, through the control plane's proxy.
  void NoteSecrets(const Chain& chain) {
    for (const auto& [name, answer] : chain.members) {
      const auto cluster = chain.clusters.find(name);
      if (answer.status.ok() || cluster == chain.clusters.end()) continue;
      const kube::ObjectKey key = api::ClusterView(*cluster->second).SecretRef();
      const auto failed = unread_secrets_.find(key);
      if (failed != unread_secrets_.end()) Note(failed->second, api::Secrets().gvk, key);
    }
  }

  const ControlPlane& plane_;
  const Question& question_;
  const base::StopToken& stop_;
  Objects objects_;
  std::vector<std::string> unread_;
  std::vector<Unread> unreadable_;
  std::vector<std::string> unserved_;
  bool target_is_unbound_ = false;
  std::map<kube::ObjectKey, absl::Status> unread_secrets_;
};

}  // namespace

absl::StatusOr<Chain> ReadChain(const ControlPlane& control_plane, Question question,
                                const base::StopToken& stop) {
  return Reader(control_plane, question, stop).Read();
}

}  // namespace lens::why
