#include "works/refused_bindings.h"

#include "api/binding.h"
#include "api/binding_resource.h"

namespace works {

bool IsRefused(kube::ClusterClient& control_plane, const kube::Object& binding,
               const base::StopToken& stop) {
  if (binding.ns().empty()) return false;
  if (!api::MayStandForResource(binding)) return true;
  const absl::StatusOr<kube::Resource> kind =
      control_plane.mapper().ForKind(api::BindingView(binding).Resource().gvk(), stop);
  return kind.ok() && !api::CheckBindingResource(binding, &*kind).ok();
}

}  // namespace works
