#include "controllers/multi_cluster_service/dispatched_slices.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"

namespace controllers {
namespace {

kube::Object SliceOn(const kube::Object& work) {
  for (const json::Value& raw : api::WorkView(work).Manifests()) {
    kube::Object manifest(raw);
    if (manifest.gvk() == api::EndpointSlices().gvk) return manifest;
  }
  return {};
}

}  // namespace

kube::ObjectKey SourceOf(const kube::Object& work) {
  const absl::string_view provider = work.Annotation(api::kProvisionClusterAnnotation);
  if (provider.empty()) return {};
  return {api::ExecutionNamespace(provider), std::string(work.name())};
}

std::vector<std::string> SliceIndexValues(const kube::Object& work) {
  const kube::ObjectKey source = SourceOf(work);
  if (source.name.empty()) return {};
  return {source.ToString()};
}

std::vector<std::string> PlaceIndexValues(const kube::Object& work) {
  if (api::WorkView(work).IsDispatchingSuspended()) return {};
  const kube::ObjectKey slice = api::SliceOf(work);
  if (slice.name.empty()) return {};
  return {PlaceOf(work.ns(), slice)};
}

std::string PlaceOf(absl::string_view execution_namespace, const kube::ObjectKey& slice) {
  return absl::StrCat(execution_namespace, "/", slice.ToString());
}

works::WantedWork WorkForConsumer(const Dispatch& dispatch, const std::string& consumer) {
  kube::Object slice = SliceOn(dispatch.source);
  slice.Set({"metadata"}, json::Value::Object(
                              {{"name", api::DispatchedSliceName(dispatch.provider, slice.name())},
                               {"namespace", slice.ns()}}));
  slice.SetLabel(api::kServiceNameLabel, dispatch.service.name);
  slice.SetLabel(api::kSliceManagedByLabel, api::kSliceManagedByDispatch);
  slice.SetAnnotation(api::kProvisionClusterAnnotation, dispatch.provider);
  works::WantedWork wanted;
  wanted.key = {api::ExecutionNamespace(consumer), std::string(dispatch.source.name())};
  wanted.manifest = std::move(slice);
  wanted.labels = api::MultiClusterServiceLabels(dispatch.service);
  wanted.annotations = json::Value::Object({{api::kProvisionClusterAnnotation, dispatch.provider}});
  return wanted;
}

}  // namespace controllers
