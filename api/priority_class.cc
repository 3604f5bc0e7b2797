#include "api/priority_class.h"

namespace api {

const kube::Resource& PriorityClasses() {
  static const auto& resource = *new kube::Resource{
      {"scheduling.k8s.io", "v1", "PriorityClass"}, "priorityclasses", /*namespaced=*/false};
  return resource;
}

}  // namespace api
