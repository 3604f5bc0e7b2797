// Remembers which templates have had the event that finalizers hold up their deletion.
//
// This memory may be lost at any moment; then the event is recorded once more.
#ifndef DETECTOR_REPORTED_DELETIONS_H_
#define DETECTOR_REPORTED_DELETIONS_H_

#include "api/blocked_deletion.h"
#include "detector/per_template.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe.
class ReportedDeletions : public PerTemplate<api::BlockedDeletion> {
 public:
  // Returns whether this has not been reported yet, and takes note of it.
  bool Note(const kube::Request& request, const api::BlockedDeletion& blocked) {
    const bool known = HasOrForget(
        request, [&](const api::BlockedDeletion& reported) { return reported == blocked; });
    if (!known) Set(request, blocked);
    return !known;
  }
};

}  // namespace detector

#endif  // DETECTOR_REPORTED_DELETIONS_H_
