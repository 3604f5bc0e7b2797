// A Karmada control plane with member clusters and our controller manager running on it, for
// behaviour tests.
//
// By default everything is simulated in this process (sandbox::Fleet). With TEST_PLANE=<directory>
// the tests run on real servers instead: the directory holds plane.json {"kubeconfigs": {"host":
// path, "member1": ...}, "members": [...]}. The controller manager is a child process in both
// cases.
//
// With BEHAVIOUR_RELEASE=v1.19 the sandboxes of tests that do not name a release are of that one,
// and the controller manager follows them; on real servers, which are of their own release, it
// behaves as that one.
//
// With BEHAVIOUR_PULL=N the last N members of a sandbox are in pull mode, and a karmada-agent of
// each is another child process. Tests with the tag [pull] run so, too.
//
//   ControlPlane plane;
//   plane.Apply("host", R"(...yaml...)");
//   REQUIRE(plane.Eventually([&] { return plane.Get("member1", kDeployment, {"ns",
//   "web"}).has_value(); }));
#ifndef TESTS_SUPPORT_CONTROL_PLANE_H_
#define TESTS_SUPPORT_CONTROL_PLANE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "config/feature_gates.h"
#include "config/release.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "tests/support/child_process.h"
#include "tests/support/relay.h"

namespace tests {

class ControlPlane {
 public:
  struct Options {
    int members = 2;  // The sandbox has so many; real planes have their own.
    // So many of them, the last ones, are in pull mode; nullopt: as BEHAVIOUR_PULL says.
    std::optional<int> pull_members = std::nullopt;
    // The agents reach the control plane by agents_link().
    bool relay_agents = false;
    std::vector<std::string> agent_flags = {};
    std::vector<std::string> daemon_flags;
    std::vector<std::string> daemon_environment = {};  // "NAME=value" beside the test's own.
    bool enforce_quotas = false;  // Of the sandbox; real planes have their own webhook.
    // The release of Karmada of the sandbox (nullopt: as BEHAVIOUR_RELEASE says, else v1.18) and
    // the gates of its scheduler; real planes have theirs.
    std::optional<config::Release> release = std::nullopt;
    config::FeatureGates scheduler_gates = {};
  };
  ControlPlane();
  explicit ControlPlane(Options options);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;

  // Returns a namespace name that no other test of this run uses.
  std::string UniqueNamespace(const std::string& stem);

  // Lets the control plane be used under the name of the cluster `name`, too, as that user
  // (impersonation). Real servers then allow what RBAC allows the user.
  void AddUser(const std::string& name, const std::string& user);

  // Clusters are "host", "member1", ...
  kube::Client& client(const std::string& cluster);
  // Creates or merge-patches every document; fails the test on an error.
  void Apply(const std::string& cluster, const std::string& yaml);
  // Does so in every member and then in the control plane.
  void ApplyEverywhere(const std::string& yaml);
  absl::Status TryApply(const std::string& cluster, const kube::Object& object);
  void Patch(const std::string& cluster, const kube::Gvk& gvk, const kube::ObjectKey& key,
             const std::string& merge_patch, const std::string& subresource = "");
  void Delete(const std::string& cluster, const kube::Gvk& gvk, const kube::ObjectKey& key);
  std::optional<kube::Object> Get(const std::string& cluster, const kube::Gvk& gvk,
                                  const kube::ObjectKey& key);
  bool Exists(const std::string& cluster, const kube::Gvk& gvk, const kube::ObjectKey& key) {
    return Get(cluster, gvk, key).has_value();
  }

  // Returns whether the scheduler uses the member: its cluster is ready and has no taint.
  bool AcceptsWork(const std::string& member);

  // Returns whether the member is in pull mode.
  bool IsPull(const std::string& member) const {
    return fleet_ != nullptr && fleet_->IsPull(member);
  }

  // Returns the way of the agents to the control plane; nullptr when they take the usual one.
  Relay* agents_link() { return agents_link_.get(); }
  // Ends the agent of the member at once, whatever it is doing, and starts another one.
  void ReplaceAgent(const std::string& member);

  // Returns the release as which the controller manager behaves, unless its flags name another one.
  config::Release release() const;

  // Returns a line for each event on an object in the host cluster: type, reason, message.
  std::string EventsOn(const kube::Gvk& gvk, const std::string& name);

  // Polls until `holds`, the time is over, or the daemon or an agent has died; returns the last
  // result.
  bool Eventually(const std::function<bool()>& holds, absl::Duration within = absl::Minutes(2));
  // Returns whether `holds` stays true for that long.
  bool Always(const std::function<bool()>& holds, absl::Duration during = absl::Milliseconds(700));
  // Polls until `text` has stayed the same for that long; returns whether it has.
  bool Settles(const std::function<std::string()>& text,
               absl::Duration during = absl::Milliseconds(700));

  // Returns the sandbox of the plane; nullptr on real servers.
  sandbox::Fleet* fleet() { return fleet_.get(); }
  void StopDaemon();
  // Ends the daemon at once, whatever it is doing.
  void KillDaemon() { daemon_.reset(); }
  // Returns whether the daemon has ended without StopDaemon(), or an agent has; then waiting is
  // useless.
  bool DaemonDied() const;
  bool AgentDied() const;
  // Returns what the daemons of this plane have logged so far.
  std::string DaemonLog() const;
  // Starts the controller manager with the plane's flags followed by these.
  void StartDaemon(const std::vector<std::string>& more_flags = {});
  // Waits until the daemon works: makes a Secret and its policy in the namespace, and waits until
  // member1 has the Secret. By then what the daemon found at its start has come to its queues.
  // Fails the test when the Secret does not come.
  void AwaitDaemon(const std::string& ns);
  // Another controller manager with the plane's flags and environment; the result's destructor ends
  // it.
  class StandBy;
  StandBy StartStandBy();

 private:
  struct Cluster;
  Cluster& cluster(const std::string& name);
  // Returns how often the log reports the start of a controller manager.
  size_t Starts() const;
  // Appends the log to the file of BEHAVIOUR_KEPT_LOG, if there is one.
  void KeepLog() const;
  void StartAgent(const std::string& member);
  void StopAgents();
  std::vector<std::string> DaemonCommand(const std::vector<std::string>& more_flags) const;

  const Options options_;
  std::string directory_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::map<std::string, std::string> kubeconfigs_;
  std::map<std::string, std::string> users_;  // By the names of AddUser.
  std::string daemon_kubeconfig_;  // On real servers that of a user with the daemon's rights alone.
  std::map<std::string, std::unique_ptr<Cluster>> clusters_;
  std::unique_ptr<Relay> agents_link_;
  std::unique_ptr<ChildProcess> daemon_;                         // nullptr after StopDaemon().
  std::map<std::string, std::unique_ptr<ChildProcess>> agents_;  // By the names of their members.
  size_t starts_before_ = 0;  // Starts() before this daemon was started.
  int awaited_ = 0;           // Calls of AwaitDaemon.
};

class ControlPlane::StandBy {
 public:
  StandBy(std::vector<std::string> command, std::string log)
      : log_(std::move(log)), process_(std::move(command), log_) {}
  // Returns what it has logged so far.
  std::string Log() const;

 private:
  std::string log_;
  ChildProcess process_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_CONTROL_PLANE_H_
