// The only writer of Work status: it collects the status changes that the execution and the
// work-status loop submit and sends those of one Work as one patch.
//
// Changes are held for a moment, so that a workload that is starting costs one write, not one per
// step: kSettled changes (healthy, or could not be applied) wait kSettledHold, kProgress changes as
// long as a ProgressGate determines.
#ifndef WORKS_WORK_STATUS_WRITER_H_
#define WORKS_WORK_STATUS_WRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"
#include "works/progress_gate.h"

namespace works {

// The status of one Work is written once in this time at most.
inline constexpr absl::Duration kSettledHold = absl::Milliseconds(100);

enum class News { kSettled, kProgress };

struct WorkStatusChange {
  std::vector<kube::Condition> conditions;
  // Items of status.manifestStatuses, at most one per manifest (by ordinal). One with its
  // identifier alone removes the item that is there.
  std::vector<json::Value> manifest_statuses;
  // Everything is applied: this sets the condition Applied, but does not replace one, written or
  // waiting to be, that says the same because an object was created again.
  bool is_applied = false;
};

// Thread-safe. Changes of a Work that vanishes are dropped; failed writes are retried with
// back-off.
class WorkStatusWriter {
 public:
  // Registers the writer's loop with the manager. `limiter` sets the back-off of its queue;
  // `workers` is how many statuses are written at once, and kLeastWorkers at least.
  explicit WorkStatusWriter(kube::Manager& manager, const kube::RateLimiterOptions& limiter = {},
                            int workers = kLeastWorkers);
  static constexpr int kLeastWorkers = 3;
  ~WorkStatusWriter();
  WorkStatusWriter(const WorkStatusWriter&) = delete;

  // Later changes of the same condition or of the same manifest's status replace earlier ones. The
  // change is dropped when this Work has gone, even if there is another one of the same name.
  void Submit(const kube::Object& work, WorkStatusChange change, News news);

 private:
  class Loop;
  Loop* loop_;  // Owned by its controller, which belongs to the manager.
};

// Returns `status` with the change applied: statuses of other manifests stay (upstream keeps only
// the last one seen), sorted by ordinal; lastTransitionTime moves only when a condition's status
// flips.
json::Value WithChange(const json::Value& status, const WorkStatusChange& change, absl::Time now);
// Returns `status` without the items of manifests that the Work does not have at their ordinal any
// more.
json::Value WithoutStrangers(const json::Value& status, absl::Span<const json::Value> manifests);

}  // namespace works

#endif  // WORKS_WORK_STATUS_WRITER_H_
