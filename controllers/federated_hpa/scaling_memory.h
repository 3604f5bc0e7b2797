// What the loop remembers of FederatedHPAs between passes.
#ifndef CONTROLLERS_FEDERATED_HPA_SCALING_MEMORY_H_
#define CONTROLLERS_FEDERATED_HPA_SCALING_MEMORY_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "controllers/autoscaling/normalization.h"
#include "controllers/autoscaling/pod_metrics.h"
#include "controllers/context/scale_target.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace controllers {

// This is memory of one process. When it is empty, windows and rates begin again
// (autoscaling::History); an ambiguous selector is found once both autoscalers have had a pass; and
// the time of a scaling whose status could not be written is lost. Thread-safe, but an entry
// belongs to the pass over its FederatedHPA.
class ScalingMemory {
 public:
  struct Entry {
    std::string uid;
    kube::Gvk gvk;     // Of the target.
    std::string name;  // The same.
    autoscaling::History history;
    // The target was scaled then, and the status does not show it yet.
    std::optional<absl::Time> unreported_scale;
  };

  // Returns the entry of the FederatedHPA. Another object of the same name, or with another target,
  // gets a new one.
  std::shared_ptr<Entry> Of(const kube::Object& hpa, const ScaleTarget& target);
  // Call it when the FederatedHPA does not exist any more.
  void Forget(const kube::ObjectKey& hpa);

  void SetSelector(const kube::ObjectKey& hpa, const kube::LabelSelector& selector);
  // Returns the FederatedHPAs of the namespace whose selector selects one of the pods, sorted.
  std::vector<kube::ObjectKey> Selecting(const std::string& ns,
                                         absl::Span<const autoscaling::Pod> pods) const;

 private:
  mutable absl::Mutex mu_;
  std::map<kube::ObjectKey, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mu_);
  std::map<kube::ObjectKey, kube::LabelSelector> selectors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_HPA_SCALING_MEMORY_H_
