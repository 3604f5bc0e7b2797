#include "controllers/imported_slices/imported_slice.h"

#include "absl/strings/str_cat.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/resources.h"

namespace controllers {
namespace {

// What a slice takes over besides its metadata.
constexpr const char* kContent[] = {"addressType", "endpoints", "ports"};

}  // namespace

kube::Object ImportedSlice(const kube::Object& work, const kube::Object& manifest,
                           absl::string_view cluster) {
  kube::Object slice = kube::Object::Make(
      api::EndpointSlices().gvk,
      {std::string(manifest.ns()), api::ImportedSliceName(cluster, manifest.name())});
  const std::string service(work.Label(api::kEndpointSliceNameLabel));
  slice.SetLabel(api::kServiceNameLabel, api::DerivedServiceName(service));
  slice.SetLabel(api::kSliceManagedByLabel, api::kSliceManagedByImport);
  const absl::string_view id = work.Label(api::kWorkIdLabel);
  if (!id.empty()) slice.SetLabel(api::kWorkIdLabel, id);
  slice.SetAnnotation(api::kWorkNamespaceAnnotation, work.ns());
  slice.SetAnnotation(api::kWorkNameAnnotation, work.name());
  for (const char* field : kContent) {
    const json::Value& value = manifest.root()[field];
    if (!value.is_null()) slice.Set({field}, value);
  }
  // The API requires the list, also when there is no endpoint.
  if (!slice.root().Has("endpoints")) slice.Set({"endpoints"}, json::Value::Array());
  return slice;
}

kube::Object MergedSlice(const kube::Object& wanted, const kube::Object& existing) {
  kube::Object slice = existing;
  for (const json::Member& label : wanted.labels().members()) {
    slice.SetLabel(label.name(), label.value.AsString());
  }
  for (const json::Member& annotation : wanted.annotations().members()) {
    slice.SetAnnotation(annotation.name(), annotation.value.AsString());
  }
  for (const char* field : kContent) {
    const json::Value& value = wanted.root()[field];
    // An empty list, a null and nothing are the same to the API.
    if (value.empty() && !value.is_string() && existing.root()[field].empty()) continue;
    slice.Set({field}, value);
  }
  return slice;
}

kube::ObjectKey WorkOfImported(const kube::Object& slice) {
  return {std::string(slice.Annotation(api::kWorkNamespaceAnnotation)),
          std::string(slice.Annotation(api::kWorkNameAnnotation))};
}

bool IsImported(const kube::Object& slice) {
  return slice.Label(api::kSliceManagedByLabel) == api::kSliceManagedByImport;
}

std::vector<std::string> ImportedIndexValues(const kube::Object& slice) {
  if (!IsImported(slice)) return {};
  const kube::ObjectKey work = WorkOfImported(slice);
  if (!work.name.empty()) return {work.ToString()};
  const absl::string_view id = slice.Label(api::kWorkIdLabel);
  if (id.empty()) return {};
  return {absl::StrCat("id/", id)};
}

std::vector<std::string> IndexValuesOfWork(const kube::ObjectKey& work, absl::string_view id) {
  std::vector<std::string> values{work.ToString()};
  if (!id.empty()) values.push_back(absl::StrCat("id/", id));
  return values;
}

}  // namespace controllers
