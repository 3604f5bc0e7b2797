// An interpreter with the answers of a test.
//
//   ScriptedInterpreter scripted;
//   scripted.Enable(Operation::kInterpretDependency);
//   scripted.dependencies = absl::UnavailableError("down");
//   scripted.changes.Publish(...);
#ifndef TESTS_SUPPORT_SCRIPTED_INTERPRETER_H_
#define TESTS_SUPPORT_SCRIPTED_INTERPRETER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "interpreter/interpreter.h"
#include "interpreter/rule_changes.h"

namespace tests {

// Gives the same answers for every kind. REQUIRES: answers are set before loops run, or between
// reconciles.
class ScriptedInterpreter : public interpreter::Interpreter {
 public:
  absl::StatusOr<interpreter::Replicas> replicas = interpreter::Replicas{};
  absl::StatusOr<json::Value> components = json::Value();
  absl::StatusOr<json::Value> dependencies = json::Value();
  std::map<std::string, json::Value> dependencies_of;  // Of objects of these names instead.
  absl::StatusOr<interpreter::Health> healthy = interpreter::Health(true);
  kube::Object revised;  // The result of ReviseReplica; empty: the object itself.
  absl::StatusOr<json::Value> aggregated = json::Value();  // The status set by AggregateStatus.
  // Called by Retain, if set; otherwise Retain returns the first argument.
  std::function<kube::Object(const kube::Object& desired, const kube::Object& observed)> retain;
  mutable interpreter::RuleChanges changes;
  std::function<void()> before_replicas;  // Called by GetReplicas, if set.

  void Enable(interpreter::Operation op) { enabled_.insert(op); }
  void Disable(interpreter::Operation op) { enabled_.erase(op); }
  // Returns "Deployment ns/web" for each call of GetDependencies so far.
  std::vector<std::string> AskedForDependencies() const {
    absl::MutexLock lock(&mu_);
    return asked_;
  }

  interpreter::RuleChanges& rule_changes() const override { return changes; }
  bool HasRule(const kube::Gvk&, interpreter::Operation op) const override {
    return enabled_.count(op) > 0;
  }
  std::vector<interpreter::RuleName> RulesFor(const kube::Gvk&,
                                              interpreter::Operation) const override {
    return {};
  }
  absl::StatusOr<interpreter::Answer> Ask(const interpreter::Question& question) const override {
    using interpreter::Operation;
    const kube::Object& object = question.object;
    switch (question.operation) {
      case Operation::kInterpretReplica:
        if (before_replicas) before_replicas();
        return replicas;
      case Operation::kInterpretComponent:
        return components;
      case Operation::kReviseReplica:
        return revised.empty() ? object : revised;
      case Operation::kRetain:
        return retain ? retain(object, question.observed) : object;
      case Operation::kAggregateStatus:
        return Aggregated(object);
      case Operation::kInterpretDependency:
        return DependenciesOf(object);
      case Operation::kInterpretStatus:
        return object.status();
      case Operation::kInterpretHealth:
        return healthy;
      case Operation::kPrune:
        return object;
    }
    return absl::InternalError("there is no such operation");
  }
  absl::StatusOr<interpreter::Answer> AskOrAssume(
      const interpreter::Question& question) const override {
    if (!HasRule({}, question.operation)) return interpreter::AssumedAnswer(question);
    return Ask(question);
  }

 private:
  absl::StatusOr<interpreter::Answer> Aggregated(const kube::Object& object) const {
    if (!aggregated.ok()) return aggregated.status();
    kube::Object after = object;
    after.Set({"status"}, *aggregated);
    return after;
  }
  absl::StatusOr<interpreter::Answer> DependenciesOf(const kube::Object& object) const {
    absl::MutexLock lock(&mu_);
    asked_.push_back(object.Describe());
    const auto own = dependencies_of.find(std::string(object.name()));
    if (own != dependencies_of.end()) return own->second;
    return dependencies;
  }

  std::set<interpreter::Operation> enabled_;
  mutable absl::Mutex mu_;
  mutable std::vector<std::string> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tests

#endif  // TESTS_SUPPORT_SCRIPTED_INTERPRETER_H_
