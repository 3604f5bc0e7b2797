// A control plane with members in this process, and the program under test as a child, all in one
// simulated time. The program is a controller manager, or the agent of a member beside one.
#ifndef TESTS_PROVE_STAGE_H_
#define TESTS_PROVE_STAGE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sandbox/fleet.h"
#include "tests/prove/hook_server.h"
#include "tests/prove/time/time_driver.h"

namespace prove {

struct StageOptions {
  // The command line of the program under test; what it has to know of the servers is added.
  std::vector<std::string> command;
  // Unless it is empty, the command line of the controller manager, to which nothing is done. Then
  // the last member is in pull mode, and the program under test is its agent.
  std::vector<std::string> beside;
  int members = 2;
  std::string directory;  // For kubeconfigs and the log.
  // Without it the servers speak plain HTTP: handshakes would be a fifth of the work of a run.
  bool with_tls = false;
  HookDecision hook;  // Unless it is empty, there is a webhook, of which this decides.
  // Nothing that is exact goes on when it is still, and alarms that go off together cost less: the
  // longer nothing has changed, the later they may go off, by so much at most.
  absl::Duration longest_slack = absl::Seconds(15);
};

// The loopback address that the controller manager beside an agent connects from, by which servers
// tell them apart.
inline constexpr char kBesideAddress[] = "127.0.1.254";

// Used by the thread of the time driver.
class Stage {
 public:
  static constexpr absl::Duration kLeastSlack = absl::Milliseconds(10);

  // REQUIRES: `time` outlives the stage.
  static absl::StatusOr<std::unique_ptr<Stage>> Start(StageOptions options, TimeDriver& time);
  ~Stage();
  Stage(const Stage&) = delete;

  sandbox::Fleet& fleet() { return *fleet_; }
  TimeDriver& time() { return time_; }
  // Null without StageOptions::hook.
  const HookServer* hook() const { return hook_.get(); }

  // How one of several processes of the program differs from others.
  struct Launch {
    std::vector<std::string> flags;  // Behind those of the command line.
    std::string address;             // The loopback address that it connects from; "" for any.
    std::string log = "daemon.log";  // In the directory.
  };
  absl::StatusOr<pid_t> StartProcess(const Launch& launch);
  // Ends it as a crash does, unless it has ended. Returns what waitpid() says.
  int EndProcess(pid_t process);
  static bool HasEnded(pid_t process);

  // The one process that most runs have begins; it is at work when the next Settle() ends.
  absl::Status StartDaemon();
  // Ends it as a crash does.
  void KillDaemon();
  // Returns whether it has ended by itself.
  bool DaemonDied() const { return daemon_ != 0 && HasEnded(daemon_); }
  pid_t daemon() const { return daemon_; }

  // Is called whenever all wait; what it does becomes part of what has to settle. An error ends
  // Settle().
  void OnIdle(std::function<absl::Status()> look) { look_ = std::move(look); }
  // Lets time pass until nothing has changed on any server for `quiet`; alarms may always go off
  // late by `least_slack`. Returns why it does not settle.
  absl::Status Settle(absl::Duration quiet, absl::Duration least_slack = kLeastSlack);

  // Returns the version of the last change on that server.
  int64_t VersionOf(const std::string& cluster) const { return versions_.at(cluster); }

  // Returns the path of the daemon's standard error, of all its starts.
  std::string log() const { return options_.directory + "/daemon.log"; }

 private:
  Stage(StageOptions options, TimeDriver& time) : options_(std::move(options)), time_(time) {}
  absl::Status Open();
  // What the program under test is told of the servers.
  std::vector<std::string> FlagsOfServers() const;
  absl::Status StartBeside();
  absl::StatusOr<pid_t> Spawn(std::vector<std::string> words, const std::string& address,
                              const std::string& log_name);
  void Follow(const std::string& cluster, sandbox::ApiServer& server);

  const StageOptions options_;
  TimeDriver& time_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::unique_ptr<HookServer> hook_;
  pid_t daemon_ = 0;
  pid_t beside_ = 0;
  std::function<absl::Status()> look_;
  std::atomic<int64_t> changes_ = 0;  // Of what is not a heartbeat, on all servers.
  std::map<std::string, std::atomic<int64_t>> versions_;  // By cluster; made before the daemon.
};

}  // namespace prove

#endif  // TESTS_PROVE_STAGE_H_
