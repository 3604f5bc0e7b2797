// What is wrong with configuration objects, reported where their authors look: an event on the
// object and a log line when it is new, another event when it has been repaired, and a gauge for as
// long as the object is there.
#ifndef INTERPRETER_LIVE_CONFIGURATION_PROBLEMS_H_
#define INTERPRETER_LIVE_CONFIGURATION_PROBLEMS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"

namespace interpreter::live {

// Not thread-safe.
class ConfigurationProblems {
 public:
  // One object and the problems it has now, in the order of its fields.
  struct Finding {
    kube::ObjectPtr object;
    std::vector<std::string> problems;
  };

  // REQUIRES: the manager outlives this.
  explicit ConfigurationProblems(kube::Manager& manager) : manager_(manager) {}

  // Reports these findings; they must cover all objects, including those without problems. Only the
  // leader writes events; an instance that becomes the leader writes those it has not written yet.
  void Report(const std::vector<Finding>& findings);

 private:
  // Kind and name.
  using Key = std::pair<std::string, std::string>;

  void ReportOne(const Finding& finding, std::string& reported);
  // Follows a report of this instance, so that `kubectl describe` does not end with the problem.
  void ReportRepaired(const kube::Object& object);
  static metrics::Labels LabelsOf(const Key& key);
  void SetGauge(const Key& key, size_t problems);

  kube::Manager& manager_;
  std::map<Key, std::string>
      reported_;          // The last text reported for each object that has a problem.
  std::set<Key> gauged_;  // Objects that the gauge has a series for.
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_CONFIGURATION_PROBLEMS_H_
