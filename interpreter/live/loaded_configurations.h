// Which generation of each configuration object answers: a gauge for as long as the object is
// there, and an event on the object when another generation has been loaded.
#ifndef INTERPRETER_LIVE_LOADED_CONFIGURATIONS_H_
#define INTERPRETER_LIVE_LOADED_CONFIGURATIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "interpreter/live/configuration_problems.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"

namespace interpreter::live {

// Not thread-safe.
class LoadedConfigurations {
 public:
  // REQUIRES: the manager outlives this.
  explicit LoadedConfigurations(kube::Manager& manager) : manager_(manager) {}

  // Reports that exactly the objects of these findings are loaded now. The first call writes no
  // events, because a start changes nothing; later ones write them if this instance leads. Objects
  // without a generation, which servers do not have, are left out.
  void Report(const std::vector<ConfigurationProblems::Finding>& findings);

 private:
  using Key = std::pair<std::string, std::string>;  // Kind and name.
  struct State {
    std::string uid;
    int64_t generation = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  void ReportLoad(const ConfigurationProblems::Finding& finding);
  static metrics::Labels LabelsOf(const Key& key);

  kube::Manager& manager_;
  bool started_ = false;
  std::map<Key, State> loaded_;
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_LOADED_CONFIGURATIONS_H_
