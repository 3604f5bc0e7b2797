// Runs with several processes that contend for the leader's lease, and what is done to them:
//
//   election K refused WHO D N    K processes; at the Nth write WHO ("leader", "stand-bys", "all")
//   is
//                                 cut off from the control plane for D seconds: connections are
//                                 closed
//   election K silent WHO D N     ... nothing is answered; in the end everything is delivered
//   election K lost WHO D N       ... nothing is answered, and nothing of it ever arrives
//   election K stopped WHO D N    ... they are stopped (SIGSTOP), and go on after D seconds
//   election K killed N           the leader is killed before the server has its Nth write
//   election K held D N           the Nth write waits at the server, and whoever has sent it is cut
//                                 off; after D seconds it is executed, and the server reached again
//   election K overtaken N        ... it is executed when the others have done the next step, too
//   election K lease EDIT N       at the Nth write somebody edits the lease: "deleted", "free",
//                                 "stranger" or "stand-by" (its holder), "past" or "future" (its
//                                 renewTime), "short" or "long" (its duration: 1 s, 30 s)
//   election K clocks A B N       at the Nth write the wall clock of the leader is stepped by A
//                                 seconds, those of the others by B
//
// Only the control plane is cut off: members are reached all the time. A process that has ended by
// itself is started again at once. Members of a run count writes as runs.h does, from 1 on.
//
// What is promised, and checked with each request when it arrives:
//
//   - One writer. A process sends a write (of anything but events and leases) only while it holds
//     the lease and the lease has not run out. A request that was sent in time and that the network
//     delivers later is no violation, but must change nothing in the end. Where somebody edits the
//     lease, the former leader may write until it has looked at the lease again: a retry period.
//   - A leader. When one has ended, or is cut off, another one holds the lease 20 s after the last
//     renewal at the latest, or after the moment from which on the stand-bys reach the server (5 s
//     more if a call of theirs was not answered).
//   - The settled states are those of the reference, in which there is one process and no election.
#ifndef TESTS_PROVE_ELECTION_H_
#define TESTS_PROVE_ELECTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/prove/runs.h"

namespace prove {

bool IsElection(const std::string& name);

// As Run(). What contradicts the promises is in Record::broken.
absl::StatusOr<Record> RunElection(const Workload& workload, const std::string& name,
                                   const Record* reference, const RunOptions& options,
                                   TimeDriver& time);

}  // namespace prove

#endif  // TESTS_PROVE_ELECTION_H_
