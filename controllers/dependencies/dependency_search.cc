// A transitive search goes through the list of references from its beginning while it appends to
// the list. For each reference it looks for the objects and, at the first visit of an object whose
// kind has a rule, appends what that needs and the list does not have. So each object is asked
// about once, and cycles end. Objects that do not exist are asked about when they have come: the
// list is recorded on the binding, and what is recorded is watched.
#include "controllers/dependencies/dependency_search.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/dependencies.h"
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
// would follow without the gate, too.
json::Value NamedByServiceAccount(const kube::Object& account) {
  json::Value list = json::Value::Array();
  for (const char* field : {"secrets", "imagePullSecrets"}) {
    for (const json::Value& secret : account.root()[field].items()) {
      if (secret["name"].AsString().empty()) continue;
      list.Append(json::Value::Object({{"apiVersion", "v1"},
                                       {"kind", "Secret"},
                                       {"namespace", account.ns()},
                                       {"name", secret["name"].AsString()}}));
    }
  }
  return list;
}

bool IsAbout(const api::DependentReference& reference, const kube::Object& object) {
  const kube::Gvk gvk = reference.gvk();
  return gvk.kind == object.kind() && gvk.group == object.gvk().group &&
         reference.ns == object.ns() && reference.name == object.name();
}

std::string Identity(const kube::Object& object) {
  return absl::StrCat(object.gvk().group, "/", object.kind(), " ", object.key().ToString());
}

// The references that have been found, and the objects that have been asked about.
class Found {
 public:
  Found(const kube::Object& root, json::Value named) : root_(root), list_(std::move(named)) {
    for (const json::Value& item : list_.items()) {
      references_.push_back(api::DependentReference::FromJson(item));
      listed_.insert(references_.back().ToText());
    }
    visited_.insert(Identity(root));
  }
  void Add(const json::Value& more) {
    for (const json::Value& item : more.items()) {
      api::DependentReference reference = api::DependentReference::FromJson(item);
      if (IsAbout(reference, root_) || !listed_.insert(reference.ToText()).second) continue;
      if (!list_.is_array()) list_ = json::Value::Array();
      list_.Append(item);
      references_.push_back(std::move(reference));
    }
  }
  bool IsFirstVisit(const kube::Object& object) { return visited_.insert(Identity(object)).second; }
  size_t size() const { return references_.size(); }
  // A copy, because Add moves the references.
  api::DependentReference At(size_t i) const { return references_[i]; }
  const json::Value& list() const { return list_; }

 private:
  const kube::Object& root_;
  json::Value list_;
  std::vector<api::DependentReference> references_;
  std::set<std::string> listed_, visited_;
};

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

}  // namespace

bool DependencySearch::Knows(const kube::Gvk& gvk) const {
  return deps_.interpreter.HookEnabled(gvk, interpreter::Operation::kInterpretDependency) ||
         (deps_.transitive && IsServiceAccount(gvk));
}

absl::StatusOr<json::Value> DependencySearch::NamedBy(const kube::Object& object) const {
  if (deps_.interpreter.HookEnabled(object.gvk(), interpreter::Operation::kInterpretDependency)) {
    return deps_.interpreter.GetDependencies(object);
  }
  return NamedByServiceAccount(object);
}

absl::StatusOr<json::Value> DependencySearch::DependenciesOf(const kube::Object& object,
                                                             const base::StopToken& stop) const {
  ASSIGN_OR_RETURN(json::Value named, NamedBy(object));
  if (!deps_.transitive) return named;
  Found found(object, std::move(named));
  for (size_t i = 0; i < found.size(); ++i) {
    const api::DependentReference reference = found.At(i);
    // Whoever attaches the dependencies reports references that are wrong.
    if (!CheckReference(reference, object.ns()).ok()) continue;
    const auto objects = ObjectsNow(deps_.client, reference, stop);
    if (kube::IsNoSuchKind(objects.status()) || base::IsTerminal(objects.status())) continue;
    RETURN_IF_ERROR(objects.status());
    for (const kube::ObjectPtr& needed : *objects) {
      if (!found.IsFirstVisit(*needed) || !Knows(needed->gvk())) continue;
      const absl::StatusOr<json::Value> more = NamedBy(*needed);
      RETURN_IF_ERROR(base::Annotate(more.status(), "asking for the dependencies of ",
                                     needed->Describe(), ", on which ", object.Describe(),
                                     " depends"));
      found.Add(*more);
    }
    if (found.size() > kMost) {
      return base::Terminal(absl::ResourceExhaustedError(
          absl::StrCat(object.Describe(), " depends on more than ", kMost, " objects")));
    }
  }
  return found.list();
}

}  // namespace controllers
