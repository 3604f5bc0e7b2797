// What the failures of a hook that were ignored (failurePolicy: Ignore) left to the next layer.
//
// An ignored failure is answered by another layer, so nobody asks the hook again by himself: the
// object would keep the other layer's answer although the hook is back. So each ignored question is
// kept, and asked again by whoever probes hooks, one question at a time: after 5 s, and with each
// failure after twice the pause, up to 5 minutes. When one is answered, every kind and operation
// with an ignored failure is to be looked at again. An object that its hook never answers costs one
// question every 5 minutes, and does not have the others looked at.
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

// A kind, and what was asked about an object of it.
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
  // Questions that are kept, each about another object; of more, the oldest is dropped. (Of kinds
  // and operations, all are remembered: there are no more than kinds that somebody propagates.)
  static constexpr size_t kQuestions = 8;

  // REQUIRES: the clock outlives this.
  explicit IgnoredFailures(const base::Clock& clock) : clock_(clock) {}

  // True when NextProbe() has come to be earlier.
  bool Note(const Question& question);
  // The hook answered somebody's question. True when it is one that was ignored before, so that it
  // is worth asking now; NextProbe() has come to be earlier then.
  bool NoteAnswered(const Question& question);

  // Returns when to ask again; base::SteadyTime::InfiniteFuture() when nothing is pending.
  base::SteadyTime NextProbe() const;
  // The question whose turn it is, when the time has come. Succeeded or Failed must follow.
  std::optional<Question> Due();
  // What is to be looked at again; forgets everything.
  std::set<KindQuestion> Succeeded();
  void Failed();

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  std::deque<Question> questions_ ABSL_GUARDED_BY(mu_);  // The one whose turn it is comes first.
  std::set<KindQuestion> kinds_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  absl::Duration pause_ ABSL_GUARDED_BY(mu_) = kFirstPause;
  base::SteadyTime settled_ ABSL_GUARDED_BY(mu_) =
      base::SteadyTime::InfinitePast();  // The last success.
};

// Which object the question is about; equal for equal objects in this process.
uint64_t ObjectOf(const Question& question);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_IGNORED_FAILURES_H_
