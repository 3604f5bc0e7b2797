// The servers of a simulated plane, which fail in turn, and a count of the faults that the
// controller manager met: a fault that it does not notice shows nothing.
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
  // fault of single requests meets `requests` of them.
  void Fail(int server, int requests);
  // Cuts a member off, or ends that.
  void Partition(const std::string& member, bool on);
  // Looks whether the control plane has noticed that the member is cut off.
  void LookAtPartitioned();
  // Records that the controller manager has ended, killed or by itself; returns whether it had been
  // at work. Call it afterwards.
  bool DaemonEnded(bool killed);
  // Records that an app was changed.
  void AppWasChanged();
  // Ends all faults.
  void End();

  int size() const { return static_cast<int>(servers_.size()); }
  bool IsPartitionNoticed() const { return met_.at(kNotReady) > 0; }
  // Returns how often the controller manager has met each kind of fault.
  std::map<std::string, int64_t> Met() const;
  // Returns whether it has met every kind.
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

  // Returns how often the controller managers had this answer; verb "" stands for all.
  int64_t Answers(const sandbox::ApiServer& server, const std::string& verb, int code) const;
  // Counts the watches of the controller manager that end now.
  int64_t CutWatches(size_t server);
  void Restart(size_t server);

  ControlPlane& plane_;
  std::vector<sandbox::ApiServer*> servers_;  // The control plane's first.
  std::vector<int64_t> opened_;               // Watches that have ended, of each server.
  std::string partitioned_;                   // A member, or "".
  std::map<std::string, int64_t> met_;
  int faults_ = 0;
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_FAILING_SERVERS_H_
