// One run of a workload under one perturbation, and the judgement about it.
//
// A run is named by a line, which is enough to repeat it: "reference", for one without any
// perturbation, or the names of perturbations, joined by " & ", of which each has a later step than
// the one before. A run ends with the step after the last one.
//
//   crash before N                the daemon is killed before the server has its Nth write
//   crash after N                 ... after the server has executed it, and before the answer
//   crash twice N M               ... after its Nth write, and again at the Mth one after that
//   answer lost N                 the Nth write is executed, and the connection closed
//   answer cut N                  ... and its answer cut in the middle
//   error CODE TIMES CLASS        the first TIMES requests of that class get the error; CLASS is as
//                                 RequestClass returns it
//   late timeout TIMES CLASS      they are executed, and answered with 504
//   unread TIMES CLASS            they are executed, and their answer is cut
//   stale SERVER STEP K           after that step the daemon starts again and reads, from SERVER
//                                 ("host", "member1", "all"), what is K revisions old; then the
//                                 server catches up
//   reconnect SERVER STEP K       the same without a restart: its watches are cut
//   merged KIND FROM TO           from that step to the other nothing of the kind is delivered;
//                                 then its watches end and it is listed again ("all" for every
//                                 kind)
//   late KIND STEP                what the step changes of that kind is delivered at its end, one
//                                 by one, a second apart
//   order KIND KIND STEP          ... of both kinds, of the first one first
//   webhook FAULT AMOUNT N OPERATION  the Nth call of that operation meets the fault, and the calls
//                                 after it, AMOUNT in all; hook_faults.h has the faults
//
// Numbers of writes and steps count from 1; 0 is the start, before the first step. N is
// STEP.NUMBER, such as 3.7, or the number in the whole run. CLASS may have a step before it, too,
// as in "error 500 1 3 host list works.work.karmada.io"; without one, it is the first of the whole
// run. The order in which the servers have delivered events and got writes is written to the file
// "order" beside the logs. What has no step stands alone. election.h has the names of runs with
// several processes.
#ifndef TESTS_PROVE_RUNS_H_
#define TESTS_PROVE_RUNS_H_

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "tests/prove/settled_state.h"
#include "tests/prove/stage.h"
#include "tests/prove/workload.h"

namespace prove {

struct RunOptions {
  std::vector<std::string> command;  // The program under test and the flags that all runs have.
  std::vector<std::string> beside;   // As in StageOptions.
  std::string directory;
  std::string order;  // A file that DeliveryOrder has written, to be done again; "" for none.
  // In all runs, for programs that send a token by no other connection.
  bool with_tls = false;
};

inline constexpr char kOfWebhook[] = " (of a webhook)";

// What a run has shown.
struct Record {
  std::vector<SettledState> states;  // After each step.
  std::vector<std::string> writes;   // By the daemon, in their order, with what came of them.
  std::set<std::string> classes;     // Of its requests.
  // "host/works.work.karmada.io": of which something was delivered, by step; the first entry is
  // about the start.
  std::vector<std::set<std::string>> delivered;
  // By step: Perturbation::WritesOfStep and ClassesOfStep.
  std::vector<std::vector<std::string>> writes_of_step;
  std::vector<std::set<std::string>> classes_of_step;
  std::vector<std::vector<std::string>> calls_of_step;  // HookFaults::CallsOfStep.
  std::map<std::string, int> late_calls;                // Of the webhook, in the quiet time.
  std::vector<int64_t> versions;                        // Of the control plane, after each step.
  std::set<std::string> errors;                         // Requests that failed before the end.
  std::vector<std::string> late_writes;                 // In the quiet time at the end.
  std::vector<std::string> late_errors;                 // Requests that failed then.
  std::vector<std::string> writes_at_restart;
  // "Kind name reason" of Warning events, with kOfWebhook at the end of those that speak of one.
  std::set<std::string> warnings;
  std::vector<std::string> unmet;  // Of what the workload promises of its end.
  int restarts = 0;                // Of a daemon that has ended by itself.
  int threads = 0;                 // Of the daemon, at the end.
  int64_t rss_kb = 0;
  // DeliveryOrder::Missed and Unknown.
  std::vector<std::string> order_missed, order_unknown;
  std::vector<std::string> broken;  // What the run itself has found to be wrong.
  bool perturbed = false;           // Whether the moments of all perturbations have come.
  int stopped_after = -1;           // The step that did not end as in the reference.
  std::string failure;              // Why the run could not go on; or empty.
  int64_t jumps = 0;
  double simulated_seconds = 0, real_seconds = 0, cpu_seconds = 0;
  json::Value ToJson() const;
};

// Runs the workload once. With a reference, a state that differs from it gets more time.
// kInvalidArgument for a name that is not understood.
absl::StatusOr<Record> Run(const Workload& workload, const std::string& name,
                           const Record* reference, const RunOptions& options, TimeDriver& time);

// Seconds of the machine's clock, whatever the simulated one shows.
double RealSeconds();
// Seconds of a core that this process has used, and the children that have ended.
double CpuSeconds();
int ThreadsOf(pid_t pid);

// Adds to a reference what another one has warned of, and what has failed there at the end: it
// depends on chance, and need not be there in each run.
void Widen(Record& reference, const Record& other);

// One line for everything in which the run of that name ended differently from the reference.
std::vector<std::string> Violations(const Record& reference, const Record& run,
                                    const std::string& name);

}  // namespace prove

#endif  // TESTS_PROVE_RUNS_H_
