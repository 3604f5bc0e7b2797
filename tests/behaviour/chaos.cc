// Changes come every few milliseconds, each after a look at what is due: a fault, a program that is
// killed, the partition of the second member in the second quarter of the time. Where that member
// is in pull mode, it is its agent that is cut off, from the control plane. What a change costs
// a member at most is counted as it is made.
#include "tests/behaviour/chaos.h"

#include <algorithm>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "tests/behaviour/manifests.h"

namespace tests {
namespace {

constexpr char kPolicyHead[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: apps, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  propagateDeps: true
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
)";
constexpr char kDivision[] = R"(    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
        - {targetCluster: {clusterNames: [member1]}, weight: 1}
        - {targetCluster: {clusterNames: [member2]}, weight: 2}
)";
constexpr char kOverride[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: apps, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
  - targetCluster: {clusterNames: [member2]}
    overriders: {labelsOverrider: [{operator: add, value: {side: second}}]}
)";

// Members are big enough for the pods of all apps.
void MakeRoom(ControlPlane& plane) {
  for (const std::string& member : kMembers) {
    for (int node = 1; node <= 3; ++node) {
      plane.Patch(member, {"", "v1", "Node"}, {"", absl::StrCat(member, "-node", node)},
                  R"({"status": {"allocatable": {"pods": "5000"}}})", "status");
    }
  }
}

// So often that many changes meet a daemon that is not there, and that some meet one that is.
constexpr absl::Duration kBetweenChanges = absl::Milliseconds(30);
constexpr char kPartitioned[] = "member2";
// How much longer a run takes on a slow machine, until every kind of fault has been met.
constexpr absl::Duration kOverrun = absl::Minutes(3);
constexpr absl::Duration kRounds = absl::Seconds(4);  // Some rounds of cluster status.

}  // namespace

void SetUpChaos(ControlPlane& plane) {
  MakeRoom(plane);
  for (const std::string& ns : kChaosNamespaces) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, ns == kChaosNamespaces[0] ? std::string(kPolicyHead)
                                                         : absl::StrCat(kPolicyHead, kDivision)));
    plane.Apply("host", In(ns, kOverride));
  }
}

std::string App::Workload() const {
  return In(
      ns, Deployment(name, replicas,
                     absl::StrCat(R"({containers: [{name: main, image: "nginx:1.)", image,
                                  R"("}], volumes: [{name: v, configMap: {name: )", name, "}}]}")));
}

std::string App::Config() const {
  return In(ns, absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", name,
                             ", namespace: $NS}\ndata: {k: v", value, "}\n"));
}

Chaos::Chaos(ControlPlane& plane, int apps, int seed)
    : plane_(plane), servers_(plane), random_(seed) {
  for (int i = 0; i < apps; ++i) {
    apps_.push_back({.ns = kChaosNamespaces[i % 2], .name = absl::StrCat("app-", i)});
  }
}

void Chaos::Run(absl::Duration time) {
  const base::Clock& clock = base::RealClock();
  const absl::Time begin = clock.Now(), end = begin + time;
  cut_ = begin + time / 4;
  healed_ = cut_ + std::min(time / 4, kPartition);
  absl::Time next_kill = begin + absl::Seconds(2), next_fault = begin + absl::Seconds(1);
  for (absl::Time now = begin; now < end || (now < end + kOverrun && !servers_.AllMet());
       now = clock.Now()) {
    ChangeSomething();
    clock.SleepFor(kBetweenChanges, {});
    FollowPartition(now);
    if (now >= next_fault) {
      servers_.Fail(Pick(servers_.size()), 1 + Pick(10));
      next_fault = clock.Now() + absl::Milliseconds(200 + Pick(600));
    }
    if (now < next_kill) continue;
    Restart();
    next_kill = clock.Now() + absl::Milliseconds(1000 + Pick(4000));
  }
}

void Chaos::Finish() {
  servers_.End();
  if (HasDied()) Restart();
  // What a member answered before may still make it not ready for a round of cluster status.
  const auto all_accept_work = [&] {
    return std::all_of(kMembers.begin(), kMembers.end(),
                       [&](const std::string& member) { return plane_.AcceptsWork(member); });
  };
  REQUIRE(plane_.Eventually([&] { return plane_.Always(all_accept_work, kRounds); }));
  for (App& app : apps_) {
    const bool divided = app.ns == kChaosNamespaces[1];
    if (app.exists && divided) ChangeReplicas(app, app.replicas == 3 ? 6 : 3);
  }
}

void Chaos::ChangeSomething() {
  servers_.AppWasChanged();
  App& app = apps_[Pick(static_cast<int>(apps_.size()))];
  if (!app.exists) return Create(app);
  switch (Pick(8)) {
    case 0:
      Delete(kDeployments, app);
      Delete(kConfigMaps, app);
      app.exists = false;
      return;
    case 1:
      return ChangeReplicas(app, 3 * (1 + Pick(3)));
    case 2:
    case 3:
      ++app.value;
      ++changes_;
      return Apply(app.Config());
    default:
      ++app.image;
      ++changes_;
      return Apply(app.Workload());
  }
}

// The scheduler divides them again: the template's change and the division's are two.
void Chaos::ChangeReplicas(App& app, int replicas) {
  app.replicas = replicas;
  changes_ += 2;
  Apply(app.Workload());
}

void Chaos::Create(App& app) {
  changes_ += 3;
  app.exists = true;
  // The dependency comes before its workload, or after it.
  const bool before = Pick(2) == 0;
  Apply(before ? app.Config() : app.Workload());
  Apply(before ? app.Workload() : app.Config());
}

void Chaos::Apply(const std::string& yaml) {
  const kube::Object object(yaml::ParseAll(yaml)->front());
  Repeat([&] { return plane_.TryApply("host", object); });
}

void Chaos::Delete(const kube::Resource& resource, const App& app) {
  Repeat([&] {
    const absl::Status status =
        plane_.client("host")
            .Delete(resource, {app.ns, app.name}, {.propagation = "Background"}, {})
            .status();
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  });
}

void Chaos::Repeat(const std::function<absl::Status()>& request) {
  const base::Clock& clock = base::RealClock();
  const absl::Time deadline = clock.Now() + absl::Minutes(2);
  absl::Status status = request();
  while (!status.ok() && clock.Now() < deadline) {
    if (HasDied()) Restart();
    clock.SleepFor(absl::Milliseconds(50), {});
    status = request();
  }
  INFO(status.ToString());
  REQUIRE(status.ok());
}

// Whoever has died is started again; otherwise the daemon, the agent or both are killed. A daemon
// that is killed begins again to count how long nothing was heard of an agent: it is left alone
// while the end of the partition waits for it to notice.
void Chaos::Restart() {
  const bool died = HasDied();
  const bool is_overdue = base::RealClock().Now() >= healed_ && !servers_.IsPartitionNoticed();
  const int any = is_overdue ? 1 : Pick(3);
  const int who = HasAgents() && !died ? any : 0;
  if (died ? plane_.DaemonDied() : who != 1) ReplaceDaemon();
  if (died ? plane_.AgentDied() : who != 0) ReplaceAgent();
}

// A daemon that finds no server as it starts ends, and is started again by what runs it. One that
// has begun its work does not end, whatever the servers do.
void Chaos::ReplaceDaemon() {
  const bool died = plane_.DaemonDied();
  plane_.KillDaemon();
  if (servers_.DaemonEnded(!died) && died) {
    ++deaths_;
    const std::string log = plane_.DaemonLog();
    last_words_ = log.substr(log.size() - std::min<size_t>(log.size(), 3000));
  }
  plane_.StartDaemon();
}

void Chaos::ReplaceAgent() {
  const bool died = plane_.AgentDied();
  plane_.ReplaceAgent(kPartitioned);
  if (servers_.AgentEnded(!died) && died) ++deaths_;
}

// The member is cut off for its time, and until the control plane has noticed.
void Chaos::FollowPartition(absl::Time now) {
  if (now < cut_) return;
  servers_.LookAtPartitioned();
  const bool on = now < healed_ || !servers_.IsPartitionNoticed();
  if (on) partition_ = now - cut_;
  servers_.Partition(kPartitioned, on);
}

}  // namespace tests
