// Updates an object at a moment at which others are likely to write other parts of it.
//
// A merge patch carries whole lists, so ClusterClient::Update refuses a change of a list whenever
// anything of the object has changed. This one tests the lists themselves, by a JSON patch.
#ifndef KUBE_CACHE_GUARDED_UPDATE_H_
#define KUBE_CACHE_GUARDED_UPDATE_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"

namespace kube {

struct Change {
  const ObjectPtr& before;
  const Object& after;
};
// Does what ClusterClient::Update does with an object without its status. It fails with kAborted
// only when a list, or a whole object, that the patch replaces is not what it was, or when another
// object has taken the name.
absl::StatusOr<ObjectPtr> GuardedUpdate(ClusterClient& client, const Resource& r,
                                        const Change& change, const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_CACHE_GUARDED_UPDATE_H_
