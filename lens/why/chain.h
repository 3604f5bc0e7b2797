// Everything that decides what becomes of one template, read once: the template, policies, binding,
// Works, clusters, the members' objects, events.
//
// A chain is data. The checks (checks.h) draw conclusions from it, and the report (report.h) shows
// it; neither asks a server.
#ifndef LENS_WHY_CHAIN_H_
#define LENS_WHY_CHAIN_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/binding.h"
#include "api/dependencies.h"
#include "api/work.h"
#include "config/options.h"
#include "controllers/context/synced_namespaces.h"
#include "detector/template_filter.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/why/rules.h"
#include "overrides/policy.h"

namespace lens::why {

// What is asked about.
struct Question {
  kube::Gvk gvk;
  kube::ObjectKey key;
  std::string cluster;  // "" stands for all clusters.
  std::string through;  // The binding or Work by which it was asked about; "" for none.
  std::string flags;    // " --kubeconfig FILE": how the control plane was named; "" for by default.
  // The daemon's flags of these names, which no object of the control plane records.
  std::string skipped_apis;
  std::vector<std::string> skipped_namespaces = config::Options().skipped_propagating_namespaces;

  interpreter::customized::MergeOptions merge;  // As the daemon puts customizations together.

  // Returns "Deployment shop/web".
  std::string Describe() const;
  // Returns "kubectl -n shop annotate deployment web" for the verb "annotate".
  std::string Kubectl(absl::string_view verb) const;
  // Returns the command that asks about an object of the control plane, with the flags that this
  // question was asked with: "karmada-lens why Deployment/web -n shop".
  std::string CommandFor(const kube::Gvk& other, const kube::ObjectKey& at) const;
  // Returns the advice to ask about another object of the control plane, with the flags that this
  // question was asked with: "ask about it: karmada-lens why Deployment/web -n shop".
  std::string AskAbout(const kube::Gvk& other, const kube::ObjectKey& at) const;
};

// What a member said when it was asked for the object.
struct MemberAnswer {
  absl::Status status;     // Why it could not be asked; OK when it has answered.
  kube::ObjectPtr object;  // nullptr when it has no such object.
  // What became of the question with the credentials of its Cluster, which the daemon uses, too.
  // The answer may have come another way.
  absl::Status direct = {};
};

using Objects = std::vector<kube::ObjectPtr>;

// The Pods of the workload that a member has shown: one page of them.
struct MemberPods {
  absl::Status status;  // Why they could not be read; OK when they were.
  Objects pods;
  bool has_more = false;  // There are more than were read.
};

// Objects that could not be read, for example for want of rights.
struct Unread {
  kube::Gvk gvk;
  kube::ObjectKey key;  // Without a name it stands for all of them, without a namespace likewise.
};

// Returns whether objects of the API group do their work in the control plane: those of Karmada's
// own groups, and the registries of karmada-search.
bool IsOwnGroup(absl::string_view group);

struct Chain {
  Question asked;
  absl::Time now;
  detector::TemplateFilter filter;
  controllers::IsSynced is_synced;  // Which Namespaces go to every cluster by themselves.

  kube::ObjectPtr object;   // The template; nullptr when there is none.
  Objects policies;         // Of both kinds, of every namespace.
  kube::ObjectPtr binding;  // nullptr when there is none.
  Objects dependents;       // Bindings whose templates need the template.
  std::map<kube::ObjectKey, kube::ObjectPtr> referrers;  // Those that its requiredBy names.
  std::map<std::string, kube::ObjectPtr> works;          // By cluster.
  std::map<std::string, kube::ObjectPtr> clusters;       // By name.
  overrides::Policies overrides;                         // Those that may apply to the template.
  std::set<kube::ObjectKey> override_names;              // Of both kinds.
  // What has to do with an object of Karmada's own that is asked about: the Works in a cluster, the
  // bindings that a policy governs, and objects that it may select.
  Objects own_works, own_bindings, candidates;
  Objects customizations;  // All of them, when one is asked about.
  // What a policy selects and the control plane does not serve: "apps/v1 Deploymant (did you mean
  // apps/v1 Deployment?)"; and what an autoscaler scales, or a MultiClusterService is for, and does
  // not exist: "Deployment shop/web".
  std::vector<std::string> unserved;
  std::string lost_target;
  // All autoscalers of the namespace of an autoscaler that is asked about, and whether what that
  // one scales has no binding.
  Objects autoscalers;
  bool target_is_unbound = false;
  // The namespaces that have an object of the kind and name where the asked one has not.
  std::vector<std::string> elsewhere;
  Objects events;
  std::map<std::string, kube::ObjectPtr> leases;  // Those of Karmada's programs, by name.
  std::map<std::string, kube::ObjectPtr>
      agents;  // The Leases of clusters in pull mode, by cluster.
  std::set<std::string> namespaces;
  kube::ObjectPtr space;     // The Namespace of the template in the control plane, if it was read.
  bool lacks_space = false;  // There is none, and no template either.
  bool is_of_lists = false;  // Only the control plane was read, and no member was asked.
  // The same in members that refuse the template, by cluster.
  std::map<std::string, MemberAnswer> spaces;
  std::map<std::string, MemberAnswer> members;   // Those that were asked, by cluster.
  std::vector<api::DependentReference> needed;   // What the template needs, by name.
  std::vector<api::DependentReference> missing;  // Those of `needed` that do not exist.
  // The namespaces that have one of the name of what is missing, by "ConfigMap shop/settings".
  std::map<std::string, std::vector<std::string>> missing_elsewhere;
  // Those that a member does not have, by cluster: asked where the object is not healthy. Kinds
  // that only a member has, such as a StorageClass, are among them.
  std::map<std::string, std::vector<api::DependentReference>> lacking;
  std::map<std::string, MemberPods> pods;  // By cluster: of a workload that is not well there.
  Objects taint_policies;                  // When a Cluster is asked about.
  std::map<kube::ObjectKey, kube::ObjectPtr> bindings;  // All that were read.
  kube::ObjectPtr service_owner;  // The MultiClusterService of the Service that is asked about.
  std::shared_ptr<const Rules> rules;
  // What the control plane did not let read, and why: full sentences.
  std::vector<std::string> unread;
  std::vector<Unread> unreadable;  // The same for checks, which conclude nothing from it.

  // "Deployment shop/web", whether it exists or not.
  std::string Name() const { return asked.Describe(); }
  bool IsNamespace() const { return asked.gvk == kube::Gvk{"", "v1", "Namespace"}; }
  // Returns the clusters that get the object, in the order of their names, or the one cluster that
  // was asked about. A Namespace goes to every cluster by itself, unless it is kept from it.
  std::vector<api::TargetCluster> Targets() const;
  // Returns whether the chain has the object if it exists; a key without a name, or without a
  // namespace, asks about all objects of the kind there.
  bool CouldRead(const kube::Gvk& gvk, const kube::ObjectKey& key = {}) const;
  // The same for the policies that may govern the template, and for its binding. About an object
  // of Karmada's own kinds, for the bindings that have to do with it.
  bool CouldReadPolicies() const;
  bool CouldReadBinding() const;
  // Returns whether every target that was asked for the object has answered, or has an agent that
  // reports what is there.
  bool CouldReadMembers() const;
  // Returns a sentence for each member that did not answer, and then `unread`. A cluster of mode
  // Push without credentials is not among them: Karmada cannot reach it either. Nor is one whose
  // agent reports what is there.
  std::vector<std::string> UnreadWithMembers() const;
  // Returns whether the binding is the template's own (api::CheckBindingOwner).
  // REQUIRES: both exist.
  bool OwnsBinding() const;
  // Returns whether the answer may speak about this cluster.
  bool Concerns(absl::string_view cluster) const {
    return asked.cluster.empty() || asked.cluster == cluster;
  }
};

// Files the objects of a control plane that belong to the chain; others are ignored. Members'
// objects are added by the caller. kInvalidArgument names the flag in the question that cannot be
// used.
absl::StatusOr<Chain> MakeChain(Question question, const Objects& objects, absl::Time now);

// The steps of MakeChain, for who makes chains of many templates of one control plane and shares
// between them what all of them have. Returns a chain without objects and rules; errors are those
// of MakeChain.
absl::StatusOr<Chain> EmptyChain(Question question, absl::Time now);
// Files further objects.
void FileObjects(const Objects& objects, Chain& chain);
// Looks among `objects` for what the template needs, and among the bindings for those that it
// follows. REQUIRES: the chain has its rules.
void FindNeeds(const Objects& objects, Chain& chain);

// Returns what the Work reports of the asked object; an empty value when it reports nothing.
api::ManifestStatus StatusIn(const Chain& chain, const kube::Object& work);
// Returns the health of the asked object that the Work reports; "" when it reports none.
std::string HealthIn(const Chain& chain, const kube::Object& work);

// Returns whether the binding has changed since its scheduler last placed it.
bool IsSchedulingBehind(const kube::Object& binding);

// Returns the time of the event that counts; it may be repeated, or of the newer API.
absl::Time EventTime(const kube::Object& event);
// The last event about the object with one of the reasons; nullptr when there is none. Events about
// an earlier object of the same name do not count; empty reasons stand for any.
kube::ObjectPtr LastEvent(const Chain& chain, const kube::Object& object,
                          std::initializer_list<absl::string_view> reasons);
// Returns the message of the last event with the reason `failed`, unless one with `succeeded` is as
// late, or the daemon has started since, which reports what still fails but not what succeeds: ""
// then, and when there is none.
std::string StandingFailure(const Chain& chain, const kube::Object& about, absl::string_view failed,
                            absl::string_view succeeded);

}  // namespace lens::why

#endif  // LENS_WHY_CHAIN_H_
