// Answers that viewers with the same credentials share: each is made once for all who ask at the
// same time, and kept for those who ask soon afterwards.
#ifndef LENS_SERVE_SHARED_ANSWERS_H_
#define LENS_SERVE_SHARED_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "lens/serve/reading_end.h"

namespace lens::serve {

// An answer as it is sent. Immutable.
struct SharedAnswer {
  absl::Status status;     // Why there is none; `json` is null then.
  base::SharedBytes json;  // As it is sent.
  base::SteadyTime began = base::SteadyTime::InfinitePast();
  base::SteadyTime ended = base::SteadyTime::InfinitePast();
};
using SharedAnswerPtr = std::shared_ptr<const SharedAnswer>;

// What is asked, and by whom: answers are never shared by different owners.
struct SharedQuestion {
  std::string owner;  // Names credentials: Viewer::owner() and Viewer::version().
  std::string text;   // Path and parameters.

  bool operator<(const SharedQuestion& other) const {
    return std::tie(owner, text) < std::tie(other.owner, other.text);
  }
};

// Of each question one answer is made at a time. Thread-safe.
class SharedAnswers {
 public:
  using Done = std::function<void(const SharedAnswerPtr&)>;

  // Keeps answers of at most so many bytes in all.
  explicit SharedAnswers(size_t most_bytes) : most_bytes_(most_bytes) {}

  // What somebody who wants an answer gets.
  struct Place {
    bool has_to_make = false;  // The caller has to have it made: Begin(), then Finish().
    uint64_t ticket = 0;       // For GiveUp(); 0 when `done` has been called already.
  };
  // Calls `done` with an answer whose making began at `not_before` or later: at once, or when one
  // ends that is made now, or when the one after it does. kResourceExhausted when kMostWaiting wait
  // already.
  absl::StatusOr<Place> Want(const SharedQuestion& question, base::SteadyTime not_before,
                             base::SteadyTime now, Done done);
  // Says that nobody waits with this ticket any more; an answer for which nobody waits is not made
  // on. Returns false when `done` was called, or is being called.
  bool GiveUp(const SharedQuestion& question, uint64_t ticket);

  // Says that the answer is being made from now on; returns what ends that. REQUIRES: Want() has
  // said so, or Finish().
  std::shared_ptr<ReadingEnd> Begin(const SharedQuestion& question, base::SteadyTime now);
  // Ends the making, and calls who waits for it. Returns true when the caller has to have another
  // one made, for those who want a newer one.
  bool Finish(const SharedQuestion& question, const absl::StatusOr<json::Value>& made,
              base::SteadyTime now);

  // Forgets answers that are too old to be shown.
  void ForgetOld(base::SteadyTime now);
  // Returns how many bytes are kept.
  size_t bytes() const;

 private:
  using Waiting = std::map<uint64_t, Done>;  // By ticket.

  struct Entry {
    SharedAnswerPtr kept;
    base::SteadyTime last_used;
    std::shared_ptr<ReadingEnd> making;  // Null when none is made.
    // When it began, InfiniteFuture as long as it waits for a thread.
    base::SteadyTime making_since;
    Waiting waiting;  // For what is being made.
    Waiting next;     // For what has to be made afterwards.
  };
  using Entries = std::map<SharedQuestion, Entry>;

  static size_t SizeOf(const Entries::value_type& entry);
  // Says that an answer is to be made, which has not begun.
  static void Prepare(Entry& entry);
  void Keep(Entries::iterator entry, SharedAnswerPtr answer, base::SteadyTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Drop(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops what was used longest ago until the rest is within the bound.
  void MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t most_bytes_;
  mutable absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_SHARED_ANSWERS_H_
