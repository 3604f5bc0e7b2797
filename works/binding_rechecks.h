// Asks the loops that render templates to look at a binding again although the binding itself has
// not changed.
//
// A binding records its template's resourceVersion, and a new value there makes the loops look at
// the template. The detector writes a new value when it has seen an edit. When it finds another
// version and does not know whether that is an edit or only a write of the status (this process
// has just started, or the kind was not watched for a while), it writes nothing and asks here: the
// loops compare what they would write with what is there.
//
// A Work can be named as well: the work-status loop asks the execution loop to apply a Work whose
// object has gone from its member while the execution loop could not apply it.
#ifndef WORKS_BINDING_RECHECKS_H_
#define WORKS_BINDING_RECHECKS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "kube/runtime/work_queue.h"

namespace works {

// Thread-safe.
class BindingRechecks {
 public:
  // From now on requests for bindings (or Works) of this resource are put into the queue, behind
  // fresh changes; only for those that `wants` lets through, if it is given. REQUIRES: the queue
  // outlives all calls of Publish.
  void Subscribe(const kube::Resource& bindings, kube::WorkQueue& queue,
                 std::function<bool(const kube::Object& binding)> wants = nullptr);
  // Asks every subscriber to look at this binding, whose template may have been edited, or at this
  // Work, which has to be applied again. Never blocks.
  void Publish(const kube::Object& binding) const;

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

#endif  // WORKS_BINDING_RECHECKS_H_
