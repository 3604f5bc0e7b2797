#include "works/unregistering.h"

#include <string>

#include "api/cluster.h"
#include "api/names.h"
#include "api/resources.h"

namespace works {
namespace {

// The command waits for a minute, of which it needs a part for deleting, at five Works a second.
constexpr absl::Duration kUnregistering = absl::Seconds(70);

}  // namespace

std::function<absl::Duration(const kube::Object& work)> TimeToUnregister(
    kube::ClusterClient& control_plane) {
  return [&control_plane](const kube::Object& work) {
    const absl::StatusOr<std::string> name = api::ClusterOfExecutionNamespace(work.ns());
    if (!name.ok()) return absl::ZeroDuration();
    const kube::ObjectPtr cluster = control_plane.Find(api::Clusters(), {"", *name});
    const bool is_pull = cluster != nullptr && api::ClusterView(*cluster).IsPull();
    return is_pull ? kUnregistering : absl::ZeroDuration();
  };
}

}  // namespace works
