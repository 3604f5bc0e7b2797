// What is remembered of a hook's calls: its breaker, what it can be asked to learn whether it is
// there, and what went unanswered while it was not.
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
#include "kube/meta/names.h"

namespace interpreter::webhook {

// A kind, and what was asked about an object of it.
struct KindQuestion {
  kube::Gvk gvk;
  Operation operation;
  friend auto operator<=>(const KindQuestion&, const KindQuestion&) = default;
};

// Thread-safe.
class HookState {
 public:
  // Questions without an answer that are kept, of so many objects.
  static constexpr size_t kUnanswered = 4;

  HookState(const base::Clock& clock, const BreakerOptions& options) : breaker_(clock, options) {}

  CircuitBreaker& breaker() { return breaker_; }

  // The hook answered. While the breaker is closed, what went unanswered before counts no more: it
  // was no outage, and each object is tried again in its own time.
  void NoteAnswered(const Question& question);
  // It did not, or was not asked because calls are suspended.
  void NoteUnanswered(const Question& question);

  // The last question that was answered; nullopt when none ever was.
  std::optional<Question> AnsweredQuestion() const;
  // What to ask a hook that may be back: in turns the question that it has answered before, and
  // those that it has not (an object that it can not cope with must not be all it is asked about).
  // nullopt when there is nothing to ask.
  std::optional<Question> NextProbe();
  // What went unanswered since the row of outages began; forgets it.
  std::set<KindQuestion> TakeUnanswered();

 private:
  CircuitBreaker breaker_;
  mutable absl::Mutex mu_;
  std::optional<Question> answered_ ABSL_GUARDED_BY(mu_);
  // Each of another object; first those that have not been probed with, the latest first.
  std::deque<Question> unanswered_ ABSL_GUARDED_BY(mu_);
  std::set<KindQuestion> kinds_unanswered_ ABSL_GUARDED_BY(mu_);
  bool answered_is_next_ ABSL_GUARDED_BY(mu_) = true;
};

// Which object the question is about; equal for equal objects in this process.
uint64_t ObjectOf(const Question& question);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_STATE_H_
