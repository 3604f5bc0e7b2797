// A seed: one small, valid object of a kind and what stands around it. The files are in seeds/.
#ifndef TESTS_PROVE_VALUES_SEED_H_
#define TESTS_PROVE_VALUES_SEED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "tests/prove/values/probes.h"
#include "tests/prove/workload.h"

namespace prove {

struct Seed {
  std::string name;                // Of the file: "propagationpolicies.policy.karmada.io".
  std::vector<std::string> flags;  // Of the controller manager, after those that all have.
  std::vector<Action> around;      // What is applied before the object.
  Subject subject;
  // Whether the object is there already, and what it has belongs to it: a Cluster that has joined.
  bool joined = false;
  bool late = false;  // Whether it is created when the rest has settled, because it acts once.
};

// Reads a file; a schema that it names is read from the definitions that came with the program.
absl::StatusOr<Seed> ReadSeed(const std::string& path);

}  // namespace prove

#endif  // TESTS_PROVE_VALUES_SEED_H_
