// A transitive search goes through the list of references from its beginning while it appends to
// the list. For each reference it looks for the objects and, at the first visit of an object whose
// kind has a rule, appends what that needs and the list does not have. So each object is asked
// about once, and cycles end. Objects that do not exist are asked about when they have been
// created: the list is recorded on the binding, and what is recorded is watched. So is an object
// whose rule fails, and its referrers are queued when it changes or its kind gets another rule.

#include "controllers/dependencies/dependency_search.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/dependencies.h"
#include "api/keys.h"
#include "base/status.h"
#include "controllers/dependencies/dependency_objects.h"
#include "kube/client/errors.h"
#include "kube/meta/selector.h"

namespace controllers {
namespace {

constexpr size_t kMost = 1000;

bool IsServiceAccount(const kube::Gvk& gvk) {
  return gvk.group.empty() && gvk.kind == "ServiceAccount";
}

// The interpreter has no rule for ServiceAccounts, as upstream's has none: with one their Secrets
// would follow without the gate, too. Secrets with tokens do not follow, because each cluster makes
// its own, and the account is propagated without these references (interpreter::Prune).
json::Value NamedByServiceAccount(const kube::Object& account) {
  json::Value list = json::Value::Array();
  const std::string token = absl::StrCat(account.name(), "-token-");
  for (const char* field : {"secrets", "imagePullSecrets"}) {
    for (const json::Value& secret : account.root()[field].items()) {
      const absl::string_view name = secret["name"].AsString();
      if (name.empty() || absl::StartsWith(name, token)) continue;
      list.Append(json::Value::Object(
          {{"apiVersion", "v1"}, {"kind", "Secret"}, {"namespace", account.ns()}, {"name", name}}));
    }
  }
  return list;
}

bool IsAbout(const api::DependentReference& reference, const kube::Object& object) {
  const kube::Gvk gvk = reference.gvk();
  return gvk.kind == object.kind() && gvk.group == object.gvk().group &&
         reference.ns == object.ns() && reference.name == object.name();
}

std::string Identity(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::StrCat(gvk.group, "/", gvk.kind, " ", key.ToString());
}
std::string Identity(const kube::Object& object) { return Identity(object.gvk(), object.key()); }
std::string Identity(const api::DependentReference& reference) {
  return Identity(reference.gvk(), {reference.ns, reference.name});
}

// Returns the objects that the reference names. While their kind is not in the cache, the server is
// asked: an empty list would have what these objects need let go.
absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectsNow(kube::ClusterClient& client,
                                                        const api::DependentReference& reference,
                                                        const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::Resource kind, client.mapper().ForKind(reference.gvk(), stop));
  const std::shared_ptr<kube::Informer> informer = client.informers().Find(kind);
  const bool cached = informer != nullptr && informer->HasSynced();
  if (!reference.name.empty() || cached) return ObjectsOf(client, reference, stop);
  ASSIGN_OR_RETURN(const kube::LabelSelector selector,
                   kube::LabelSelector::FromJson(reference.label_selector));
  ASSIGN_OR_RETURN(
      kube::ListPage page,
      client.raw().ListAll(kind, reference.ns, {.label_selector = selector.ToString()}, stop));
  std::vector<kube::ObjectPtr> objects;
  for (kube::Object& object : page.items) objects.push_back(kube::Share(std::move(object)));
  return objects;
}

// Returns the list, followed by those of `more` that it does not have.
json::Value Joined(json::Value list, const json::Value& more) {
  std::set<std::string> listed;
  for (const api::DependentReference& reference : api::DependenciesFromJson(list)) {
    listed.insert(reference.ToText());
  }
  for (const json::Value& item : more.items()) {
    if (!listed.insert(api::DependentReference::FromJson(item).ToText()).second) continue;
    if (!list.is_array()) list = json::Value::Array();
    list.Append(item);
  }
  return list;
}

}  // namespace

// The references that have been found, and the objects that they are about.
class DependencySearch::Found {
 public:
  // REQUIRES: `root` outlives this object.
  Found(const kube::Object& root, json::Value named) : root_(root), list_(std::move(named)) {
    for (const json::Value& item : list_.items()) {
      AddReference(api::DependentReference::FromJson(item));
    }
    visited_.insert(Identity(root));
  }
  const kube::Object& root() const { return root_; }
  void Add(const json::Value& more) {
    for (const json::Value& item : more.items()) {
      if (too_many()) return;
      api::DependentReference reference = api::DependentReference::FromJson(item);
      if (IsAbout(reference, root_) || !AddReference(std::move(reference))) continue;
      if (!list_.is_array()) list_ = json::Value::Array();
      list_.Append(item);
    }
  }
  // Counts the objects that a reference is about.
  void Count(const std::vector<kube::ObjectPtr>& objects) {
    for (const kube::ObjectPtr& object : objects) objects_.insert(Identity(*object));
  }
  bool IsFirstVisit(const kube::Object& object) { return visited_.insert(Identity(object)).second; }
  bool too_many() const { return objects_.size() > kMost; }
  size_t size() const { return references_.size(); }
  // A copy, because Add moves the references.
  api::DependentReference At(size_t i) const { return references_[i]; }
  const json::Value& list() const { return list_; }

 private:
  // Returns false for one that is there already.
  bool AddReference(api::DependentReference reference) {
    if (!listed_.insert(reference.ToText()).second) return false;
    if (!reference.name.empty()) objects_.insert(Identity(reference));
    references_.push_back(std::move(reference));
    return true;
  }

  const kube::Object& root_;
  json::Value list_;
  std::vector<api::DependentReference> references_;
  // The texts of the references; what they name or select, whether it exists or not; the objects
  // that have been asked about.
  std::set<std::string> listed_, objects_, visited_;
};

bool DependencySearch::Knows(const kube::Gvk& gvk) const {
  return deps_.interpreter.HasRule(gvk, interpreter::Operation::kInterpretDependency) ||
         (deps_.transitive && IsServiceAccount(gvk));
}

absl::StatusOr<json::Value> DependencySearch::NamedBy(const kube::Object& object) const {
  if (deps_.interpreter.HasRule(object.gvk(), interpreter::Operation::kInterpretDependency)) {
    return deps_.interpreter.GetDependencies(object);
  }
  return NamedByServiceAccount(object);
}

absl::StatusOr<FoundDependencies> DependencySearch::DependenciesOf(
    const kube::Object& object, const base::StopToken& stop) const {
  ASSIGN_OR_RETURN(json::Value named, NamedBy(object));
  return DependenciesBy(object, std::move(named), stop);
}

absl::StatusOr<FoundDependencies> DependencySearch::DependenciesOf(
    const kube::Object& object, const kube::Object& binding,
    const std::vector<kube::ObjectPtr>& states, const base::StopToken& stop) const {
  json::Value named = WithRecorded(json::Value(), binding);
  for (const kube::ObjectPtr& state : states) {
    ASSIGN_OR_RETURN(const json::Value more, NamedBy(*state));
    named = Joined(std::move(named), more);
  }
  ASSIGN_OR_RETURN(FoundDependencies found, DependenciesBy(object, std::move(named), stop));
  found.held_back = true;
  return found;
}

absl::StatusOr<FoundDependencies> DependencySearch::DependenciesBy(
    const kube::Object& object, json::Value named, const base::StopToken& stop) const {
  if (!deps_.transitive) return FoundDependencies{std::move(named), absl::OkStatus()};
  Found found(object, named);
  base::ErrorList errors;
  for (size_t i = 0; i < found.size() && !found.too_many(); ++i) {
    const absl::Status added = AddNeedsOf(found.At(i), found, stop);
    if (absl::IsCancelled(added)) return added;
    errors.Add(added);
  }
  if (found.too_many()) {
    return FoundDependencies{std::move(named),
                             base::Terminal(absl::ResourceExhaustedError(absl::StrCat(
                                 object.Describe(), " depends on more than ", kMost,
                                 " objects, with what these need in turn: of what it does not "
                                 "name itself nothing more follows")))};
  }
  return FoundDependencies{found.list(), errors.Join()};
}

absl::Status DependencySearch::AddNeedsOf(const api::DependentReference& reference, Found& found,
                                          const base::StopToken& stop) const {
  // Whoever attaches the dependencies reports references that are wrong.
  if (!CheckReference(deps_.client, reference, stop).ok() ||
      !CheckFollows(reference, found.root().ns()).ok()) {
    return absl::OkStatus();
  }
  const bool knows = Knows(reference.gvk());
  if (!knows && !reference.name.empty()) return absl::OkStatus();
  const auto objects = ObjectsNow(deps_.client, reference, stop);
  if (!objects.ok() && !knows) return absl::OkStatus();
  RETURN_IF_ERROR(base::Annotate(objects.status(), "looking for ", reference.Describe(),
                                 ", on which ", found.root().Describe(), " depends"));
  found.Count(*objects);
  if (!knows || found.too_many()) return absl::OkStatus();
  base::ErrorList errors;
  for (const kube::ObjectPtr& needed : *objects) {
    if (!found.IsFirstVisit(*needed)) continue;
    const absl::StatusOr<json::Value> more = NamedBy(*needed);
    if (more.ok()) found.Add(*more);
    errors.Add(base::Annotate(more.status(), "asking for the dependencies of ", needed->Describe(),
                              ", on which ", found.root().Describe(), " depends"));
  }
  return errors.Join();
}

json::Value WithRecorded(json::Value list, const kube::Object& binding) {
  const auto recorded = json::Parse(binding.Annotation(api::kDependenciesAnnotation));
  return recorded.ok() ? Joined(std::move(list), *recorded) : list;
}

}  // namespace controllers
