// The servers of a simulated plane, which fail in turn, and a count of the faults that the
// controller manager and agents met: a fault that they do not notice shows nothing.
#ifndef TESTS_BEHAVIOUR_FAILING_SERVERS_H_
#define TESTS_BEHAVIOUR_FAILING_SERVERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sandbox/api_server.h"
#include "tests/support/control_plane.h"

namespace tests {

class FailingServers {
 public:
  // REQUIRES: `plane` is simulated and outlives this.
  explicit FailingServers(ControlPlane& plane);

  // Causes the next kind of fault at the server with this number, unless that is cut off anyway. A
  // fault of single requests meets `requests` of them. With a link of agents some faults are the
  // link's, whichever server was chosen.
  void Fail(int server, int requests);
  // Cuts a member off, or ends that: one in pull mode by the link of its agent, where there is one.
  void Partition(const std::string& member, bool on);
  // Looks whether the control plane has noticed that the member is cut off.
  void LookAtPartitioned();
  // Records that the controller manager, or the agent, has ended, killed or by itself; returns
  // whether it had been at work. Call it afterwards.
  bool DaemonEnded(bool killed) { return Ended(kDaemon, killed ? kKills : ""); }
  bool AgentEnded(bool killed) { return Ended(kAgent, killed ? kAgentKills : ""); }
  // Records that an app was changed.
  void AppWasChanged();
  // Ends all faults.
  void End();

  int size() const { return static_cast<int>(servers_.size()); }
  bool IsPartitionNoticed() const { return met_.at(kNotReady) > 0; }
  // Returns how often each kind of fault was met.
  std::map<std::string, int64_t> Met() const;
  // Returns whether every kind was.
  bool AllMet() const;
  // Returns one line with all counts.
  std::string Text() const;

 private:
  static constexpr char kKills[] = "kills of a daemon at work";
  static constexpr char kDropped[] = "watches dropped";
  static constexpr char kExpired[] = "watches dropped that cannot be resumed";
  static constexpr char kRestarted[] = "watches cut by restarts of servers";
  static constexpr char kNotReady[] = "looks that found the partitioned member not ready";
  static constexpr char kChanged[] = "changes of apps during the partition";
  // With a link of agents.
  static constexpr char kAgentKills[] = "kills of an agent at work";
  static constexpr char kLinkCut[] = "watches cut with the link of agents";
  static constexpr char kSlowed[] = "requests over a slow link";

  static constexpr char kDaemon[] = "karmada-controller-manager/";
  static constexpr char kAgent[] = "karmada-agent/";

  // Returns how often that program, or both ("karmada-"), had this answer; verb "" and code 0 stand
  // for all.
  int64_t Answers(const sandbox::ApiServer& server, const std::string& program,
                  const std::string& verb, int code) const;
  // Counts the watches of one program, or both, at the server that end now.
  int64_t CutWatches(size_t server, const std::string& program);
  int64_t CutWatches(size_t server);
  // Returns whether the program had been at work; then a `kill` is counted as that kind.
  bool Ended(const std::string& program, const std::string& kill);
  void Restart(size_t server);
  void FailLink();
  // Requests of agents to the control plane so far.
  int64_t SentByAgents() const { return Answers(*servers_[0], kAgent, "", 0); }

  ControlPlane& plane_;
  std::vector<sandbox::ApiServer*> servers_;            // The control plane's first.
  std::map<std::string, std::vector<int64_t>> opened_;  // Watches that have ended, of each server.
  std::string partitioned_;                             // A member, or "".
  std::map<std::string, int64_t> met_;
  int turns_ = 0, faults_ = 0;
  bool slow_ = false;
  int64_t sent_before_ = 0;  // SentByAgents() before the link became slow.
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_FAILING_SERVERS_H_
