#include "search/proxy/custom_kinds.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace search {

using kube::server::FieldLabels;
using kube::server::TablePrinter;

std::vector<std::string> CustomKinds::FieldsOfDefinitions() {
  return {"spec.scope", "spec.versions.*.name", "spec.versions.*.additionalPrinterColumns",
          "spec.versions.*.selectableFields"};
}

void CustomKinds::Set(const kube::Object& definition) {
  const json::Value& spec = definition.spec();
  const bool namespaced = spec["scope"].AsString() == "Namespaced";
  Versions versions;
  for (const json::Value& version : spec["versions"].items()) {
    std::vector<std::string> declared;
    for (const json::Value& field : version["selectableFields"].items()) {
      declared.push_back(field["jsonPath"].ToString());
    }
    versions[version["name"].ToString()] = {
        kube::server::PrinterOf(kube::server::ColumnsOfVersion(version)),
        FieldLabels::OfCustom(namespaced, declared)};
  }
  absl::MutexLock lock(&mu_);
  definitions_[std::string(definition.name())] = std::move(versions);
}

void CustomKinds::Remove(absl::string_view definition) {
  absl::MutexLock lock(&mu_);
  definitions_.erase(std::string(definition));
}

const CustomKinds::Version* CustomKinds::Find(const kube::Resource& resource) const {
  const auto definition = definitions_.find(absl::StrCat(resource.plural, ".", resource.gvk.group));
  if (definition == definitions_.end()) return nullptr;
  const auto version = definition->second.find(resource.gvk.version);
  return version == definition->second.end() ? nullptr : &version->second;
}

std::shared_ptr<const TablePrinter> CustomKinds::PrinterOf(const kube::Resource& resource) const {
  absl::ReaderMutexLock lock(&mu_);
  const Version* version = Find(resource);
  return version != nullptr ? version->printer : kube::server::PrinterOf(resource.gvk);
}

std::shared_ptr<const TablePrinter> CustomKinds::DefinedPrinterOf(
    const kube::Resource& resource) const {
  absl::ReaderMutexLock lock(&mu_);
  const Version* version = Find(resource);
  return version != nullptr ? version->printer : nullptr;
}

FieldLabels CustomKinds::FieldsOf(const kube::Resource& resource) const {
  absl::ReaderMutexLock lock(&mu_);
  const Version* version = Find(resource);
  return version != nullptr ? version->fields : FieldLabels::Of(resource.gvk);
}

}  // namespace search
