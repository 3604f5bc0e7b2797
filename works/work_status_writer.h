// The only writer of Work status: collects what the execution and the work-status loop have to say
// about a Work and sends it as one patch.
//
// Changes are held for a moment, so that a workload that comes up costs one write, not one per
// step: kSettled news (healthy, failed) wait kSettledHold, kProgress news as long as a ProgressGate
// says.
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

// One status write per object in this time at most.
inline constexpr absl::Duration kSettledHold = absl::Milliseconds(100);

enum class News { kSettled, kProgress };

struct WorkStatusChange {
  std::vector<kube::Condition> conditions;
  // Items of status.manifestStatuses, one for a manifest at most (by ordinal).
  std::vector<json::Value> manifest_statuses;
};

// Thread-safe. Changes of a Work that vanishes are dropped; failed writes are retried with
// back-off.
class WorkStatusWriter {
 public:
  // Registers its loop with the manager.
  explicit WorkStatusWriter(kube::Manager& manager);
  ~WorkStatusWriter();
  WorkStatusWriter(const WorkStatusWriter&) = delete;

  // Later changes of the same condition or of one manifest's status replace earlier ones. A change
  // is about this Work and not about a later one of the same name: it is dropped when the Work has
  // gone.
  void Submit(const kube::Object& work, WorkStatusChange change, News news);

 private:
  class Loop;
  Loop* loop_;  // Owned by its controller, which belongs to the manager.
};

// `status` with the change applied: statuses of other manifests stay (upstream keeps only the last
// one seen), sorted by ordinal; lastTransitionTime moves only when a condition's status flips.
json::Value WithChange(const json::Value& status, const WorkStatusChange& change, absl::Time now);
// `status` without the items of manifests that the Work does not have at their ordinal any more.
json::Value WithoutStrangers(const json::Value& status, absl::Span<const json::Value> manifests);

}  // namespace works

#endif  // WORKS_WORK_STATUS_WRITER_H_
