// What is done to contenders and their lease in one run, and the watch over who writes: the fence
// that an API server does not have.
#ifndef TESTS_PROVE_ELECTION_WATCH_H_
#define TESTS_PROVE_ELECTION_WATCH_H_

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "sandbox/fleet.h"
#include "sandbox/http/interference.h"
#include "tests/prove/election_plan.h"
#include "tests/prove/perturbation.h"
#include "tests/prove/time/time_driver.h"

namespace prove {

// An interference with all servers of a fleet at once. A process is known by the address that it
// connects from, which no other start of the program has. Thread-safe.
class ElectionWatch : public sandbox::Interference {
 public:
  // The logs of the processes are ADDRESS.log in `logs`. REQUIRES: `fleet` and `time` outlive the
  // object.
  ElectionWatch(ElectionPlan plan, std::string logs, sandbox::Fleet& fleet, TimeDriver& time);
  // Ends what is done.
  ~ElectionWatch() override;

  // A process is about to start, in the place of the one that had this slot (from 0 on). Returns
  // the address that it has to connect from.
  std::string Enter(int slot);
  void SetProcess(int slot, pid_t process);

  const ElectionPlan& plan() const { return plan_; }
  // Requests, as other runs record them.
  Perturbation& record() { return record_; }
  bool begun() const;  // Whether the moment of the plan has come.
  bool over() const;   // Whether what began has ended.
  // Ends what has no duration of its own: kOvertaken.
  void End();
  // Says whether somebody leads now, who was not started again.
  void CheckLeader();
  // Returns one line for each promise that was broken.
  std::vector<std::string> broken() const;

  sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override;
  sandbox::AnswerVerdict OnExecuted(const sandbox::RequestPtr& request,
                                    const sandbox::Outcome& outcome) override;

 private:
  // One start of the program.
  struct Contender {
    int slot = 0;
    pid_t process = 0;
    std::string identity;  // As it holds the lease; "" until it has asked for that.
    std::shared_ptr<sandbox::WatchGate> gate = std::make_shared<sandbox::WatchGate>();
  };
  using Facts = sandbox::RequestFacts;
  using HoldPtr = std::shared_ptr<sandbox::Hold>;

  Contender* Sender(const Facts& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Contender* Present(int slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string NameOf(const std::string& identity) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether this is the write at which it begins.
  bool Judge(const Facts& request, const Contender& sender) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteLease(const std::string& holder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::set<int> Slots(const Contender& leader) const;
  sandbox::RequestVerdict Begin(const Facts& request, int leader_slot);
  void CutOff(const std::set<int>& slots);
  void CutWatches();
  sandbox::RequestVerdict Pass(const Facts& request);
  void EditLease();
  // Returns the identity of a process that does not hold the lease, which its log has.
  std::string StandBy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ElectionPlan plan_;
  const std::string logs_;
  sandbox::Fleet& fleet_;
  TimeDriver& time_;
  Perturbation record_;

  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<Contender>> contenders_ ABSL_GUARDED_BY(mu_);  // By their start.
  int writes_ ABSL_GUARDED_BY(mu_) = 0;
  bool begun_ ABSL_GUARDED_BY(mu_) = false, over_ ABSL_GUARDED_BY(mu_) = false;
  std::set<int> cut_off_ ABSL_GUARDED_BY(mu_);  // Slots that the control plane does not hear.
  std::set<int> stopped_ ABSL_GUARDED_BY(mu_);
  std::vector<HoldPtr> holds_ ABSL_GUARDED_BY(mu_);
  HoldPtr last_write_ ABSL_GUARDED_BY(mu_);

  // The lease: who holds it, when it was renewed last, when somebody else has edited it last.
  std::string holder_ ABSL_GUARDED_BY(mu_);
  absl::Duration renewed_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  absl::Duration edited_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  // From when on the stand-bys can reach the server.
  absl::Duration reachable_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  std::vector<std::string> broken_ ABSL_GUARDED_BY(mu_);

  base::StopSource stop_;
  std::thread timer_;  // Ends what has a duration.
};

}  // namespace prove

#endif  // TESTS_PROVE_ELECTION_WATCH_H_
