#include "binding/binding_works.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace binding {
namespace {

// Returns every cluster that spec or status names.
std::set<std::string> NamedClusters(const api::BindingView& binding) {
  std::set<std::string> clusters = binding.ExpectedClusters();
  clusters.merge(binding.ClustersPurgedAtOnce());
  for (api::AggregatedStatusItem& item : binding.AggregatedItems()) {
    clusters.insert(std::move(item.cluster_name));
  }
  return clusters;
}

}  // namespace

template <class Scope>
std::vector<kube::ObjectPtr> BindingWorks<Scope>::Known(const api::BindingView& binding) const {
  if (binding.PermanentId().empty()) return {};
  return client_.ByIndex(api::Works(), Scope::kIdLabel, binding.PermanentId());
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
  const auto naming = Scope::NamingAnnotations(binding.object().key());
  std::vector<kube::ObjectPtr> works;
  for (kube::Object& work : page.items) {
    const bool is_named = std::all_of(naming.begin(), naming.end(), [&](const auto& entry) {
      return work.Annotation(entry.first) == entry.second;
    });
    if (!id.empty() || is_named) works.push_back(kube::Share(std::move(work)));
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
  std::vector<kube::ObjectPtr> works = Known(binding);
  std::set<kube::ObjectKey> known;
  for (const kube::ObjectPtr& work : works) known.insert(work->key());
  const api::ObjectReference object = binding.Resource();
  const std::string name = api::WorkName(object.kind, object.name, object.ns);
  for (const std::string& cluster : NamedClusters(binding)) {
    const kube::ObjectKey key = {api::ExecutionNamespace(cluster), name};
    if (known.count(key) > 0) continue;
    absl::StatusOr<kube::Object> work = client_.raw().Get(api::Works(), key, stop);
    if (kube::IsGone(work.status())) continue;
    RETURN_IF_ERROR(work.status());
    if (work->Label(Scope::kIdLabel) != binding.PermanentId()) continue;
    works.push_back(kube::Share(*std::move(work)));
  }
  return works;
}

template <class Scope>
absl::Status BindingWorks<Scope>::Delete(const std::vector<kube::ObjectPtr>& works,
                                         const base::StopToken& stop) {
  return fan_out_.Run(works.size(), [&](size_t i) {
    const kube::Object& work = *works[i];
    if (work.IsDeleting()) return absl::OkStatus();
    const kube::DeleteOptions options{.uid = std::string(work.uid())};
    return client_.Delete(api::Works(), work.key(), options, stop);
  });
}

template class BindingWorks<api::scope::Namespaced>;
template class BindingWorks<api::scope::Cluster>;

}  // namespace binding
