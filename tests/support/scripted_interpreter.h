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
  bool HookEnabled(const kube::Gvk&, interpreter::Operation op) const override {
    return enabled_.count(op) > 0;
  }
  std::vector<interpreter::RuleName> RulesFor(const kube::Gvk&,
                                              interpreter::Operation) const override {
    return {};
  }
  absl::StatusOr<interpreter::Replicas> GetReplicas(const kube::Object&) const override {
    if (before_replicas) before_replicas();
    return replicas;
  }
  absl::StatusOr<json::Value> GetComponents(const kube::Object&) const override {
    return components;
  }
  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object, int64_t) const override {
    return revised.empty() ? object : revised;
  }
  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override {
    return retain ? retain(desired, observed) : desired;
  }
  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const json::Value&) const override {
    if (!aggregated.ok()) return aggregated.status();
    kube::Object after = object;
    after.Set({"status"}, *aggregated);
    return after;
  }
  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override {
    absl::MutexLock lock(&mu_);
    asked_.push_back(object.Describe());
    const auto own = dependencies_of.find(std::string(object.name()));
    return own != dependencies_of.end() ? own->second : dependencies;
  }
  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override {
    return object.status();
  }
  absl::StatusOr<interpreter::Health> InterpretHealth(const kube::Object&) const override {
    return healthy;
  }
  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const override { return object; }

 private:
  std::set<interpreter::Operation> enabled_;
  mutable absl::Mutex mu_;
  mutable std::vector<std::string> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tests

#endif  // TESTS_SUPPORT_SCRIPTED_INTERPRETER_H_
