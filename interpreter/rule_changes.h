// Informs loops that the interpreter's rules have changed, so that exactly what a change touches is
// looked at again. (Upstream does not: a changed customization there waits for the next event of
// each object.)
#ifndef INTERPRETER_RULE_CHANGES_H_
#define INTERPRETER_RULE_CHANGES_H_

#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace interpreter {

// Returns whether the answer for a kind and an operation may differ from what it was.
using RuleChange = std::function<bool(const kube::Gvk& gvk, Operation op)>;

// Thread-safe.
class RuleChanges {
 public:
  using Listener = std::function<void(const RuleChange& change)>;

  // The listener is called as long as this object lives, so what it refers to must live that long.
  // It is called on the publisher's thread and must not block (it should only put keys into a
  // queue).
  void Subscribe(Listener listener);
  void Publish(const RuleChange& change) const;

 private:
  mutable absl::Mutex mu_;
  std::vector<Listener> listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter

#endif  // INTERPRETER_RULE_CHANGES_H_
