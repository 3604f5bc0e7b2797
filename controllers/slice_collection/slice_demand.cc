#include "controllers/slice_collection/slice_demand.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "api/work.h"
#include "works/related.h"

namespace controllers {

kube::ObjectKey DemandedService(const kube::Object& work, api::SliceCollector collector) {
  if (work.IsDeleting()) return {};
  const bool for_exports = collector == api::SliceCollector::kServiceExport;
  const api::WorkView view(work);
  if (for_exports && !view.IsApplied()) return {};
  const kube::Gvk& asking =
      for_exports ? api::ServiceExports().gvk : api::MultiClusterServices().gvk;
  for (const json::Value& raw : view.Manifests()) {
    const kube::Object manifest(raw);
    if (manifest.gvk() == asking) return manifest.key();
  }
  return {};
}

kube::ObjectKey DemandOf(absl::string_view ns, const kube::ObjectKey& service) {
  return {std::string(ns), service.ToString()};
}

std::string DemandIndex(api::SliceCollector collector) {
  return absl::StrCat("slices-for-", api::KeysOf(collector).name);
}

std::string AsksIn(absl::string_view ns) { return absl::StrCat("asks/", ns); }
std::string AsksFor(absl::string_view ns, const kube::ObjectKey& service) {
  return absl::StrCat("asks/", ns, "/", service.ToString());
}
std::string CarriesIn(absl::string_view ns) { return absl::StrCat("carries/", ns); }

kube::IndexFn DemandIndexValues(api::SliceCollector collector) {
  return [collector](const kube::Object& work) {
    std::vector<std::string> values;
    const kube::ObjectKey service = DemandedService(work, collector);
    if (!service.name.empty()) {
      values.push_back(AsksIn(work.ns()));
      values.push_back(AsksFor(work.ns(), service));
    }
    if (api::IsCollectedBy(work, collector)) values.push_back(CarriesIn(work.ns()));
    return values;
  };
}

void AddAsking(const kube::Object& work, std::vector<kube::InvolvedObject>& about) {
  about.push_back(kube::InvolvedObject::Of(work));
  for (const json::Value& raw : api::WorkView(work).Manifests()) {
    kube::InvolvedObject made_of = works::TemplateOf(kube::Object(raw));
    if (!made_of.uid.empty()) about.push_back(std::move(made_of));
  }
}

bool ChangesDemand(api::SliceCollector collector, const kube::Object& before,
                   const kube::Object& after) {
  return DemandedService(before, collector) != DemandedService(after, collector) ||
         api::IsCollectedBy(before, collector) != api::IsCollectedBy(after, collector);
}

}  // namespace controllers
