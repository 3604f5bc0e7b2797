// The questions wait in a queue. When the pause is over the first one is asked (Due). If it fails
// it goes to the end and the pause is doubled, so that all questions have their turn and a silent
// hook is asked less and less. If it succeeds, everything is forgotten and looked at again.
// Questions that fail again after that start with a longer pause (settled_); otherwise objects that
// never succeed would make all others be looked at every few seconds.

#include "interpreter/webhook/ignored_failures.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace interpreter::webhook {

namespace {

bool IsSame(const Question& a, const Question& b) {
  return a.operation == b.operation && ObjectOf(a) == ObjectOf(b);
}

}  // namespace

uint64_t ObjectOf(const Question& question) {
  const kube::Object& object = question.object;
  return absl::HashOf(object.api_version(), object.kind(), object.ns(), object.name());
}

bool IgnoredFailures::Note(const Question& question) {
  absl::MutexLock lock(&mu_);
  kinds_.insert({question.object.gvk(), question.operation});
  const auto known = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& kept) { return IsSame(kept, question); });
  if (known != questions_.end()) {
    *known = question;  // Keeps its place, so that questions take turns.
    return false;
  }
  questions_.push_back(question);
  if (questions_.size() > kQuestions) questions_.pop_front();
  if (next_ != base::SteadyTime::InfiniteFuture()) return false;
  // A question that fails soon after a success starts with a longer pause, because asking it at
  // once would gain nothing.
  const base::SteadyTime now = clock_.SteadyNow();
  const bool again = now - settled_ < kLongestPause;
  pause_ = again ? std::min(pause_ * 2, kLongestPause) : kFirstPause;
  next_ = now + pause_;
  return true;
}

bool IgnoredFailures::NoteAnswered(const Question& question) {
  absl::MutexLock lock(&mu_);
  const auto known = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& kept) { return IsSame(kept, question); });
  if (known == questions_.end()) return false;
  std::rotate(questions_.begin(), known, known + 1);
  next_ = clock_.SteadyNow();
  return true;
}

base::SteadyTime IgnoredFailures::NextProbe() const {
  absl::MutexLock lock(&mu_);
  return next_;
}

std::optional<Question> IgnoredFailures::Due() {
  absl::MutexLock lock(&mu_);
  if (questions_.empty() || clock_.SteadyNow() < next_) return std::nullopt;
  next_ = clock_.SteadyNow() + pause_;  // Other threads must not ask it at the same time.
  return questions_.front();
}

std::set<KindQuestion> IgnoredFailures::Succeeded() {
  absl::MutexLock lock(&mu_);
  questions_.clear();
  next_ = base::SteadyTime::InfiniteFuture();
  settled_ = clock_.SteadyNow();
  return std::exchange(kinds_, {});
}

void IgnoredFailures::Failed() {
  absl::MutexLock lock(&mu_);
  if (questions_.empty()) return;
  std::rotate(questions_.begin(), questions_.begin() + 1, questions_.end());
  pause_ = std::min(pause_ * 2, kLongestPause);
  next_ = clock_.SteadyNow() + pause_;
}

}  // namespace interpreter::webhook
