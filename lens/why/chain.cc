// MakeChain files the objects of one reading: each where it belongs to the question, most nowhere.
// After all of them it looks for what needs the whole: what the template needs (what its binding
// records, and what the interpreter says unless a webhook would have to be asked), and the bindings
// that it follows. Nothing is asked of a server here, so that tests make chains of files. Below are
// the questions to a chain that several checks have: its targets, what could not be read, and
// events, of which the last one counts, since Karmada repeats an event while a failure lasts.

#include "lens/why/chain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_address.h"
#include "api/binding_owner.h"
#include "api/cluster.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/search_keys.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/meta/controller_ref.h"
#include "lens/why/agents.h"
#include "lens/why/expected.h"

namespace lens::why {
namespace {

using interpreter::Operation;

bool IsPolicy(const kube::Gvk& gvk) {
  return gvk == api::PropagationPolicies().gvk || gvk == api::ClusterPropagationPolicies().gvk;
}

bool IsOverride(const kube::Gvk& gvk) {
  return gvk == api::OverridePolicies().gvk || gvk == api::ClusterOverridePolicies().gvk;
}

bool IsBinding(const kube::Gvk& gvk) {
  return gvk == api::ResourceBindings().gvk || gvk == api::ClusterResourceBindings().gvk;
}

// Returns whether one of the Work's manifests is the object that is asked about.
bool IsWorkOf(const Question& question, const kube::Object& work) {
  const kube::Object wanted = kube::Object::Make(question.gvk, question.key);
  return api::WorkView(work).IndexOf(wanted).has_value();
}

bool NeedsIt(const kube::Object& binding, const Question& question, const kube::Object& object) {
  const api::BindingView view(binding);
  const api::ObjectReference own = view.Resource();
  const bool is_same_kind = own.gvk().group == question.gvk.group && own.kind == question.gvk.kind;
  if (is_same_kind && own.key() == question.key) return false;
  const std::vector<api::DependentReference> needed = api::RecordedDependencies(binding);
  return std::any_of(needed.begin(), needed.end(), [&](const api::DependentReference& reference) {
    return reference.Matches(object);
  });
}

// Returns whether the override policy that is asked about has changed what the Work brings.
bool IsChangedBy(const Question& asked, const kube::Object& work) {
  const std::vector<std::string> names = OverridesOf(work, asked.key.ns);
  return std::find(names.begin(), names.end(), asked.Describe()) != names.end();
}

// Files one object after the other.
class Filing {
 public:
  Filing(Chain& chain, const Objects& all) : chain_(chain), all_(all) {}

  void File(const kube::ObjectPtr& object) {
    const kube::Gvk gvk = object->gvk();
    if (gvk == chain_.asked.gvk && object->key() == chain_.asked.key) chain_.object = object;
    if (IsPolicy(gvk)) chain_.policies.push_back(object);
    if (IsOverride(gvk)) FileOverride(object);
    if (IsBinding(gvk)) FileBinding(object);
    if (gvk == api::Works().gvk) FileWork(object);
    const bool is_namesake = chain_.asked.gvk == api::Services().gvk &&
                             gvk == api::MultiClusterServices().gvk &&
                             object->key() == chain_.asked.key;
    if (is_namesake) chain_.service_owner = object;
    if (IsOwnGroup(chain_.asked.gvk.group)) FileForOwn(object);
    if (gvk == api::Clusters().gvk) chain_.clusters[std::string(object->name())] = object;
    if (gvk == api::Events().gvk) chain_.events.push_back(object);
    if (gvk == api::Leases().gvk) {
      auto& leases = object->ns() == api::kClusterNamespace ? chain_.agents : chain_.leases;
      leases[std::string(object->name())] = object;
    }
    if (gvk == api::Namespaces().gvk) chain_.namespaces.insert(std::string(object->name()));
    const bool is_of_cluster = chain_.asked.gvk == api::Clusters().gvk;
    const std::string space =
        is_of_cluster ? api::ExecutionNamespace(chain_.asked.key.name) : chain_.asked.key.ns;
    const bool is_space = gvk == api::Namespaces().gvk && object->name() == space;
    if (is_space) chain_.space = object;
  }

  // Asks the interpreter and the binding what the template needs, and looks for it among `all`.
  void FindDependencies() {
    if (chain_.object == nullptr) return;
    AddNeeded(chain_.binding == nullptr ? std::vector<api::DependentReference>()
                                        : api::RecordedDependencies(*chain_.binding));
    const kube::Gvk gvk = chain_.object->gvk();
    const interpreter::Interpreter& interpreter = chain_.rules->WithoutWebhooks();
    const bool asks = interpreter.HasRule(gvk, Operation::kInterpretDependency) &&
                      !chain_.rules->IsAnsweredByWebhook(gvk, Operation::kInterpretDependency);
    if (!asks) return;
    const auto needed = interpreter.GetDependencies(*chain_.object);
    if (needed.ok()) AddNeeded(api::DependenciesFromJson(*needed));
  }

  void FindReferrers() {
    if (chain_.binding == nullptr) return;
    for (const api::BindingSnapshot& by : api::BindingView(*chain_.binding).RequiredBy()) {
      const auto found = chain_.bindings.find({by.ns, by.name});
      if (found != chain_.bindings.end()) chain_.referrers.insert(*found);
    }
  }

 private:
  void FileOverride(const kube::ObjectPtr& object) {
    chain_.override_names.insert(object->key());
    const auto policy = std::make_shared<const overrides::Policy>(object);
    if (object->ns().empty()) {
      chain_.overrides.cluster_wide.push_back(policy);
    } else if (object->ns() == chain_.asked.key.ns) {
      chain_.overrides.of_namespace.push_back(policy);
    }
  }

  // Files what has to do with an object of Karmada's own.
  void FileForOwn(const kube::ObjectPtr& object) {
    const kube::Gvk gvk = object->gvk();
    const bool is_of_cluster = chain_.asked.gvk == api::Clusters().gvk &&
                               object->ns() == api::ExecutionNamespace(chain_.asked.key.name);
    const bool is_of_service =
        chain_.asked.gvk == api::MultiClusterServices().gvk &&
        api::CollectedServiceOf(*object, api::SliceCollector::kMultiClusterService) ==
            chain_.asked.key;
    const bool is_changed = IsOverride(chain_.asked.gvk) && gvk == api::Works().gvk &&
                            IsChangedBy(chain_.asked, *object);
    if (gvk == api::Works().gvk && (is_of_cluster || is_of_service || is_changed)) {
      chain_.own_works.push_back(object);
    }
    const bool is_taint_policy = gvk == api::ClusterTaintPolicies().gvk;
    if (is_taint_policy && chain_.asked.gvk == api::Clusters().gvk) {
      chain_.taint_policies.push_back(object);
    }
    if (IsBinding(gvk)) chain_.own_bindings.push_back(object);
    const bool is_autoscaler = gvk == api::FederatedHpas().gvk ||
                               gvk == api::CronFederatedHpas().gvk ||
                               gvk == api::HorizontalPodAutoscalers().gvk;
    if (is_autoscaler) chain_.autoscalers.push_back(object);
    const bool selects = IsPolicy(chain_.asked.gvk) || IsOverride(chain_.asked.gvk);
    const bool is_template = !api::IsKarmadaGroup(gvk.group) && gvk != api::Events().gvk &&
                             gvk != api::Leases().gvk && selects;
    const bool is_rule = gvk == api::InterpreterCustomizations().gvk;
    if (is_rule && chain_.asked.gvk == gvk) chain_.customizations.push_back(object);
    if (is_template) chain_.candidates.push_back(object);
  }

  void FileBinding(const kube::ObjectPtr& object) {
    const api::BindingAddress at = api::BindingOf(chain_.asked.gvk.kind, chain_.asked.key);
    if (object->gvk() == at.resource.gvk && object->key() == at.key) chain_.binding = object;
    chain_.bindings[object->key()] = object;
    kube::Object template_object = kube::Object::Make(chain_.asked.gvk, chain_.asked.key);
    if (NeedsIt(*object, chain_.asked, template_object)) chain_.dependents.push_back(object);
  }

  void FileWork(const kube::ObjectPtr& object) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(object->ns());
    if (cluster.ok() && IsWorkOf(chain_.asked, *object)) chain_.works[*cluster] = object;
  }

  void AddNeeded(std::vector<api::DependentReference> references) {
    for (api::DependentReference& reference : references) {
      const bool known =
          std::find(chain_.needed.begin(), chain_.needed.end(), reference) != chain_.needed.end();
      if (known || reference.name.empty()) continue;
      const bool exists = std::any_of(all_.begin(), all_.end(), [&](const kube::ObjectPtr& object) {
        return reference.Matches(*object);
      });
      if (!exists) chain_.missing.push_back(reference);
      chain_.needed.push_back(std::move(reference));
    }
  }

  Chain& chain_;
  const Objects& all_;
};

// An earlier object of the same name has another uid; some clients leave the uid out.
bool IsAbout(const json::Value& involved, const kube::Object& object) {
  const absl::string_view uid = involved["uid"].AsString();
  return involved["kind"].AsString() == object.kind() &&
         involved["name"].AsString() == object.name() &&
         involved["namespace"].AsString() == object.ns() &&
         (uid.empty() || object.uid().empty() || uid == object.uid());
}

// Returns when the daemon that works now took over. What still fails then is reported again.
absl::Time DaemonStart(const Chain& chain) {
  const auto lease = chain.leases.find(api::kControllerManager);
  if (lease == chain.leases.end()) return absl::InfinitePast();
  const auto acquired = kube::ParseTime(lease->second->spec()["acquireTime"].AsString());
  return acquired.ok() ? *acquired : absl::InfinitePast();
}

}  // namespace

bool IsOwnGroup(absl::string_view group) {
  return api::IsKarmadaGroup(group) || group == api::kSearchGroup;
}

std::string Question::Describe() const { return absl::StrCat(gvk.kind, " ", key.ToString()); }

std::string Question::Kubectl(absl::string_view verb) const {
  // The kinds of Kubernetes itself have names that no other kind has.
  const bool is_own = !absl::StrContains(gvk.group, ".") || absl::EndsWith(gvk.group, ".k8s.io");
  return absl::StrCat("kubectl", key.ns.empty() ? "" : " -n ", key.ns, " ", verb, " ",
                      absl::AsciiStrToLower(gvk.kind),
                      is_own ? "" : absl::StrCat(".", gvk.version, ".", gvk.group), " ", key.name);
}

std::string Question::CommandFor(const kube::Gvk& other, const kube::ObjectKey& at) const {
  return absl::StrCat("karmada-lens why ", other.kind, "/", at.name, at.ns.empty() ? "" : " -n ",
                      at.ns, flags);
}

std::string Question::AskAbout(const kube::Gvk& other, const kube::ObjectKey& at) const {
  return absl::StrCat("ask about it: ", CommandFor(other, at));
}

std::vector<api::TargetCluster> Chain::Targets() const {
  std::vector<api::TargetCluster> targets;
  if (binding != nullptr) targets = api::BindingView(*binding).DispatchTargets();
  const bool goes_by_itself =
      binding == nullptr && IsNamespace() && object != nullptr && is_synced(*object);
  if (goes_by_itself) {
    for (const auto& [name, cluster] : clusters) targets.push_back({name});
  }
  std::sort(targets.begin(), targets.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [this](const auto& target) { return !Concerns(target.name); }),
                targets.end());
  return targets;
}

bool Chain::CouldRead(const kube::Gvk& gvk, const kube::ObjectKey& key) const {
  const auto overlap = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
  };
  return std::none_of(unreadable.begin(), unreadable.end(), [&](const Unread& entry) {
    return entry.gvk == gvk && overlap(entry.key.ns, key.ns) && overlap(entry.key.name, key.name);
  });
}

bool Chain::CouldReadPolicies() const {
  return CouldRead(api::PropagationPolicies().gvk, {asked.key.ns, ""}) &&
         CouldRead(api::ClusterPropagationPolicies().gvk);
}

bool Chain::CouldReadBinding() const {
  if (IsOwnGroup(asked.gvk.group)) {
    return CouldRead(api::ResourceBindings().gvk, {asked.key.ns, ""}) &&
           CouldRead(api::ClusterResourceBindings().gvk);
  }
  const api::BindingAddress at = api::BindingOf(asked.gvk.kind, asked.key);
  return CouldRead(at.resource.gvk, at.key);
}

bool Chain::CouldReadMembers() const {
  const std::vector<api::TargetCluster> targets = Targets();
  return std::all_of(targets.begin(), targets.end(), [this](const api::TargetCluster& target) {
    const auto answer = members.find(target.name);
    return answer == members.end() || answer->second.status.ok() ||
           AgentVouches(*this, target.name);
  });
}

std::vector<std::string> Chain::UnreadWithMembers() const {
  std::vector<std::string> all;
  for (const auto& [name, answer] : members) {
    const auto cluster = clusters.find(name);
    const bool has_no_credentials = absl::IsFailedPrecondition(answer.status) &&
                                    cluster != clusters.end() &&
                                    api::ClusterView(*cluster->second).IsPush();
    if (answer.status.ok() || has_no_credentials || !Concerns(name)) continue;
    if (AgentVouches(*this, name)) continue;
    const bool refuses = absl::IsUnauthenticated(answer.status);
    const std::string agent = AgentState(*this, name);
    all.push_back(absl::StrCat(name, refuses ? " refuses the question: " : " does not answer: ",
                               answer.status.message(), agent.empty() ? "" : ", and ", agent));
  }
  all.insert(all.end(), unread.begin(), unread.end());
  return all;
}

bool Chain::OwnsBinding() const {
  return api::CheckBindingOwner(*binding, kube::ControllerRef(*object)).ok();
}

absl::StatusOr<Chain> EmptyChain(Question question, absl::Time now) {
  ASSIGN_OR_RETURN(
      detector::TemplateFilter filter,
      detector::TemplateFilter::Create(question.skipped_apis, question.skipped_namespaces));
  ASSIGN_OR_RETURN(controllers::IsSynced is_synced,
                   controllers::SyncedNamespaces(question.skipped_namespaces));
  return Chain{std::move(question), now, std::move(filter), std::move(is_synced)};
}

void FileObjects(const Objects& objects, Chain& chain) {
  Filing filing(chain, objects);
  for (const kube::ObjectPtr& object : objects) filing.File(object);
}

void FindNeeds(const Objects& objects, Chain& chain) {
  Filing filing(chain, objects);
  filing.FindDependencies();
  filing.FindReferrers();
}

absl::StatusOr<Chain> MakeChain(Question question, const Objects& objects, absl::Time now) {
  ASSIGN_OR_RETURN(Chain chain, EmptyChain(std::move(question), now));
  chain.rules = std::make_shared<const Rules>(objects, chain.asked.merge);
  FileObjects(objects, chain);
  FindNeeds(objects, chain);
  return chain;
}

api::ManifestStatus StatusIn(const Chain& chain, const kube::Object& work) {
  const api::WorkView view(work);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  for (const api::ManifestStatus& status : view.ManifestStatuses()) {
    if (index.has_value() && status.identifier.ordinal == *index) return status;
  }
  return {};
}

std::string HealthIn(const Chain& chain, const kube::Object& work) {
  return StatusIn(chain, work).health;
}

absl::Time EventTime(const kube::Object& event) {
  absl::Time latest = absl::InfinitePast();
  for (const absl::string_view field : {"eventTime", "firstTimestamp", "lastTimestamp"}) {
    const auto time = kube::ParseTime(event.root()[field].AsString());
    if (time.ok()) latest = std::max(latest, *time);
  }
  return latest;
}

kube::ObjectPtr LastEvent(const Chain& chain, const kube::Object& object,
                          std::initializer_list<absl::string_view> reasons) {
  kube::ObjectPtr last;
  for (const kube::ObjectPtr& event : chain.events) {
    if (!IsAbout(event->root()["involvedObject"], object)) continue;
    const absl::string_view reason = event->root()["reason"].AsString();
    const bool wanted = std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
    if (!wanted && reasons.size() > 0) continue;
    if (last == nullptr || EventTime(*event) >= EventTime(*last)) last = event;
  }
  return last;
}

bool IsSchedulingBehind(const kube::Object& binding) {
  return api::BindingView(binding).SchedulerObservedGeneration() != binding.generation();
}

std::string StandingFailure(const Chain& chain, const kube::Object& about, absl::string_view failed,
                            absl::string_view succeeded) {
  const kube::ObjectPtr last = LastEvent(chain, about, {failed, succeeded});
  if (last == nullptr || last->root()["reason"].AsString() != failed) return "";
  const absl::Time time = EventTime(*last);
  if (time != absl::InfinitePast() && time < DaemonStart(chain)) return "";
  // Times of events are seconds, and upstream often fails once at what has just been made and
  // succeeds at once. Of two in the same second the success is the later one: a failure that goes
  // on is said again.
  const kube::ObjectPtr success = LastEvent(chain, about, {succeeded});
  if (success != nullptr && EventTime(*success) >= time) return "";
  return last->root()["message"].ToString();
}

}  // namespace lens::why
