// A workload: what a user does to a plane, step by step. The files have the format of the scenarios
// in tests/data/scenarios and of tests/prove/workloads (README.md there).
#ifndef TESTS_PROVE_WORKLOAD_H_
#define TESTS_PROVE_WORKLOAD_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "sandbox/storage/backend.h"

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
  std::string name;  // Of the file.
  std::vector<Step> steps;
  std::vector<std::string> flags;  // Of the controller manager, after those that all have.
  // For how long nothing is written when all is done.
  absl::Duration quiet = absl::Minutes(11);
  bool has_webhook = false;  // It names the one of this process (hook_server.h).
  // What the last step has to leave behind: "cluster kind/namespace/name" to the fields of the
  // object, null for none. A reference in which it does not hold proves nothing.
  json::Value end;
};

// Reads a file, in which "{{url}}" and "{{caBundle}}" stand for those of this process's webhook.
// kUnimplemented for a step that only real servers can do, and names it.
absl::StatusOr<Workload> ReadWorkload(const std::string& path);

// Returns the merge patch that makes `wanted` of `before`: it also removes what was applied before
// and is not any more.
json::Value MergePatch(const json::Value& before, const json::Value& wanted);

// Who does what the steps say, as the administrator and without HTTP. Not thread-safe.
class User {
 public:
  // What the user creates gets the same uids in each run, because the scheduler breaks ties by
  // them. REQUIRES: `fleet` outlives the object, and is not used by another user.
  explicit User(sandbox::Fleet& fleet);

  // kNotFound for a target that is not there, unless it is to be deleted.
  absl::Status Perform(const Action& action);
  // Returns one line for each part of Workload::end that does not hold.
  std::vector<std::string> Missing(const json::Value& end);

 private:
  absl::Status Do(const Action& action);
  absl::Status Apply(const std::string& cluster, sandbox::Backend& backend,
                     const json::Value& manifest);

  sandbox::Fleet& fleet_;
  std::map<std::string, json::Value> applied_;  // What was applied last, by cluster and object.
};

}  // namespace prove

#endif  // TESTS_PROVE_WORKLOAD_H_
