// The names of election.h, taken apart.
#ifndef TESTS_PROVE_ELECTION_PLAN_H_
#define TESTS_PROVE_ELECTION_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace prove {

struct ElectionPlan {
  enum class Fault {
    kRefused,
    kSilent,
    kLost,
    kStopped,
    kKilled,
    kHeld,
    kOvertaken,
    kLease,
    kClocks
  };
  enum class Who { kLeader, kStandBys, kAll };
  Fault fault = Fault::kRefused;
  Who who = Who::kLeader;
  int contenders = 2;
  int write = 0;
  absl::Duration duration = absl::ZeroDuration();
  std::string edit;                           // kLease.
  absl::Duration leader_clock, other_clocks;  // kClocks.
};
// kInvalidArgument for what is not such a name.
absl::StatusOr<ElectionPlan> ReadElectionPlan(const std::string& name);

}  // namespace prove

#endif  // TESTS_PROVE_ELECTION_PLAN_H_
