// Runs of the class "values": a value is given to one property of an object on a settled plane, and
// taken back. A run is named by "value SEED PROBE" (probes.h).
#ifndef TESTS_PROVE_VALUES_VALUE_RUNS_H_
#define TESTS_PROVE_VALUES_VALUE_RUNS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "tests/prove/runs.h"
#include "tests/prove/settled_state.h"
#include "tests/prove/values/seed.h"

namespace prove {

// What a run has shown.
struct ValueRecord {
  std::vector<std::string> violations;
  std::string refused;  // Why the server did not take the value.
  bool same = false;    // It changes nothing, or is stored as another one that was tried.
  double real_seconds = 0;
  json::Value ToJson() const;
};

// One plane that goes from value to value, and a fresh one beside it for each. Used by the thread
// of the time driver.
class ValueRuns {
 public:
  // REQUIRES: `time` outlives the object.
  ValueRuns(Seed seed, RunOptions options, TimeDriver& time);
  ~ValueRuns();

  // The names of all runs.
  std::vector<std::string> Names() const;
  // Compares two fresh planes with each other.
  ValueRecord Reference();
  // kInvalidArgument for a name that is not understood.
  absl::StatusOr<ValueRecord> Run(const std::string& name);

 private:
  class Plane;

  // Has a settled plane in place.
  absl::Status Prepare();
  absl::StatusOr<std::unique_ptr<Plane>> Fresh(const std::string& probe);
  // Returns whether there is something to be judged.
  absl::StatusOr<bool> Admitted(const json::Value& changed, ValueRecord& record);
  absl::Status Try(const std::string& probe, const json::Value& changed, ValueRecord& record);
  absl::Status CompareWithFresh(const std::string& probe, ValueRecord& record);

  const Seed seed_;
  const RunOptions options_;
  TimeDriver& time_;
  int planes_ = 0;
  std::unique_ptr<Plane> plane_;  // Null until a run needs one.
  SettledState before_;           // Of plane_, without any value.
  int threads_ = 0;               // Of its daemon then.
  std::set<std::string> tried_;   // What was stored.
};

}  // namespace prove

#endif  // TESTS_PROVE_VALUES_VALUE_RUNS_H_
