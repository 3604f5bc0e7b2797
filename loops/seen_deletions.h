// Deletions that were seen. That an object is not there proves nothing about it: a backup may be
// restored in any order, and bring what was made for the object before it. So a loop that deletes
// what it has made for an object does so when the object is being deleted, or when it was seen to
// be deleted; what was deleted while no controller manager ran stays, as with upstream.
#ifndef LOOPS_SEEN_DELETIONS_H_
#define LOOPS_SEEN_DELETIONS_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/runtime/enqueue.h"

namespace loops {

// The variant of a request whose object was seen to be deleted, by this process. A loop that loses
// it with its process keeps more than it has to, never less.
inline constexpr int kSeenDeleted = 1000;

// Queues the requests that `map` has for an object which is deleted (empty: the object's own key),
// with the variant kSeenDeleted. For a second ControllerBuilder::Watches of the resource.
kube::Enqueue OnDeletion(kube::MapFn map = nullptr);

// Returns whether the object that the cache lacks does not exist, which only the server knows:
// a cache, and a list that was read from one, may be behind.
absl::StatusOr<bool> IsGone(kube::ClusterClient& client, const kube::Resource& resource,
                            const kube::ObjectKey& key, const base::StopToken& stop);

}  // namespace loops

#endif  // LOOPS_SEEN_DELETIONS_H_
