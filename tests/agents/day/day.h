// A control plane, a member in pull mode with its agent, and days that pass in seconds.
//
//   Day day({"--leader-elect=false"});
//   day.Begin();  // The member is ready, and has what it gets.
//   day.to_plane().Set(LinkState::kRefused);
//   day.Pass(absl::Hours(24));
//
// The controller manager runs beside the agent, and its link is never touched. The servers and both
// programs share a simulated time (tests/prove/time). An agent that ends is started again, as a
// kubelet does it: after ten seconds, then twice as long each time, up to five minutes.
#ifndef TESTS_AGENTS_DAY_DAY_H_
#define TESTS_AGENTS_DAY_DAY_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/object.h"
#include "tests/agents/day/link.h"
#include "tests/prove/stage.h"
#include "tests/prove/time/time_driver.h"
#include "tests/prove/workload.h"
#include "tests/support/temp_directory.h"

namespace tests {

class Day {
 public:
  // `flags` are the agent's, behind those that all have, and `beside` those of the controller
  // manager. The agent reports no Secrets unless its flags say which (--report-secrets).
  explicit Day(std::vector<std::string> flags = {}, std::vector<std::string> beside = {});
  ~Day();

  // Starts the agent, and waits until everything that it is to apply is in the member: the
  // Deployments "web" with three replicas and "api" with one, and the ConfigMap "settings", in the
  // namespace "shop".
  void Begin();
  void StartAgent();
  void KillAgent();

  Link& to_plane() { return *to_plane_; }
  Link& in_member() { return *in_member_; }
  prove::Stage& stage() { return *stage_; }
  prove::TimeDriver& time() { return time_; }
  base::SteadyTime Now() const { return base::RealClock().SteadyNow(); }

  void Pass(absl::Duration duration);
  // Returns whether it holds within the time, which passes until then.
  bool Within(absl::Duration longest, const std::function<bool()>& holds);
  // Has a user do a step of a workload (tests/prove/workloads/README.md), in YAML.
  void Do(const std::string& step);

  // An object of the member, or of the control plane; nullptr when it is not there. `kind` is a
  // resource of apps or of the core: "deployments".
  kube::ObjectPtr InMember(const std::string& kind, const std::string& name);
  int64_t ReplicasInMember(const std::string& name);
  // What is in the member of Karmada's, one line each, without what changes by itself.
  std::vector<std::string> Member();
  // The status of the Cluster's condition Ready: "True", "Unknown".
  std::string Ready();

  // Replaces the agent's kubeconfig of the control plane.
  void WriteKubeconfig(const std::string& text);
  std::string Kubeconfig() const;                         // As it is now.
  std::string WithToken(const std::string& token) const;  // The same with a token.

  std::string Log() const;
  std::string Readyz() const;  // The answer with its status line; "" without one.
  int starts() const { return starts_; }
  int64_t Figure(const std::string& name) const;  // Of /proc/PID/status of the agent: "VmRSS:".
  int Descriptors() const;                        // Which the agent has open.

 private:
  void KeepRunning();

  prove::TimeDriver time_;
  const TempDirectory directory_;
  const int health_port_;
  const std::shared_ptr<Link> to_plane_, in_member_;
  std::unique_ptr<prove::Stage> stage_;
  std::optional<prove::User> user_;
  bool is_wanted_ = false;  // The agent.
  int starts_ = 0;
  absl::Duration pause_, start_at_, started_at_;
};

}  // namespace tests

#endif  // TESTS_AGENTS_DAY_DAY_H_
