#include "interpreter/webhook/hook_state.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace interpreter::webhook {

uint64_t ObjectOf(const Question& question) {
  const kube::Object& object = question.object;
  return absl::HashOf(object.api_version(), object.kind(), object.ns(), object.name());
}

void HookState::NoteAnswered(const Question& question) {
  const bool open = breaker_.IsOpen();
  absl::MutexLock lock(&mu_);
  answered_ = question;
  if (open) return;
  unanswered_.clear();
  kinds_unanswered_.clear();
}

void HookState::NoteUnanswered(const Question& question) {
  const uint64_t object = ObjectOf(question);
  absl::MutexLock lock(&mu_);
  kinds_unanswered_.insert({question.object.gvk(), question.operation});
  const auto known = std::find_if(unanswered_.begin(), unanswered_.end(),
                                  [&](const Question& kept) { return ObjectOf(kept) == object; });
  if (known != unanswered_.end()) {
    *known = question;  // In its place, so that probes go round.
    return;
  }
  unanswered_.push_front(question);
  if (unanswered_.size() > kUnanswered) unanswered_.pop_back();
}

std::optional<Question> HookState::AnsweredQuestion() const {
  absl::MutexLock lock(&mu_);
  return answered_;
}

std::optional<Question> HookState::NextProbe() {
  absl::MutexLock lock(&mu_);
  if (unanswered_.empty() || (answered_is_next_ && answered_.has_value())) {
    answered_is_next_ = false;
    return answered_;
  }
  answered_is_next_ = true;
  Question question = std::move(unanswered_.front());
  unanswered_.pop_front();
  unanswered_.push_back(question);
  return question;
}

std::set<KindQuestion> HookState::TakeUnanswered() {
  absl::MutexLock lock(&mu_);
  unanswered_.clear();
  return std::exchange(kinds_unanswered_, {});
}

}  // namespace interpreter::webhook
