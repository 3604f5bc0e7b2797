// Three members record a hook's calls for three purposes.
//
// `answered_` is the last question that the hook answered: a hook in doubt is asked it again,
// because one object that breaks the hook does not prove that the hook is down. `unanswered_` are
// the latest questions that it did not answer, each about another object. Probes ask in turns
// `answered_` and `unanswered_`: the hook must be asked neither only about an object that breaks it
// nor only what it still can answer. `kinds_unanswered_` are the kinds and operations to look at
// again when the breaker closes, or when the way to the hook changes.
//
// While the breaker is closed, an answer clears the latter two: there was no outage, and each
// failed caller tries again by itself. Questions that their callers do not try again, because
// another layer has answered, are in IgnoredFailures.

#include "interpreter/webhook/hook_state.h"

#include <algorithm>
#include <utility>

namespace interpreter::webhook {

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
    *known = question;  // Keeps its place, so that every question gets its turn.
    return;
  }
  unanswered_.push_front(question);
  if (unanswered_.size() > kUnanswered) unanswered_.pop_back();
}

void HookState::NoteUnasked(const Question& question) {
  absl::MutexLock lock(&mu_);
  kinds_unanswered_.insert({question.object.gvk(), question.operation});
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

std::set<KindQuestion> HookState::TakeWaiting() {
  std::set<KindQuestion> waiting = TakeUnanswered();
  waiting.merge(ignored_.Succeeded());
  return waiting;
}

}  // namespace interpreter::webhook
