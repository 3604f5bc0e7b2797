// Deletions that were seen. That an object is not there proves nothing about it: a backup may be
// restored in any order, and bring what was made for the object before it. So a loop that deletes
// what it has made for an object does so while the object is being deleted, or when it was seen to
// be deleted; what is left of one that was deleted unseen stays, as with upstream.
#ifndef CONTROLLERS_CONTEXT_SEEN_DELETIONS_H_
#define CONTROLLERS_CONTEXT_SEEN_DELETIONS_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/enqueue.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The objects of one kind that this process has seen to be deleted. They are remembered, because
// what a pass was writing for them may appear in the cache after the pass that has cleaned up. A
// loop that forgets one keeps more than it has to, and never deletes more. Thread-safe.
class SeenDeletions {
 public:
  // Of more, the oldest ones are forgotten.
  static constexpr size_t kRemembered = 10000;

  void Note(const kube::ObjectKey& key);
  // Call it when the object is there again.
  void Forget(const kube::ObjectKey& key);
  bool Has(const kube::ObjectKey& key) const;

  enum class Absence {
    kOfCache,  // The server has the object; the cache is behind, and brings it.
    kUnseen,   // It may be created yet, or was deleted while nobody looked.
    kSeen,     // It was deleted.
  };
  // Asks the server about an object that the cache lacks.
  absl::StatusOr<Absence> Judge(kube::ClusterClient& client, const kube::Resource& resource,
                                const kube::ObjectKey& key, const base::StopToken& stop) const;

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::ObjectKey> seen_ ABSL_GUARDED_BY(mu_);
  std::deque<kube::ObjectKey> order_ ABSL_GUARDED_BY(mu_);
};

// Notes the objects that are deleted, and then queues what `map` has for them (empty: their own
// keys). For a second ControllerBuilder::Watches of the resource.
kube::Enqueue OnDeletion(std::shared_ptr<SeenDeletions> seen, kube::MapFn map = nullptr);

// How old an object is before it is reported that what it was made for is missing, which a backup
// usually brings within seconds.
inline constexpr absl::Duration kOwnerPatience = absl::Minutes(1);

// Records on each of the objects, which stay although `owner` ("Work ns/n") is missing, what to do,
// once they are old enough. Returns when to look again. A restart repeats no event.
kube::Action ReportKept(kube::EventRecorder& recorder, absl::Time now,
                        const std::vector<kube::ObjectPtr>& kept, absl::string_view owner);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_SEEN_DELETIONS_H_
