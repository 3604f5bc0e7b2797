// What the detector remembers of templates.
#ifndef DETECTOR_TEMPLATE_MEMORY_H_
#define DETECTOR_TEMPLATE_MEMORY_H_

#include <string>

#include "detector/template_edits.h"
#include "detector/waiting_set.h"
#include "kube/meta/names.h"
#include "kube/runtime/conflict_streak.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Any of it may be lost at any moment: a template that comes back is looked at anew
// (docs/decisions.md, 22). The parts are thread-safe.
struct TemplateMemory {
  // REQUIRES: the sink outlives this.
  explicit TemplateMemory(kube::EventSink& events);

  WaitingSet waiting;              // Templates that no policy has matched.
  WaitingSet uncounted;            // Templates whose pods could not be counted the last time.
  TemplateEdits edits;             // Those that their bindings do not show yet.
  kube::EventRecorder outcomes;    // Of what CountingName and ApplyingName call.
  kube::ConflictStreak conflicts;  // Of templates, by what ApplyingName calls.

  // The template does not exist (any more).
  void Forget(const kube::Request& request);
  // The kind is not watched any more. When it is watched again, all its templates come anew.
  void ForgetKind(const kube::Gvk& gvk);
};

// What the outcomes of counting a template's pods, and of applying its policy, are remembered
// under. Kinds of one name in different groups are different kinds.
std::string CountingName(const kube::Gvk& gvk, const kube::ObjectKey& key);
std::string ApplyingName(const kube::Gvk& gvk, const kube::ObjectKey& key);

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_MEMORY_H_
