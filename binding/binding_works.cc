// Finding: the cache is asked by label, and while it follows Works the server is asked only for
// those that it may lack, one GET for each cluster that spec or status names. If it does not follow
// them, the binding has lost its id, or it names thousands of clusters, the server is asked for a
// list, for which it reads all Works.
//
// Letting go, for several Works at once: one that is being deleted is left alone; one that somebody
// else claims loses the binding's marks; one whose object was never the binding's to bring is first
// told to preserve that object; then it is deleted, by its uid, so that a new Work of the same name
// is not. A failure half-way leaves the rest, and the next pass finds it again, because the binding
// keeps its finalizer until all are let go. Nothing is remembered.

#include "binding/binding_works.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "binding/removal.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/meta/controller_ref.h"
#include "works/binding_works.h"

namespace binding {
namespace {

// How many clusters a binding may name until one list is cheaper than a GET for each.
constexpr size_t kMostReads = 2000;

// Returns every cluster that spec or status names.
std::set<std::string> NamedClusters(const api::BindingView& binding) {
  std::set<std::string> clusters = binding.ExpectedClusters();
  clusters.merge(binding.ClustersPurgedAtOnce());
  for (api::AggregatedStatusItem& item : binding.AggregatedItems()) {
    clusters.insert(std::move(item.cluster_name));
  }
  return clusters;
}

// Has the Work deleted with its Namespace: one that the namespace loop has made belongs to it, but
// not one that the binding has made.
void AddOwner(const kube::ObjectPtr& ns, kube::Object& work) {
  if (ns == nullptr) return;
  const std::vector<kube::OwnerRef> owners = work.OwnerRefs();
  const bool has_it = std::any_of(owners.begin(), owners.end(), [&](const kube::OwnerRef& owner) {
    return owner.uid == ns->uid();
  });
  if (has_it) return;
  json::Value references = work.metadata()["ownerReferences"];
  if (!references.is_array()) references = json::Value::Array();
  references.Append(kube::ControllerRef(*ns).ToJson());
  work.Set({"metadata", "ownerReferences"}, std::move(references));
}

}  // namespace

template <class Scope>
std::vector<kube::ObjectPtr> BindingWorks<Scope>::Known(const api::BindingView& binding) const {
  return works::WorksOfBinding<Scope>(client_, binding.object());
}

template <class Scope>
absl::StatusOr<std::vector<kube::ObjectPtr>> BindingWorks<Scope>::List(
    const api::BindingView& binding, const base::StopToken& stop) {
  const std::string id(binding.PermanentId());
  kube::ListOptions options;
  // Without an id the label cannot select: Works with an empty value would be those of all bindings
  // that have lost theirs.
  if (!id.empty()) options.label_selector = absl::StrCat(Scope::kIdLabel, "=", id);
  ASSIGN_OR_RETURN(kube::ListPage page, client_.raw().ListAll(api::Works(), "", options, stop));
  std::vector<kube::ObjectPtr> works;
  for (kube::Object& work : page.items) {
    const bool is_named =
        api::IsExecutionNamespace(work.ns()) && Scope::BindingOf(work) == binding.object().key();
    if (is_named) works.push_back(kube::Share(std::move(work)));
  }
  return works;
}

template <class Scope>
bool BindingWorks<Scope>::CacheFollowsWorks() const {
  const std::shared_ptr<kube::Informer> informer = client_.informers().Find(api::Works());
  return informer != nullptr && informer->HasSynced() && informer->last_error().ok();
}

// The cache may lack a Work that was created a moment ago, or whose creation was not answered, and
// once the binding is gone nobody would delete it. Its name follows from the template and its
// namespace from the cluster, so a GET finds it; for a list by label the server would read all
// Works.
template <class Scope>
absl::StatusOr<std::vector<kube::ObjectPtr>> BindingWorks<Scope>::All(
    const api::BindingView& binding, const base::StopToken& stop) {
  if (binding.PermanentId().empty() || !CacheFollowsWorks()) return List(binding, stop);
  const std::set<std::string> clusters = NamedClusters(binding);
  if (clusters.size() > kMostReads) return List(binding, stop);
  std::vector<kube::ObjectPtr> works = Known(binding);
  std::set<kube::ObjectKey> known;
  for (const kube::ObjectPtr& work : works) known.insert(work->key());
  const api::ObjectReference object = binding.Resource();
  const std::string name = api::WorkName(object.kind, object.name, object.ns);
  for (const std::string& cluster : clusters) {
    const kube::ObjectKey key = {api::ExecutionNamespace(cluster), name};
    // Somebody who writes bindings by hand may name what no server has.
    if (known.count(key) > 0 || !kube::IsAddress(api::Works(), key)) continue;
    absl::StatusOr<kube::Object> work = client_.raw().Get(api::Works(), key, stop);
    if (kube::IsGone(work.status())) continue;
    RETURN_IF_ERROR(work.status());
    if (!works::IsWorkOf<Scope>(*work, binding.object())) continue;
    works.push_back(kube::Share(*std::move(work)));
  }
  return works;
}

template <class Scope>
absl::Status BindingWorks<Scope>::LetGo(const kube::Object& binding,
                                        const std::vector<kube::ObjectPtr>& works,
                                        const base::StopToken& stop) {
  return fan_out_.Run(works.size(), [&](size_t i) { return LetGoOf(binding, works[i], stop); });
}

template <class Scope>
absl::Status BindingWorks<Scope>::LetGoOf(const kube::Object& binding, const kube::ObjectPtr& work,
                                          const base::StopToken& stop) {
  if (work->IsDeleting()) return absl::OkStatus();
  const OtherClaims::Claimant other = others_.Of(*work, binding);
  if (other != OtherClaims::Claimant::kNone) return HandOver(work, other, stop);
  kube::ObjectPtr last = work;
  if (Scope::kNamespaced && works::ObjectOf(*work).ns() != binding.ns()) {
    const absl::StatusOr<kube::ObjectPtr> preserved = Preserve(client_, work, stop);
    if (kube::IsGone(preserved.status())) return absl::OkStatus();
    RETURN_IF_ERROR(preserved.status());
    last = *preserved;
  }
  const kube::DeleteOptions options{.uid = std::string(last->uid())};
  return client_.Delete(api::Works(), last->key(), options, stop);
}

template <class Scope>
absl::Status BindingWorks<Scope>::HandOver(const kube::ObjectPtr& work, OtherClaims::Claimant to,
                                           const base::StopToken& stop) {
  kube::Object after = *work;
  after.EraseLabel(Scope::kIdLabel);
  for (const auto& [name, value] : Scope::NamingAnnotations({})) after.EraseAnnotation(name);
  if (to == OtherClaims::Claimant::kNamespaceSync) {
    after.EraseAnnotation(api::kConflictResolutionAnnotation);
    after.Erase({"spec", "suspendDispatching"});
    after.Erase({"spec", "preserveResourcesOnDeletion"});
    AddOwner(client_.Find(api::Namespaces(), works::ObjectOf(*work).key()), after);
  }
  const kube::UpdateOptions options{.precondition = kube::UpdateOptions::Precondition::kAlways};
  return kube::IgnoreGone(client_.Update(api::Works(), work, after, options, stop).status());
}

template class BindingWorks<api::scope::Namespaced>;
template class BindingWorks<api::scope::Cluster>;

}  // namespace binding
