// Asks the interpreter what the pods of a template ask for, and reports what comes of it.
#ifndef DETECTOR_POD_INQUIRY_H_
#define DETECTOR_POD_INQUIRY_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "detector/binding_builder.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"

namespace detector {

// The kind decides what is asked: for components if the gate is on and a rule finds them, else for
// replicas if a rule counts them, else nothing (upstream's applyReplicaInterpretation).
// Thread-safe.
class PodInquiry {
 public:
  struct Deps {
    const interpreter::Interpreter& interpreter;
    kube::EventRecorder& outcomes;
    bool components = false;      // Feature gate MultiplePodTemplatesScheduling.
    bool quota_estimate = false;  // Feature gate ResourceQuotaEstimate.
  };
  // REQUIRES: everything in `deps` outlives this object.
  explicit PodInquiry(Deps deps) : deps_(deps) {}

  // A failure is reported as an event on the template, and so is the success that ends it.
  absl::StatusOr<PodDemand> Ask(const kube::Object& object) const;
  // Reports that the interpreter has answered, as a routine success.
  void ReportAnswered(const kube::Object& object) const;

 private:
  // What is asked, and the reasons and the message of the events about it.
  struct Inquiry;
  // Returns nullptr when nothing is asked about the kind.
  const Inquiry* InquiryAbout(const kube::Gvk& gvk) const;
  absl::StatusOr<PodDemand> Components(const kube::Object& object) const;
  absl::StatusOr<PodDemand> Replicas(const kube::Object& object) const;

  const Deps deps_;
};

}  // namespace detector

#endif  // DETECTOR_POD_INQUIRY_H_
