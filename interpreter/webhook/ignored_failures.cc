// The questions wait in a queue. When the time has come the first one is asked (Due): if it fails
// it goes to the end and the pause is doubled, so that all of them have their turn and a hook that
// stays silent is asked less and less; if it succeeds everything is forgotten and looked at again.
// What then fails once more starts with a longer pause (settled_), or objects that never succeed
// would have all the others looked at every few seconds.
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
    *known = question;  // In its place, so that they go on taking turns.
    return false;
  }
  questions_.push_back(question);
  if (questions_.size() > kQuestions) questions_.pop_front();
  if (next_ != base::SteadyTime::InfiniteFuture()) return false;
  // What fails again soon after everything was looked at gains nothing by haste.
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
  next_ = clock_.SteadyNow() + pause_;  // Whoever looks meanwhile finds it asked.
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
