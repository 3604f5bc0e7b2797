#include "cmd/interpret/served_kinds.h"

#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/resource_info.h"

namespace cmd::interpret {

ServedKinds::ServedKinds() {
  for (const sandbox::ResourceInfo& info : sandbox::BuiltinResources()) {
    all_[info.resource.gvk] = info.resource;
  }
}

bool ServedKinds::IsDefinition(const kube::Object& object) {
  return object.gvk() == kube::Gvk{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
}

void ServedKinds::Add(const kube::Object& definition) {
  for (const sandbox::ResourceInfo& info : sandbox::ServedBy(definition)) {
    all_[info.resource.gvk] = info.resource;
  }
}

std::optional<kube::Resource> ServedKinds::Find(const kube::Gvk& gvk) const {
  const auto found = all_.find(gvk);
  if (found == all_.end()) return std::nullopt;
  return found->second;
}

}  // namespace cmd::interpret
