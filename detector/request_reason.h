// Why the detector looks at a template, where that matters.
#ifndef DETECTOR_REQUEST_REASON_H_
#define DETECTOR_REQUEST_REASON_H_

#include "kube/runtime/reconciler.h"

namespace detector {

// No edit by a user has led to the request: Karmada itself has changed the template, its policy has
// changed, or a list has shown the template. A lazily activated policy acts on it only if it finds
// an edit in the objects (lazy_activation.h). All other requests have no reason.
inline constexpr kube::Reason kNotByAnEdit = "not by an edit";

}  // namespace detector

#endif  // DETECTOR_REQUEST_REASON_H_
