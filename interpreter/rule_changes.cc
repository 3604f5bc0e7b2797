#include "interpreter/rule_changes.h"

#include <utility>

namespace interpreter {

void RuleChanges::Subscribe(Listener listener) {
  absl::MutexLock lock(&mu_);
  listeners_.push_back(std::move(listener));
}

void RuleChanges::Publish(const RuleChange& change) const {
  std::vector<Listener> listeners;
  {
    absl::MutexLock lock(&mu_);
    listeners = listeners_;
  }
  for (const Listener& listener : listeners) listener(change);
}

}  // namespace interpreter
