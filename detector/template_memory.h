// What the detector remembers about templates.
#ifndef DETECTOR_TEMPLATE_MEMORY_H_
#define DETECTOR_TEMPLATE_MEMORY_H_

#include <string>

#include "detector/blocked_set.h"
#include "detector/own_claims.h"
#include "detector/reported_deletions.h"
#include "detector/template_edits.h"
#include "detector/waiting_set.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Any of it may be lost at any moment: a template that is queued again is looked at like a new one
// (docs/decisions.md, 22). The parts are thread-safe.
struct TemplateMemory {
  // REQUIRES: `events` outlives this object.
  explicit TemplateMemory(kube::EventSink& events);

  WaitingSet waiting;            // Templates that no policy has matched.
  WaitingSet uncounted;          // Templates whose binding could not be given a count of pods yet.
  BlockedSet blocked;            // Templates whose policy asks for what is missing or wrong.
  TemplateEdits edits;           // Edits that bindings do not record yet.
  AskedVersions asked;           // Templates that the server says nobody has edited.
  OwnClaims claims;              // Claims by the detector whose updates have not come yet.
  ReportedDeletions deletions;   // Deletions that finalizers hold up.
  kube::EventRecorder outcomes;  // By kCounting, kApplying and kPreempting.

  // Call it when the template does not exist (any more).
  void Forget(const kube::Request& request);
  // Call it when the kind is not watched any more. When it is watched again, all its templates are
  // delivered as added.
  void ForgetKind(const kube::Gvk& gvk);
};

// The parts of a template's outcomes: counting its pods, applying its policy, and another policy's
// taking it over.
inline constexpr char kCounting[] = "count", kApplying[] = "apply", kPreempting[] = "preempt";
// Returns the request whose outcomes they are.
inline kube::Request OutcomesOf(const kube::Object& object) {
  return {.key = object.key(), .gvk = object.gvk()};
}

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_MEMORY_H_
