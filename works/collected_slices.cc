// Report makes the whole Work from the slice, with the claim of one collector and those that the
// label of the existing Work names, and leaves writing what differs to WorkWriter. TakeOff removes
// the claim, or deletes the Work when no other is left, on the condition of the version that it has
// seen. Whoever loses such a race gets kAborted and comes back with the Work as it is then. No
// state of its own.

#include "works/collected_slices.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace works {
namespace {

constexpr api::SliceCollector kCollectors[] = {api::SliceCollector::kServiceExport,
                                               api::SliceCollector::kMultiClusterService};

// Returns the value of the label of collectors. One that upstream has written in another order
// stays.
std::string CollectorsWith(const char* collector, const kube::Object* existing) {
  if (existing == nullptr) return collector;
  std::set<std::string> collectors = api::CollectorsOf(*existing);
  const bool has_it = !collectors.insert(collector).second;
  const absl::string_view label = existing->Label(api::kEndpointSliceManagedByLabel);
  return has_it && absl::StrContains(label, collector) ? std::string(label)
                                                       : api::JoinedCollectors(collectors);
}

WantedWork TemplateFor(const kube::ObjectKey& key, const kube::Object& slice,
                       const api::SliceCollectorKeys& keys, const kube::Object* existing) {
  const kube::ObjectKey service = api::EndpointSliceView(slice).Service();
  WantedWork wanted;
  wanted.key = key;
  wanted.manifest = slice;
  wanted.labels = json::Value::Object(
      {{keys.namespace_label, service.ns},
       {keys.name_label, service.name},
       {api::kEndpointSliceManagedByLabel, CollectorsWith(keys.name, existing)}});
  wanted.finalizers = {keys.finalizer};
  // It carries the slice to the control plane; nothing is to be applied in the member, which has
  // it.
  wanted.suspend_dispatching = true;
  // Every update carries the version of the Work, because the other collector may write it too.
  wanted.is_shared = true;
  return wanted;
}

absl::Status OtherWorkError(const kube::Object& work, const kube::Object& slice) {
  return base::Terminal(absl::AlreadyExistsError(absl::StrCat(
      "Work ", work.key().ToString(), ", in which ", slice.Describe(),
      " would be collected, carries something else: the slice, or another one of its name, is "
      "propagated to this cluster")));
}

}  // namespace

kube::ObjectKey WorkOfSlice(const std::string& cluster, const kube::ObjectKey& slice) {
  return {api::ExecutionNamespace(cluster),
          api::WorkName(api::EndpointSlices().gvk.kind, slice.name, slice.ns)};
}

std::string CollectedFor(api::SliceCollector collector, const kube::ObjectKey& service) {
  return absl::StrCat(api::KeysOf(collector).name, "/", service.ToString());
}

std::vector<std::string> CollectedServices(const kube::Object& work) {
  std::vector<std::string> values;
  for (const api::SliceCollector collector : kCollectors) {
    if (!api::IsCollectedBy(work, collector)) continue;
    const kube::ObjectKey service = api::CollectedServiceOf(work, collector);
    if (!service.name.empty()) values.push_back(CollectedFor(collector, service));
  }
  return values;
}

absl::StatusOr<bool> CollectedSlices::Report(const std::string& cluster, const kube::Object& slice,
                                             api::SliceCollector collector,
                                             const base::StopToken& stop) {
  const kube::ObjectKey key = WorkOfSlice(cluster, slice.key());
  const kube::ObjectPtr existing = client_.Find(api::Works(), key);
  const bool is_other =
      existing != nullptr && !existing->IsDeleting() &&
      (!api::IsCollectedSlice(*existing) || api::SliceOf(*existing) != slice.key());
  if (is_other) return OtherWorkError(*existing, slice);
  const absl::StatusOr<WorkWriter::Result> result = writer_.CreateOrUpdate(
      TemplateFor(key, slice, api::KeysOf(collector), existing.get()), existing, stop);
  if (kube::AlreadyExists(result.status())) {  // The other collector was faster.
    return absl::AbortedError(result.status().message());
  }
  RETURN_IF_ERROR(result.status());
  return result->written;
}

absl::StatusOr<bool> CollectedSlices::TakeOff(const kube::ObjectPtr& work,
                                              api::SliceCollector collector,
                                              const base::StopToken& stop) {
  if (work->IsDeleting() || !api::IsCollectedBy(*work, collector)) return false;
  const api::SliceCollectorKeys& keys = api::KeysOf(collector);
  std::set<std::string> others = api::CollectorsOf(*work);
  others.erase(keys.name);
  if (others.empty()) {
    // With the version, so that a claim that the other collector has just written is not lost.
    RETURN_IF_ERROR(client_.Delete(api::Works(), work->key(),
                                   {.uid = std::string(work->uid()),
                                    .resource_version = std::string(work->resource_version())},
                                   stop));
    return true;
  }
  kube::Object after = *work;
  after.EraseLabel(keys.namespace_label);
  after.EraseLabel(keys.name_label);
  after.SetLabel(api::kEndpointSliceManagedByLabel, api::JoinedCollectors(others));
  kube::UpdateOptions options;
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::Status written = client_.Update(api::Works(), work, after, options, stop).status();
  RETURN_IF_ERROR(kube::IgnoreGone(written));
  return true;
}

}  // namespace works
