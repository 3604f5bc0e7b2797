// A workload: what a user does to a plane, step by step. The files have the format of the scenarios
// in tests/data/scenarios and of tests/prove/workloads (README.md there).
#ifndef TESTS_PROVE_WORKLOAD_H_
#define TESTS_PROVE_WORKLOAD_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"

namespace prove {

// What a step asks of one cluster, or of the fleet.
struct Action {
  enum class Kind { kApply, kDelete, kPatch, kPartition, kHeal, kUnjoin, kJoin } kind;
  std::string cluster;  // "host" or a member.
  json::Value object;   // kApply: a manifest.
  std::string target;   // kDelete, kPatch: "kind/namespace/name".
  json::Value patch;    // kPatch: a merge patch, or a JSON patch, which is an array.
  std::string subresource;
};

struct Step {
  std::string name;
  std::vector<Action> actions;
  absl::Duration sleep = absl::ZeroDuration();  // Before anybody looks whether all is settled.
};

struct Workload {
  std::string name;                 // Of the file.
  std::vector<Step> steps;
  std::vector<std::string> flags;   // Of the controller manager, after those that all have.
};

// Reads a file. kUnimplemented for a step that only real servers can do, and names it.
absl::StatusOr<Workload> ReadWorkload(const std::string& path);

// Does what the action says, as the administrator and without HTTP. kNotFound for a target that is
// not there, unless it is to be deleted.
absl::Status Perform(const Action& action, sandbox::Fleet& fleet);

}  // namespace prove

#endif  // TESTS_PROVE_WORKLOAD_H_
