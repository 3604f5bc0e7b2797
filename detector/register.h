// Builds the detector's loops.
#ifndef DETECTOR_REGISTER_H_
#define DETECTOR_REGISTER_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "detector/template_filter.h"
#include "detector/template_reconciler.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/work_queue.h"

namespace detector {

struct DetectorOptions {
  TemplateFilter filter;
  int template_workers = 5;
  int policy_workers = 1;
  int cluster_policy_workers = 1;
  kube::RateLimiterOptions limiter;
  DetectorGates gates;
  // How often clusters tell which kinds they serve.
  absl::Duration cluster_status_round = absl::Seconds(10);
};

// The detector's parts that its loops refer to. REQUIRES: outlives the manager's Run.
class Detector {
 public:
  Detector(kube::Manager& manager, const interpreter::Interpreter& interpreter,
           DetectorOptions options);
  ~Detector();
  Detector(const Detector&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace detector

#endif  // DETECTOR_REGISTER_H_
