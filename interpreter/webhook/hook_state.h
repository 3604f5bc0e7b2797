// What is remembered of a hook's calls: its breaker, what it can be asked to learn whether it is
// there, what went unanswered while it was not, and what was answered by another layer instead.
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
  // Questions without an answer that are kept, of so many objects.
  static constexpr size_t kUnanswered = 4;

  HookState(const base::Clock& clock, const BreakerOptions& options)
      : breaker_(clock, options), ignored_(clock) {}

  CircuitBreaker& breaker() { return breaker_; }
  IgnoredFailures& ignored() { return ignored_; }
  // Returns when the hook is to be asked without anybody's wanting to know;
  // base::SteadyTime::InfiniteFuture() when there is nothing to learn.
  base::SteadyTime NextProbeTime() const {
    return breaker_.IsOpen() ? breaker_.NextProbe() : ignored_.NextProbe();
  }

  // The hook answered a question. While the breaker is closed, what went unanswered before counts
  // no more: it was no outage, and each object is tried again in its own time.
  void NoteAnswered(const Question& question);
  // It did not, or was not asked because calls are suspended.
  void NoteUnanswered(const Question& question);
  // The question could not even be asked, for a reason that is not the hook's.
  void NoteUnasked(const Question& question);

  // The last question that was answered; nullopt when none ever was.
  std::optional<Question> AnsweredQuestion() const;
  // What to ask a hook that may be back: in turns the question that it has answered before, and
  // those that it has not (an object that it can not cope with must not be all it is asked about).
  // nullopt when there is nothing to ask.
  std::optional<Question> NextProbe();
  // What went unanswered or unasked since the hook last answered; forgets it.
  std::set<KindQuestion> TakeUnanswered();
  // The same, and what was left to other layers: all that may fare better once the way to the hook
  // has changed.
  std::set<KindQuestion> TakeWaiting();

 private:
  CircuitBreaker breaker_;
  IgnoredFailures ignored_;
  mutable absl::Mutex mu_;
  std::optional<Question> answered_ ABSL_GUARDED_BY(mu_);
  // Each of another object; first those that have not been probed with, the latest first.
  std::deque<Question> unanswered_ ABSL_GUARDED_BY(mu_);
  std::set<KindQuestion> kinds_unanswered_ ABSL_GUARDED_BY(mu_);
  bool answered_is_next_ ABSL_GUARDED_BY(mu_) = true;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_STATE_H_
