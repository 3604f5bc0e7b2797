// Names and labels of EndpointSlices on their way between clusters. Two controllers can collect the
// same slice (for a ServiceExport and for a MultiClusterService), and share one Work: it has one
// label with both their names, and each keeps its own labels and finalizer on it. A Work without
// that label is recognised by the labels of the collectors.

#include "api/endpoint_slice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/work.h"

namespace api {
namespace {

constexpr char kBetweenCollectors[] = ".";
constexpr SliceCollector kCollectors[] = {SliceCollector::kServiceExport,
                                          SliceCollector::kMultiClusterService};

}  // namespace

kube::ObjectKey EndpointSliceView::Service() const {
  const absl::string_view service = object_.Label(kServiceNameLabel);
  if (service.empty()) return {};
  return {std::string(object_.ns()), std::string(service)};
}

bool EndpointSliceView::IsManagedByKarmada() const {
  const absl::string_view manager = object_.Label(kSliceManagedByLabel);
  return manager == kSliceManagedByImport || manager == kSliceManagedByDispatch;
}

std::string ImportedSliceName(absl::string_view cluster, absl::string_view slice) {
  return absl::StrCat("imported-", cluster, "-", slice);
}

std::string DispatchedSliceName(absl::string_view provider, absl::string_view slice) {
  return absl::StrCat(provider, "-", slice);
}

std::string DerivedServiceName(absl::string_view service) {
  return absl::StrCat("derived-", service);
}

const SliceCollectorKeys& KeysOf(SliceCollector collector) {
  static constexpr SliceCollectorKeys kServiceExport{
      kManagedByServiceExport, kEndpointSliceNamespaceLabel, kEndpointSliceNameLabel,
      kEndpointSliceFinalizer};
  static constexpr SliceCollectorKeys kMultiClusterService{
      kManagedByMultiClusterService, kMultiClusterServiceNamespaceLabel,
      kMultiClusterServiceNameLabel, kEndpointSliceDispatchFinalizer};
  return collector == SliceCollector::kServiceExport ? kServiceExport : kMultiClusterService;
}

std::set<std::string> CollectorsOf(const kube::Object& work) {
  const std::set<std::string> named = absl::StrSplit(work.Label(kEndpointSliceManagedByLabel),
                                                     kBetweenCollectors, absl::SkipEmpty());
  if (!named.empty()) return named;
  std::set<std::string> collectors;
  for (const SliceCollector collector : kCollectors) {
    const SliceCollectorKeys& keys = KeysOf(collector);
    if (!work.Label(keys.name_label).empty()) collectors.insert(keys.name);
  }
  return collectors;
}

bool IsCollectedBy(const kube::Object& work, SliceCollector collector) {
  return IsCollectedSlice(work) && CollectorsOf(work).contains(KeysOf(collector).name);
}

std::string JoinedCollectors(const std::set<std::string>& collectors) {
  return absl::StrJoin(collectors, kBetweenCollectors);
}

bool IsCollectedSlice(const kube::Object& work) {
  // A collected slice is only reported: its Work is never applied to the cluster that it is from.
  return WorkView(work).IsDispatchingSuspended() &&
         work.Annotation(kProvisionClusterAnnotation).empty() && !CollectorsOf(work).empty() &&
         !SliceOf(work).name.empty();
}

kube::ObjectKey SliceOf(const kube::Object& work) {
  for (const json::Value& raw : WorkView(work).Manifests()) {
    const kube::Object manifest(raw);
    if (manifest.gvk() == EndpointSlices().gvk) return manifest.key();
  }
  return {};
}

kube::ObjectKey CollectedServiceOf(const kube::Object& work, SliceCollector collector) {
  const SliceCollectorKeys& keys = KeysOf(collector);
  const absl::string_view name = work.Label(keys.name_label);
  if (name.empty()) return {};
  return {std::string(work.Label(keys.namespace_label)), std::string(name)};
}

}  // namespace api
