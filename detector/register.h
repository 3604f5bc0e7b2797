// Builds the detector: the loop over templates, those over policies, and the discovery of kinds
// that can be templates.
#ifndef DETECTOR_REGISTER_H_
#define DETECTOR_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace detector {

// `workers` is the number of workers for templates. kInvalidArgument when
// --skipped-propagating-apis or --skipped-propagating-namespaces cannot be parsed.
absl::Status RegisterDetector(const controllers::Context& context, int workers);

}  // namespace detector

#endif  // DETECTOR_REGISTER_H_
