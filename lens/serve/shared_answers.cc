// Who asks gets the kept answer if it is young enough, and if its making began after the last
// reading of the fleet: what is shown beside news must not be older than the news. Else the asker
// waits for the answer that is being made, under the same condition, or for the one after it, which
// is one for all of them. An error is told to those who wait and not kept. When nobody waits any
// more, the making is ended; what was made by then is lost.

#include "lens/serve/shared_answers.h"

#include <algorithm>
#include <utility>

#include "lens/serve/bounds.h"
#include "lens/serve/shown.h"

namespace lens::serve {
namespace {

// An answer that took long is kept for longer, so that it is not made all the time.
bool IsYoung(const SharedAnswer& answer, base::SteadyTime now) {
  const absl::Duration kept = kPausePerReading * (answer.ended - answer.began);
  return now - answer.ended <= std::clamp(kept, kShareAtLeast, kShareAtMost);
}

SharedAnswer AnswerFrom(const absl::StatusOr<json::Value>& made) {
  SharedAnswer answer;
  answer.status = made.status();
  if (!made.ok()) return answer;
  std::string text = json::Write(*made);
  answer.status = CheckLength(text.size());
  if (answer.status.ok()) answer.json = std::make_shared<const std::string>(std::move(text));
  return answer;
}

}  // namespace

absl::StatusOr<SharedAnswers::Place> SharedAnswers::Want(const SharedQuestion& question,
                                                         base::SteadyTime not_before,
                                                         base::SteadyTime now, Done done) {
  SharedAnswerPtr known;
  {
    absl::MutexLock lock(&mu_);
    Entry& entry = entries_[question];
    const bool is_good =
        entry.kept != nullptr && entry.kept->began >= not_before && IsYoung(*entry.kept, now);
    if (!is_good) {
      if (waiting_ >= kMostWaiting) {
        if (entry.kept == nullptr && entry.making == nullptr) entries_.erase(question);
        return absl::ResourceExhaustedError("too many wait for an answer at the moment");
      }
      ++waiting_;
      const bool has_to_make = entry.making == nullptr;
      if (has_to_make) Prepare(entry);
      // What was given up is not made to its end.
      const bool joins = entry.making_since >= not_before && !entry.making->stop().stop_requested();
      (joins ? entry.waiting : entry.next).emplace(++last_ticket_, std::move(done));
      return Place{has_to_make, last_ticket_};
    }
    entry.last_used = now;
    known = entry.kept;
  }
  done(known);
  return Place();
}

bool SharedAnswers::GiveUp(const SharedQuestion& question, uint64_t ticket) {
  Waiting::node_type dropped;  // Destroyed without the lock.
  std::shared_ptr<ReadingEnd> end;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(question);
    if (found == entries_.end()) return false;
    Entry& entry = found->second;
    dropped = entry.waiting.extract(ticket);
    if (dropped.empty()) dropped = entry.next.extract(ticket);
    if (dropped.empty()) return false;
    --waiting_;
    if (entry.waiting.empty()) end = entry.making;
  }
  if (end != nullptr) end->Because(absl::CancelledError("nobody waits for it any more"));
  return true;
}

void SharedAnswers::Prepare(Entry& entry) {
  entry.making = std::make_shared<ReadingEnd>();
  entry.making_since = base::SteadyTime::InfiniteFuture();
}

std::shared_ptr<ReadingEnd> SharedAnswers::Begin(const SharedQuestion& question,
                                                 base::SteadyTime now) {
  absl::MutexLock lock(&mu_);
  Entry& entry = entries_[question];
  entry.making_since = now;
  return entry.making;
}

bool SharedAnswers::Finish(const SharedQuestion& question, const absl::StatusOr<json::Value>& made,
                           base::SteadyTime now) {
  SharedAnswer answer = AnswerFrom(made);
  Waiting waiting;
  SharedAnswerPtr shared;
  bool has_to_make = false;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(question);
    Entry& entry = found->second;
    answer.began = std::min(entry.making_since, now);
    answer.ended = now;
    shared = std::make_shared<const SharedAnswer>(std::move(answer));
    waiting.swap(entry.waiting);
    waiting_ -= waiting.size();
    entry.making = nullptr;
    has_to_make = !entry.next.empty();
    if (has_to_make) {
      Prepare(entry);
      entry.waiting.swap(entry.next);
    }
    Keep(found, shared, now);
  }
  for (const auto& [ticket, done] : waiting) done(shared);
  return has_to_make;
}

size_t SharedAnswers::SizeOf(const Entries::value_type& entry) {
  const auto& [question, own] = entry;
  return own.kept == nullptr ? 0 : question.text.size() + own.kept->json->size();
}

void SharedAnswers::Keep(Entries::iterator entry, SharedAnswerPtr answer, base::SteadyTime now) {
  bytes_ -= SizeOf(*entry);
  entry->second.kept = nullptr;
  if (answer->status.ok()) {
    entry->second.kept = std::move(answer);
    entry->second.last_used = now;
    bytes_ += SizeOf(*entry);
  } else if (entry->second.making == nullptr) {
    entries_.erase(entry);
  }
  MakeRoom();
}

void SharedAnswers::Drop(Entries::iterator entry) {
  bytes_ -= SizeOf(*entry);
  entry->second.kept = nullptr;
  if (entry->second.making == nullptr) entries_.erase(entry);
}

void SharedAnswers::MakeRoom() {
  while (bytes_ > most_bytes_) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second.kept == nullptr) continue;
      const bool is_older =
          oldest == entries_.end() || it->second.last_used < oldest->second.last_used;
      if (is_older) oldest = it;
    }
    Drop(oldest);
  }
}

void SharedAnswers::ForgetOld(base::SteadyTime now) {
  absl::MutexLock lock(&mu_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    const SharedAnswerPtr& kept = entry->second.kept;
    if (kept != nullptr && !IsYoung(*kept, now)) Drop(entry);
  }
}

size_t SharedAnswers::bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

}  // namespace lens::serve
