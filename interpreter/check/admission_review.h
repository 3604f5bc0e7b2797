// Answers an AdmissionReview (admission.k8s.io/v1) about a configuration of the interpreter.
//
// Refused is what is certainly broken, with every mistake that was found: a customization in which
// CheckCustomization finds errors, a webhook configuration with problems that upstream's admission
// refuses. Everything else is allowed, so that nothing is stuck because of a check: other kinds,
// deletions, objects that are being deleted, updates that leave rules as they are, and findings
// that are not certain. Warnings of the check, and customizations of which another one answers
// already (which depends on what this process knows of the others), come as warnings, which kubectl
// prints.
#ifndef INTERPRETER_CHECK_ADMISSION_REVIEW_H_
#define INTERPRETER_CHECK_ADMISSION_REVIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/customized/customization_set.h"
#include "kube/meta/object.h"

namespace interpreter::check {

// What is wrong with an object.
struct Verdict {
  std::vector<std::string> errors;  // The object is certainly broken.
  std::vector<std::string> warnings;
};

// Judges a customization among others (one of the same name is left out), or a webhook
// configuration of either kind; nothing is wrong with other objects. `merge`: how the
// customizations are put together.
Verdict Judge(const kube::Object& object, const std::vector<kube::ObjectPtr>& customizations,
              const customized::MergeOptions& merge = {});

// Returns whether this is a configuration of webhooks, of either kind.
bool IsWebhookConfiguration(const kube::Object& object);

// Returns the AdmissionReview with the response. kInvalidArgument if `review` is none, or has no
// request. `customizations` are those that exist.
absl::StatusOr<json::Value> ReviewAdmission(const json::Value& review,
                                            const std::vector<kube::ObjectPtr>& customizations,
                                            const customized::MergeOptions& merge = {});

}  // namespace interpreter::check

#endif  // INTERPRETER_CHECK_ADMISSION_REVIEW_H_
