// Apps are created, changed and deleted while the controller manager is killed again and again and
// the servers misbehave. At the end everything is as on a quiet plane that was given the last state
// of each app that is left, and no member was written to more often than apps changed. CHAOS_APPS
// and CHAOS_SECONDS choose the size (`make chaos`: 300 apps for three minutes), CHAOS_SEED another
// sequence.
#include <algorithm>
#include <cstdlib>
#include <functional>
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
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
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

void SetUp(ControlPlane& plane) {
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

// The daemon is killed, not stopped; requests of the test itself are repeated until they succeed.
class Chaos {
 public:
  Chaos(ControlPlane& plane, int apps, int seed) : plane_(plane), random_(seed) {
    for (int i = 0; i < apps; ++i) {
      apps_.push_back({.ns = kNamespaces[i % 2], .name = absl::StrCat("app-", i)});
    }
  }

  void Run(absl::Duration time) {
    const base::Clock& clock = base::RealClock();
    const absl::Time begin = clock.Now(), end = begin + time;
    const absl::Time cut = begin + time / 4, healed = cut + std::min(time / 4, absl::Seconds(30));
    absl::Time next_kill = begin + absl::Seconds(2);
    for (absl::Time now = begin; now < end; now = clock.Now()) {
      ChangeSomething();
      clock.SleepFor(kBetweenChanges, {});
      if (Pick(20) == 0) Misbehave();
      Partition(now >= cut && now < healed);
      if (now < next_kill) continue;
      Restart();
      ++kills_;
      next_kill = clock.Now() + absl::Milliseconds(1000 + Pick(4000));
    }
  }

  // Ends all faults and the killing. The scheduler divides an app beside a member that is not
  // ready, and leaves it so; those apps change once more when all members are ready.
  void Finish() {
    Partition(false);
    for (sandbox::ApiServer* server : Servers()) server->faults().Clear();
    if (plane_.DaemonDied()) Restart();
    for (const std::string& member : kMembers) {
      REQUIRE(plane_.Eventually([&] { return plane_.AcceptsWork(member); }));
    }
    for (App& app : apps_) {
      const bool divided = app.ns == kNamespaces[1];
      if (app.exists && divided) ChangeReplicas(app, app.replicas == 3 ? 6 : 3);
    }
  }

  const std::vector<App>& apps() const { return apps_; }
  int kills() const { return kills_; }
  // The most writes that these changes can cost a member.
  int64_t changes() const { return changes_; }

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  void ChangeSomething() {
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

  // The scheduler divides them anew: the template's change and the division's are two.
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
    absl::Status status;
    const bool done = plane_.Eventually([&] {
      if (plane_.DaemonDied()) Restart();
      return (status = request()).ok();
    });
    INFO(status.ToString());
    REQUIRE(done);
  }

  // A daemon that finds no server as it starts ends, and is started again by what runs it.
  void Restart() {
    plane_.KillDaemon();
    plane_.StartDaemon();
  }

  std::vector<sandbox::ApiServer*> Servers() {
    std::vector<sandbox::ApiServer*> servers = {&plane_.fleet()->control_plane()};
    for (const std::string& member : kMembers) servers.push_back(plane_.fleet()->member(member));
    return servers;
  }

  void Misbehave() {
    static constexpr int kCodes[] = {429, 500, 503, 504};
    sandbox::Faults& faults = Servers()[Pick(3)]->faults();
    switch (Pick(5)) {
      case 0:
        return faults.DropWatches();
      case 1:
        faults.ExpireHistory();
        return faults.DropWatches();
      case 2:  // A server that restarts.
        faults.SetPartitioned(true);
        return faults.SetPartitioned(false);
      default:
        return faults.FailNext(1 + Pick(10), kCodes[Pick(4)], "", "/");
    }
  }

  void Partition(bool on) {
    if (on != partitioned_) plane_.fleet()->member("member2")->faults().SetPartitioned(on);
    partitioned_ = on;
  }

  ControlPlane& plane_;
  std::mt19937 random_;
  std::vector<App> apps_;
  bool partitioned_ = false;
  int kills_ = 0;
  int64_t changes_ = 0;
};

// Returns a copy without what differs between two planes that hold the same.
json::Value Comparable(const json::Value& value) {
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
    for (const json::Value& item : value.items()) items.push_back(Comparable(item));
    std::stable_sort(items.begin(), items.end(), [](const json::Value& a, const json::Value& b) {
      return a["type"].AsString() < b["type"].AsString();
    });
    json::Value sorted = json::Value::Array();
    for (json::Value& item : items) sorted.Append(std::move(item));
    return sorted;
  }
  if (!value.is_object()) return value;
  json::Value copy = json::Value::Object();
  for (const json::Member& member : value.members()) {
    const std::string name(member.name());
    const bool own = kOwn->count(name) > 0 || absl::EndsWith(name, "permanent-id") ||
                     absl::StrContains(name, "/depended-by-") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/uid") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/generation") ||
                     absl::StrContains(name, "deployment.kubernetes.io/revision");
    copy.Set(name, own ? json::Value("*") : Comparable(member.value));
  }
  return copy;
}

using Contents = std::map<std::string, json::Value>;

Contents Comparable(const Snapshot& snapshot) {
  Contents contents;
  for (const auto& [name, object] : snapshot) {
    if (!absl::StrContains(name, "kube-root-ca.crt")) contents[name] = Comparable(object.root());
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

// Waits until every app is ready in both members and nothing changes any more.
void AwaitRest(ControlPlane& plane, const std::vector<App>& apps, const WalkedObjects& objects) {
  const auto all_ready = [&] {
    return std::all_of(apps.begin(), apps.end(), [&](const App& app) {
      if (!app.exists) return true;
      const auto deployment = plane.Get("host", kDeployment, {app.ns, app.name});
      const int copies = app.ns == kNamespaces[0] ? 2 : 1;
      return deployment &&
             deployment->Get({"status", "readyReplicas"}).AsInt() == copies * app.replicas;
    });
  };
  REQUIRE(plane.Eventually(all_ready, absl::Minutes(5)));
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
  return Comparable(objects.Take());
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
  Chaos chaos(plane, apps, seed);
  chaos.Run(absl::Seconds(seconds));
  chaos.Finish();
  AwaitRest(plane, chaos.apps(), objects);
  INFO(chaos.kills() << " kills, " << chaos.changes() << " changes; writes: "
                     << WritesTo(plane, "member1") << " and " << WritesTo(plane, "member2"));
  CHECK(Differences(Comparable(objects.Take()), QuietRun(chaos.apps())) == "");
  for (const std::string& member : kMembers) CHECK(WritesTo(plane, member) <= chaos.changes());
  CHECK(chaos.kills() > 0);
}

}  // namespace tests
