// Records failed questions to a hook that another layer answered instead (failurePolicy: Ignore).
//
// Their callers do not ask the hook again: the object would keep the other layer's answer although
// the hook is back. So each such question is kept and asked again, one at a time: after 5 s, and
// after each failure with twice the pause, up to 5 minutes. When one is answered, every kind and
// operation with an ignored failure is to be looked at again. An object for which the hook never
// answers costs one question every 5 minutes, and does not make others be looked at.
#ifndef INTERPRETER_WEBHOOK_IGNORED_FAILURES_H_
#define INTERPRETER_WEBHOOK_IGNORED_FAILURES_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "interpreter/webhook/codec.h"
#include "kube/meta/names.h"

namespace interpreter::webhook {

// A kind, and an operation that was asked about an object of it.
struct KindQuestion {
  kube::Gvk gvk;
  Operation operation;
  friend auto operator<=>(const KindQuestion&, const KindQuestion&) = default;
};

// Thread-safe.
class IgnoredFailures {
 public:
  static constexpr absl::Duration kFirstPause = absl::Seconds(5);
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);
  // How many questions are kept, each about another object; the oldest is dropped first. (Pairs of
  // kind and operation are all kept: there are only as many as propagated kinds.)
  static constexpr size_t kQuestions = 8;

  // REQUIRES: the clock outlives this object.
  explicit IgnoredFailures(const base::Clock& clock) : clock_(clock) {}

  // Records a failed question. Returns true when NextProbe() has become earlier.
  bool Note(const Question& question);
  // Must be called when the hook answered a question. Returns true when that question is a recorded
  // one; then NextProbe() is now.
  bool NoteAnswered(const Question& question);

  // Returns when to ask again; base::SteadyTime::InfiniteFuture() when nothing is pending.
  base::SteadyTime NextProbe() const;
  // Returns the question to ask, if the pause is over. Succeeded or Failed must follow.
  std::optional<Question> Due();
  // Returns what is to be looked at again, and forgets everything.
  std::set<KindQuestion> Succeeded();
  void Failed();

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  std::deque<Question> questions_ ABSL_GUARDED_BY(mu_);  // The next one to ask comes first.
  std::set<KindQuestion> kinds_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  absl::Duration pause_ ABSL_GUARDED_BY(mu_) = kFirstPause;
  base::SteadyTime settled_ ABSL_GUARDED_BY(mu_) =
      base::SteadyTime::InfinitePast();  // Time of the last success.
};

// Returns a hash that identifies the object of the question; equal for equal objects in this
// process.
uint64_t ObjectOf(const Question& question);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_IGNORED_FAILURES_H_
