#include "kube/runtime/event_recorder.h"

#include "kube/client/errors.h"

namespace kube {

void EventRecorder::Outcome(const Attempt& attempt, const absl::Status& result) {
  if (IsNoOutcome(result)) return;
  const bool recovered = outcomes_.Recovered(attempt.of, attempt.part, result.ok());
  const bool routine = attempt.routine && WantsRoutine();
  if (result.ok() && !recovered && !attempt.changed && !routine) return;
  for (const InvolvedObject& about : attempt.about) {
    if (result.ok()) {
      Normal(about, attempt.success.reason, attempt.success.message);
    } else {
      Warning(about, attempt.failure.reason,
              attempt.failure.message.empty() ? result.message() : attempt.failure.message);
    }
  }
}

}  // namespace kube
