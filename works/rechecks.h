// Asks loops to look at an object again although the object itself has not changed: the loops that
// render templates at a binding, the execution loop at a Work.
//
// A binding records its template's resourceVersion, and a new value there makes the loops look at
// the template. The detector writes a new value when it has seen an edit. When it finds another
// version and does not know whether that is an edit or only a write of the status (this process
// has just started, or the kind was not watched for a while), it writes nothing and asks here: the
// loops compare what they would write with what is there.
//
// Others ask as well, in cases that no change of an object shows: docs/architecture.md has a table
// of them ("Who wakes whom").
#ifndef WORKS_RECHECKS_H_
#define WORKS_RECHECKS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "kube/runtime/work_queue.h"

namespace works {

// Thread-safe.
class Rechecks {
 public:
  // From now on requests for objects of this resource are put into the queue; only for those that
  // `wants` lets through, if it is given. REQUIRES: the queue outlives all calls of Publish.
  void Subscribe(const kube::Resource& resource, kube::WorkQueue& queue,
                 std::function<bool(const kube::Object& object)> wants = nullptr);
  // Asks every subscriber of the object's kind to look at it: at a binding whose template may have
  // been edited, at a Work that has to be applied again. `priority` is that of the queues: an edit
  // that was seen must not wait behind what a start has to look at. Never blocks.
  void Publish(const kube::Object& object, int priority = kube::kInitialListPriority) const;

 private:
  struct Subscriber {
    std::string kind;
    kube::WorkQueue& queue;
    std::function<bool(const kube::Object&)> wants;
  };
  mutable absl::Mutex mu_;
  std::vector<Subscriber> subscribers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_RECHECKS_H_
