// Apps are created, changed and deleted while the controller manager is killed again and again and
// the servers fail. At the end everything is as on a quiet plane that was given the last state of
// each app that is left, no member was written to more often than apps changed, and hardly a write
// changed nothing. The controller manager has met every kind of fault: the run goes on until it
// has. CHAOS_APPS and CHAOS_SECONDS choose the size (`make chaos`: 300 apps for three minutes),
// CHAOS_SEED another sequence.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/effective_writes.h"
#include "tests/behaviour/failing_servers.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/walked_objects.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

int Setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// One namespace's apps go to both members whole, those of the other are divided without a rest.
const std::vector<std::string> kNamespaces = {"chaos-whole", "chaos-divided"};

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

void SetUp(ControlPlane& plane) {
  MakeRoom(plane);
  for (const std::string& ns : kNamespaces) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, ns == kNamespaces[0] ? std::string(kPolicyHead)
                                                    : absl::StrCat(kPolicyHead, kDivision)));
    plane.Apply("host", In(ns, kOverride));
  }
}

// What an app asks for: a Deployment and the ConfigMap that follows it.
struct App {
  std::string ns, name;
  bool exists = false;
  int image = 0, replicas = 3, value = 0;

  std::string Workload() const {
    return In(ns, Deployment(name, replicas,
                             absl::StrCat(R"({containers: [{name: main, image: "nginx:1.)", image,
                                          R"("}], volumes: [{name: v, configMap: {name: )", name,
                                          "}}]}")));
  }
  std::string Config() const {
    return In(ns, absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", name,
                               ", namespace: $NS}\ndata: {k: v", value, "}\n"));
  }
};

// So often that many changes meet a daemon that is not there, and that some meet one that is.
constexpr absl::Duration kBetweenChanges = absl::Milliseconds(30);
constexpr char kPartitioned[] = "member2";
constexpr absl::Duration kPartition = absl::Seconds(30);
// How much longer a run takes on a slow machine, until every kind of fault has been met.
constexpr absl::Duration kOverrun = absl::Minutes(3);
constexpr absl::Duration kRounds = absl::Seconds(4);  // Some rounds of cluster status.
// A write is repeated where its answer was lost, or the daemon ended before it had seen the effect.
constexpr int kWritesPerRetry = 20;

// The daemon is killed, not stopped; requests of the test itself are repeated until they succeed.
class Chaos {
 public:
  Chaos(ControlPlane& plane, int apps, int seed) : plane_(plane), servers_(plane), random_(seed) {
    for (int i = 0; i < apps; ++i) {
      apps_.push_back({.ns = kNamespaces[i % 2], .name = absl::StrCat("app-", i)});
    }
  }

  void Run(absl::Duration time) {
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

  // Ends all faults and the killing. The scheduler divides an app beside a member that is not
  // ready, and leaves it so; those apps change once more when all members are ready.
  void Finish() {
    servers_.End();
    if (plane_.DaemonDied()) Restart();
    // What a member answered before may still make it not ready for a round of cluster status.
    const auto all_accept_work = [&] {
      return std::all_of(kMembers.begin(), kMembers.end(),
                         [&](const std::string& member) { return plane_.AcceptsWork(member); });
    };
    REQUIRE(plane_.Eventually([&] { return plane_.Always(all_accept_work, kRounds); }));
    for (App& app : apps_) {
      const bool divided = app.ns == kNamespaces[1];
      if (app.exists && divided) ChangeReplicas(app, app.replicas == 3 ? 6 : 3);
    }
  }

  const std::vector<App>& apps() const { return apps_; }
  const FailingServers& servers() const { return servers_; }
  // Returns how often the daemon ended by itself although it had been at work.
  int deaths() const { return deaths_; }
  const std::string& last_words() const { return last_words_; }  // Of the daemon that has.
  absl::Duration partition() const { return partition_; }
  // The most writes that these changes can cost a member.
  int64_t changes() const { return changes_; }

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  void ChangeSomething() {
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
  void ChangeReplicas(App& app, int replicas) {
    app.replicas = replicas;
    changes_ += 2;
    Apply(app.Workload());
  }

  void Create(App& app) {
    changes_ += 3;
    app.exists = true;
    // The dependency comes before its workload, or after it.
    const bool before = Pick(2) == 0;
    Apply(before ? app.Config() : app.Workload());
    Apply(before ? app.Workload() : app.Config());
  }

  void Apply(const std::string& yaml) {
    const kube::Object object(yaml::ParseAll(yaml)->front());
    Repeat([&] { return plane_.TryApply("host", object); });
  }
  void Delete(const kube::Resource& resource, const App& app) {
    Repeat([&] {
      const absl::Status status =
          plane_.client("host")
              .Delete(resource, {app.ns, app.name}, {.propagation = "Background"}, {})
              .status();
      return absl::IsNotFound(status) ? absl::OkStatus() : status;
    });
  }
  void Repeat(const std::function<absl::Status()>& request) {
    const base::Clock& clock = base::RealClock();
    const absl::Time deadline = clock.Now() + absl::Minutes(2);
    absl::Status status = request();
    while (!status.ok() && clock.Now() < deadline) {
      if (plane_.DaemonDied()) Restart();
      clock.SleepFor(absl::Milliseconds(50), {});
      status = request();
    }
    INFO(status.ToString());
    REQUIRE(status.ok());
  }

  // A daemon that finds no server as it starts ends, and is started again by what runs it. One that
  // has begun its work does not end, whatever the servers do.
  void Restart() {
    const bool died = plane_.DaemonDied();
    plane_.KillDaemon();
    if (servers_.DaemonEnded(!died) && died) {
      ++deaths_;
      const std::string log = plane_.DaemonLog();
      last_words_ = log.substr(log.size() - std::min<size_t>(log.size(), 3000));
    }
    plane_.StartDaemon();
  }

  // The member is cut off for its time, and until the control plane has noticed.
  void FollowPartition(absl::Time now) {
    if (now < cut_) return;
    servers_.LookAtPartitioned();
    const bool on = now < healed_ || !servers_.IsPartitionNoticed();
    if (on) partition_ = now - cut_;
    servers_.Partition(kPartitioned, on);
  }

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

// The objects that were created more than once in each member, as EffectiveWrites names them.
using CreatedAgain = std::map<std::string, std::set<std::string>>;

// Returns whether the object is a Work whose manifest was created more than once in its member.
// What has gone there and has come again may be reported as such; of everything else that would be
// wrong.
bool WasCreatedAgain(const kube::Object& object, const CreatedAgain& created_again) {
  if (object.gvk() != api::Works().gvk) return false;
  const auto member = api::ClusterOfExecutionNamespace(object.ns());
  REQUIRE(member.ok());
  const auto names = created_again.find(*member);
  const kube::Object manifest(object.Get({"spec", "workload", "manifests"}).At(0));
  return names != created_again.end() && names->second.count(manifest.Describe()) > 0;
}

// Returns a copy without what differs between two planes that hold the same.
json::Value Comparable(const json::Value& value, bool was_created_again) {
  static const auto* const kOwn = new std::set<std::string>{"uid",
                                                            "resourceVersion",
                                                            "generation",
                                                            "managedFields",
                                                            "startTime",
                                                            "creationTimestamp",
                                                            "lastTransitionTime",
                                                            "lastUpdateTime",
                                                            "observedTime",
                                                            "observedGeneration",
                                                            "resourceTemplateGeneration",
                                                            "schedulerObservedGeneration",
                                                            "lastScheduledTime"};
  if (value.is_array()) {
    // Conditions of several writers are in the order in which those came.
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) {
      items.push_back(Comparable(item, was_created_again));
    }
    std::stable_sort(items.begin(), items.end(), [](const json::Value& a, const json::Value& b) {
      return a["type"].AsString() < b["type"].AsString();
    });
    json::Value sorted = json::Value::Array();
    for (json::Value& item : items) sorted.Append(std::move(item));
    return sorted;
  }
  if (was_created_again && value == json::Value(api::reason::kReCreateSuccessful)) {
    return api::reason::kAppliedSuccessful;
  }
  if (!value.is_object()) return value;
  json::Value copy = json::Value::Object();
  for (const json::Member& member : value.members()) {
    const std::string name(member.name());
    const bool own = kOwn->count(name) > 0 || absl::EndsWith(name, "permanent-id") ||
                     absl::StrContains(name, "/depended-by-") ||
                     absl::EndsWith(name, "/passed-template") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/uid") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/generation") ||
                     absl::StrContains(name, "deployment.kubernetes.io/revision");
    copy.Set(name, own ? json::Value("*") : Comparable(member.value, was_created_again));
  }
  return copy;
}

using Contents = std::map<std::string, json::Value>;

Contents Comparable(const Snapshot& snapshot, const CreatedAgain& created_again) {
  Contents contents;
  for (const auto& [name, object] : snapshot) {
    if (absl::StrContains(name, "kube-root-ca.crt")) continue;
    contents[name] = Comparable(object.root(), WasCreatedAgain(object, created_again));
  }
  return contents;
}

std::string Differences(const Contents& here, const Contents& quiet) {
  std::vector<std::string> lines;
  for (const auto& [name, content] : here) {
    const auto other = quiet.find(name);
    if (other == quiet.end()) {
      lines.push_back(absl::StrCat("left over: ", name, " ", json::Write(content)));
    } else if (other->second != content) {
      lines.push_back(absl::StrCat(
          name, "\n  after chaos ", json::Write(kube::DiffMergePatch(other->second, content)),
          "\n  quiet ", json::Write(kube::DiffMergePatch(content, other->second))));
    }
  }
  for (const auto& [name, content] : quiet) {
    if (here.count(name) == 0) lines.push_back("missing: " + name);
  }
  return absl::StrJoin(lines, "\n");
}

// Returns the binding of an app and its object in each cluster, for a message.
std::string WhereItStands(ControlPlane& plane, const App& app) {
  std::string text;
  const auto add = [&](const std::string& cluster, const kube::Gvk& gvk, const std::string& name) {
    const auto object = plane.Get(cluster, gvk, {app.ns, name});
    absl::StrAppend(&text, cluster, ": ", object ? json::Write(object->root()) : "absent", "\n");
  };
  add("host", kBinding, app.name + "-deployment");
  for (const char* cluster : {"host", "member1", "member2"}) add(cluster, kDeployment, app.name);
  return text;
}

// Waits until every app is ready in both members and nothing changes any more.
void AwaitRest(ControlPlane& plane, const std::vector<App>& apps, const WalkedObjects& objects) {
  std::string unready;
  const auto all_ready = [&] {
    return std::all_of(apps.begin(), apps.end(), [&](const App& app) {
      if (!app.exists) return true;
      const auto deployment = plane.Get("host", kDeployment, {app.ns, app.name});
      const int copies = app.ns == kNamespaces[0] ? 2 : 1;
      const int64_t ready = deployment ? deployment->Get({"status", "readyReplicas"}).AsInt() : -1;
      if (ready == copies * app.replicas) return true;
      unready = absl::StrCat(app.ns, "/", app.name, ": ", ready, " instead of ",
                             copies * app.replicas, "\n", WhereItStands(plane, app));
      return false;
    });
  };
  const bool rests = plane.Eventually(all_ready, absl::Minutes(5));
  INFO("not ready: " << unready);
  REQUIRE(rests);
  REQUIRE(plane.Settles([&] { return Versions(objects.Take()); }, absl::Seconds(3)));
}

Contents QuietRun(const std::vector<App>& apps) {
  ControlPlane plane;
  const WalkedObjects objects(plane, kNamespaces);
  SetUp(plane);
  for (const App& app : apps) {
    if (app.exists) plane.Apply("host", app.Config() + "---" + app.Workload());
  }
  AwaitRest(plane, apps, objects);
  return Comparable(objects.Take(), {});
}

// Returns how often the daemons have written apps into a member.
int64_t WritesTo(ControlPlane& plane, const std::string& member) {
  static const auto* const kVerbs = new std::set<std::string>{"create", "update", "patch"};
  int64_t writes = 0;
  for (const sandbox::RequestCount& count : plane.fleet()->member(member)->Requests()) {
    const bool is_app = count.resource == "configmaps" || count.resource == "deployments";
    if (is_app && count.code < 300 && kVerbs->count(count.verb) > 0) writes += count.count;
  }
  return writes;
}

}  // namespace

TEST_CASE("Chaos ends as a quiet run does", "[chaos][sandbox]") {
  const int apps = Setting("CHAOS_APPS", 20), seconds = Setting("CHAOS_SECONDS", 10);
  const int seed = Setting("CHAOS_SEED", 1);
  INFO("CHAOS_APPS=" << apps << " CHAOS_SECONDS=" << seconds << " CHAOS_SEED=" << seed);
  ControlPlane plane;
  const WalkedObjects objects(plane, kNamespaces);
  SetUp(plane);
  std::map<std::string, EffectiveWrites> effective;
  for (const std::string& member : kMembers) {
    effective.try_emplace(member, plane.fleet()->member(member)->backend(), "app-");
  }
  Chaos chaos(plane, apps, seed);
  chaos.Run(absl::Seconds(seconds));
  chaos.Finish();
  AwaitRest(plane, chaos.apps(), objects);
  CreatedAgain created_again;
  for (const auto& [member, writes] : effective) created_again[member] = writes.CreatedAgain();
  CHECK(Differences(Comparable(objects.Take(), created_again), QuietRun(chaos.apps())) == "");

  std::string text = absl::StrCat(chaos.changes(), " changes; ", chaos.servers().Text());
  for (const std::string& member : kMembers) {
    const int64_t writes = WritesTo(plane, member), useful = effective.at(member).Count();
    absl::StrAppend(&text, "; ", member, ": ", writes, " writes, ", writes - useful, " in vain");
    CHECK(useful > 0);
    CHECK(useful <= writes);
    CHECK(writes <= chaos.changes());
    CHECK(writes - useful <= writes / kWritesPerRetry);
  }
  INFO(text);
  CHECK(chaos.servers().AllMet());
  INFO("of a daemon that has died:\n" << chaos.last_words());
  CHECK(chaos.deaths() == 0);
  CHECK(chaos.partition() >= std::min(absl::Seconds(seconds) / 4, kPartition) * 0.8);
  std::cout << "chaos: " << text << "; a partition of " << chaos.partition() << std::endl;
}

}  // namespace tests
