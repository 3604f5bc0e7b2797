// Apps that are created, changed and deleted while the programs that propagate them are killed
// again and again and the servers fail.
#ifndef TESTS_BEHAVIOUR_CHAOS_H_
#define TESTS_BEHAVIOUR_CHAOS_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/behaviour/failing_servers.h"
#include "tests/behaviour/walked_objects.h"
#include "tests/support/control_plane.h"

namespace tests {

// One namespace's apps go to both members whole, those of the other are divided without a rest.
inline const std::vector<std::string> kChaosNamespaces = {"chaos-whole", "chaos-divided"};
// How long the second member is cut off in a run that is long enough.
inline constexpr absl::Duration kPartition = absl::Seconds(30);

// Makes room for the apps, their namespaces and their policies.
void SetUpChaos(ControlPlane& plane);

// What an app asks for: a Deployment and the ConfigMap that follows it.
struct App {
  std::string ns, name;
  bool exists = false;
  int image = 0, replicas = 3, value = 0;

  std::string Workload() const;
  std::string Config() const;
};

// The programs are killed, not stopped; requests of the test itself are repeated until they
// succeed.
class Chaos {
 public:
  // REQUIRES: `plane` is simulated and outlives this.
  Chaos(ControlPlane& plane, int apps, int seed);

  // Goes on for that long, and longer until every kind of fault has been met.
  void Run(absl::Duration time);
  // Ends all faults and the killing. The scheduler divides an app beside a member that is not
  // ready, and leaves it so; those apps change once more when all members are ready.
  void Finish();

  const std::vector<App>& apps() const { return apps_; }
  const FailingServers& servers() const { return servers_; }
  // Returns how often a program ended by itself although it had been at work.
  int deaths() const { return deaths_; }
  const std::string& last_words() const { return last_words_; }  // Of the daemon that has.
  absl::Duration partition() const { return partition_; }
  // The most writes that these changes can cost a member.
  int64_t changes() const { return changes_; }

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool HasAgents() const { return plane_.agents_link() != nullptr; }
  bool HasDied() const { return plane_.DaemonDied() || plane_.AgentDied(); }
  void ChangeSomething();
  void ChangeReplicas(App& app, int replicas);
  void Create(App& app);
  void Apply(const std::string& yaml);
  void Delete(const kube::Resource& resource, const App& app);
  void Repeat(const std::function<absl::Status()>& request);
  void Restart();
  void ReplaceDaemon();
  void ReplaceAgent();
  void FollowPartition(absl::Time now);

  ControlPlane& plane_;
  FailingServers servers_;
  std::mt19937 random_;
  std::vector<App> apps_;
  absl::Time cut_, healed_;
  absl::Duration partition_;
  int deaths_ = 0;
  std::string last_words_;
  int64_t changes_ = 0;
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_CHAOS_H_
