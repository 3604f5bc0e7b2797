#include "loops/seen_deletions.h"

#include <utility>
#include <vector>

#include "kube/client/errors.h"

namespace loops {

kube::Enqueue OnDeletion(kube::MapFn map) {
  kube::Enqueue enqueue{.when = {.add = kube::Never, .update = kube::NeverUpdate}};
  enqueue.map = [map = std::move(map)](const kube::Object& object) {
    std::vector<kube::Request> requests;
    if (map) {
      requests = map(object);
    } else {
      requests.push_back({.key = object.key()});
    }
    for (kube::Request& request : requests) request.variant = kSeenDeleted;
    return requests;
  };
  return enqueue;
}

absl::StatusOr<bool> IsGone(kube::ClusterClient& client, const kube::Resource& resource,
                            const kube::ObjectKey& key, const base::StopToken& stop) {
  const absl::Status live = client.raw().Get(resource, key, stop).status();
  if (!live.ok() && !kube::IsGone(live)) return live;
  return !live.ok();
}

}  // namespace loops
