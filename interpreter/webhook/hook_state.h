// The state of one hook: its breaker, the questions that it answered and did not answer, which
// serve as probes, and the questions that another layer answered instead.
#ifndef INTERPRETER_WEBHOOK_HOOK_STATE_H_
#define INTERPRETER_WEBHOOK_HOOK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "interpreter/webhook/circuit_breaker.h"
#include "interpreter/webhook/codec.h"
#include "interpreter/webhook/ignored_failures.h"
#include "kube/meta/names.h"

namespace interpreter::webhook {

// Thread-safe.
class HookState {
 public:
  // How many unanswered questions are kept, each about another object.
  static constexpr size_t kUnanswered = 4;

  HookState(const base::Clock& clock, const BreakerOptions& options)
      : breaker_(clock, options), ignored_(clock) {}

  CircuitBreaker& breaker() { return breaker_; }
  IgnoredFailures& ignored() { return ignored_; }
  // Returns when the hook should be probed next; base::SteadyTime::InfiniteFuture() when there is
  // no reason to.
  base::SteadyTime NextProbeTime() const {
    return breaker_.IsOpen() ? breaker_.NextProbe() : ignored_.NextProbe();
  }

  // Records that the hook answered a question. While the breaker is closed, this clears the
  // unanswered ones: there was no outage, and each object is tried again in its own time.
  void NoteAnswered(const Question& question);
  // Records that the hook did not answer, or was not asked because its calls are suspended.
  void NoteUnanswered(const Question& question);
  // Records that the question could not be asked for a reason that is not the hook's.
  void NoteUnasked(const Question& question);

  // Returns the last question that was answered; nullopt when there was none.
  std::optional<Question> AnsweredQuestion() const;
  // Returns what to ask a hook that may be back: in turns the question that it answered last, and
  // those that it did not answer (an object that breaks the hook must not be its only probe).
  // nullopt when there is nothing to ask.
  std::optional<Question> NextProbe();
  // Returns what was not answered or not asked since the hook last answered, and forgets it.
  std::set<KindQuestion> TakeUnanswered();
  // As TakeUnanswered, with what other layers answered: all that may get another answer once the
  // way to the hook has changed.
  std::set<KindQuestion> TakeWaiting();

 private:
  CircuitBreaker breaker_;
  IgnoredFailures ignored_;
  mutable absl::Mutex mu_;
  std::optional<Question> answered_ ABSL_GUARDED_BY(mu_);
  // Each about another object; those that no probe has asked come first, the latest of them at the
  // front.
  std::deque<Question> unanswered_ ABSL_GUARDED_BY(mu_);
  std::set<KindQuestion> kinds_unanswered_ ABSL_GUARDED_BY(mu_);
  bool answered_is_next_ ABSL_GUARDED_BY(mu_) = true;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_STATE_H_
