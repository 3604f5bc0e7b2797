// One run: karmada-search is read by everybody while its members change, and something is done to
// it (search_perturbation.h); then what was read is judged (oracle.h).
#ifndef TESTS_PROVE_SEARCH_SEARCH_RUNS_H_
#define TESTS_PROVE_SEARCH_SEARCH_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "tests/prove/search/search_perturbation.h"
#include "tests/prove/search/search_workload.h"
#include "tests/prove/time/time_driver.h"

namespace prove {

struct SearchRunOptions {
  std::vector<std::string> command;  // karmada-search, and flags that all runs have.
  std::string directory;
};

// What a run has shown.
struct SearchRecord {
  std::vector<std::string> violations;
  std::map<int, StepCounts> counts;                 // By step.
  std::vector<std::map<std::string, int>> changes;  // Of the workload: by step and member.
  int answers = 0;                                  // How many the readers have had.
  bool perturbed = false;
  std::string failure;  // Why the run could not go on; or empty.
  double simulated_seconds = 0, real_seconds = 0, cpu_seconds = 0;
  json::Value ToJson() const;
};

// kInvalidArgument for a name that is not understood.
absl::StatusOr<SearchRecord> RunSearch(const SearchWorkload& workload, const std::string& name,
                                       const SearchRunOptions& options, TimeDriver& time);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_SEARCH_RUNS_H_
