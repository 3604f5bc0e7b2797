// Queues the bindings or Works that a change of the interpreter's rules touches.
#ifndef WORKS_RULE_REQUEUE_H_
#define WORKS_RULE_REQUEUE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "kube/cache/informer.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace works {

// Names a queue and what goes into it. REQUIRES: the queue outlives the interpreter.
struct RuleRequeue {
  kube::WorkQueue& queue;
  std::shared_ptr<kube::Informer> informer;        // The informer of bindings or Works.
  std::vector<interpreter::Operation> operations;  // Changes of other operations are ignored.
  // Selects the bindings or Works that the loop handles; empty selects all.
  std::function<bool(const kube::Object&)> only = nullptr;
};

// From now on a change of rules queues each binding whose template's kind it touches. `map` gives
// the request for a binding; by default that is its own key.
void RequeueBindings(const interpreter::Interpreter& interpreter, RuleRequeue requeue,
                     std::function<kube::Request(const kube::Object& binding)> map = nullptr);

// From now on a change of rules queues each Work with a manifest whose kind it touches. `map` gives
// the request for a Work and one of its touched manifests; by default that is the Work's own key.
void RequeueWorks(
    const interpreter::Interpreter& interpreter, RuleRequeue requeue,
    std::function<kube::Request(const kube::Object& work, const kube::Object& manifest)> map =
        nullptr);

}  // namespace works

#endif  // WORKS_RULE_REQUEUE_H_
