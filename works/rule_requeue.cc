#include "works/rule_requeue.h"

#include <algorithm>
#include <utility>

#include "api/binding.h"
#include "api/work.h"
#include "interpreter/rule_changes.h"

namespace works {

namespace {

bool IsAbout(const RuleRequeue& requeue, const kube::Object& object) {
  return !requeue.only || requeue.only(object);
}

bool Touches(const interpreter::RuleChange& change, const kube::Gvk& gvk,
             const std::vector<interpreter::Operation>& operations) {
  return std::any_of(operations.begin(), operations.end(),
                     [&](interpreter::Operation op) { return change(gvk, op); });
}

}  // namespace

void RequeueBindings(const interpreter::Interpreter& interpreter, RuleRequeue requeue,
                     std::function<kube::Request(const kube::Object&)> map) {
  interpreter.rule_changes().Subscribe(
      [requeue = std::move(requeue), map = std::move(map)](const interpreter::RuleChange& change) {
        for (const kube::ObjectPtr& binding : requeue.informer->store().List()) {
          if (!IsAbout(requeue, *binding)) continue;
          const kube::Gvk gvk = api::BindingView(*binding).Resource().gvk();
          if (!Touches(change, gvk, requeue.operations)) continue;
          requeue.queue.Add(map ? map(*binding) : kube::Request{.key = binding->key()});
        }
      });
}

void RequeueWorks(const interpreter::Interpreter& interpreter, RuleRequeue requeue,
                  std::function<kube::Request(const kube::Object&, const kube::Object&)> map) {
  interpreter.rule_changes().Subscribe(
      [requeue = std::move(requeue), map = std::move(map)](const interpreter::RuleChange& change) {
        for (const kube::ObjectPtr& work : requeue.informer->store().List()) {
          if (!IsAbout(requeue, *work)) continue;
          for (const json::Value& raw : api::WorkView(*work).Manifests()) {
            const kube::Object manifest(raw);
            if (!Touches(change, manifest.gvk(), requeue.operations)) continue;
            requeue.queue.Add(map ? map(*work, manifest) : kube::Request{.key = work->key()});
          }
        }
      });
}

}  // namespace works
