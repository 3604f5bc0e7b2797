// A fleet has four to eight workloads of kinds with and without replicas, in placements of all
// sorts, and one cluster, the victim, to which something happens. Placements that depend on how
// much room clusters report have the victim and one other cluster to choose from, so that the order
// in which workloads move does not decide. The first member and each second one after it are in one
// region, the others in another one. For the same reason one workload at most counts for a
// quota, and at most one waits for room. Each fleet has a namespace of its own; its destructor
// leaves the plane as it was.

#include "tests/behaviour/random_fleet.h"

#include <algorithm>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/binding.h"
#include "config/served/served_release.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/plan/live_reader.h"
#include "lens/plan/report.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"

namespace tests {
namespace {

namespace plan = ::lens::plan;

constexpr char kNowhere[] = "https://127.0.0.1:1";
constexpr char kLabel[] = "what-if";
constexpr int kNodes = 3;  // Of a member.
// Of the sandbox, and of the rig of real servers.
constexpr int kPodsOfNode = 110, kPodsOfRealNode = 500;
constexpr int kFewPods = 12;
constexpr char kCordon[] =
    R"({"spec":{"taints":[{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}]}})";
const kube::Gvk kNode{"", "v1", "Node"};

std::string KeyOf(absl::string_view kind, absl::string_view name) {
  return absl::StrCat(kind, " ", name);
}

std::string PlacesText(const std::map<std::string, int64_t>& replicas) {
  return absl::StrJoin(replicas, " ", absl::PairFormatter("="));
}

// What a workload needs stays in a lost cluster as long as the workload does, which is until the
// cluster answers again.
bool StaysMeanwhile(absl::string_view key) { return absl::StartsWith(key, "ConfigMap needs-"); }

// A policy for one object. Cluster-scoped ones have the name of the namespace.
std::string PolicyFor(const std::string& kind, const std::string& api, const std::string& name,
                      const std::string& placement, const std::string& spec) {
  const bool wide = kind == "ClusterRole";
  return absl::StrCat("---\napiVersion: policy.karmada.io/v1alpha1\nkind: ",
                      wide ? "ClusterPropagationPolicy" : "PropagationPolicy",
                      "\nmetadata: {name: ", wide ? "$NS" : absl::StrCat(name, ", namespace: $NS"),
                      "}\nspec:\n", "  resourceSelectors: [{apiVersion: ", api, ", kind: ", kind,
                      ", name: ", wide ? "$NS" : name, "}]\n", spec, "  placement:\n", placement);
}

}  // namespace

RandomFleet::RandomFleet(uint64_t seed, ControlPlane& plane, std::vector<std::string> members,
                         config::Options daemon)
    : plane_(plane),
      members_(std::move(members)),
      daemon_(std::move(daemon)),
      random_(seed),
      ns_(plane.UniqueNamespace(absl::StrCat("fleet", seed))) {
  victim_ = members_[Pick(static_cast<int>(members_.size()))];
  for (size_t i = 0; i < members_.size(); ++i) {
    plane_.Patch("host", kCluster, {"", members_[i]},
                 absl::StrCat(R"({"spec":{"region":")", i % 2 == 0 ? "north" : "south", R"("}})"));
  }
  // Real servers are not joined by this test.
  how_ = static_cast<How>(Pick(plane_.fleet() != nullptr ? 9 : 7));
  taint_effect_ = Pick(2) == 0 ? "NoExecute" : "NoSchedule";
  const int workloads = 3 + Pick(4);
  for (int i = 0; i < workloads; ++i) AddWorkload(absl::StrCat("w", i));
  // What makes up a room problem would count for the quota, too.
  const int problem = Pick(3);
  if (problem == 0) AddRoomProblem();
  if (problem == 1) AddQuota();
  if (how_ != How::kCapacity) return;
  const int all = plane_.fleet() != nullptr ? kPodsOfNode : kPodsOfRealNode;
  const bool grows = Pick(2) == 0;
  pods_before_ = grows ? kFewPods : all;
  pods_after_ = grows ? all : kFewPods;
  // karmada-scheduler tries again after minutes, too, which is too long to wait for.
  if (grows && plane_.fleet() != nullptr) AddCrowd();
}

RandomFleet::~RandomFleet() {
  if (changed_ && how_ == How::kLost) {
    MoveEndpoint(plane_, victim_, cluster_.spec()["apiEndpoint"].ToString());
  }
  if (changed_ && how_ == How::kLeave) Join();
  if (pods_before_ != 0) SetPodsOfNodes(std::max(pods_before_, pods_after_));
  if (plane_.Exists("host", kClusterPolicy, {"", ns_})) {
    plane_.Delete("host", kClusterPolicy, {"", ns_});
  }
  if (plane_.Exists("host", kClusterRole, {"", ns_}))
    plane_.Delete("host", kClusterRole, {"", ns_});
  plane_.Delete("host", kNamespace, {"", ns_});
  // Taints that the daemon sets go with their cause.
  if (plane_.Exists("host", kCluster, {"", victim_})) {
    plane_.Patch(
        "host", kCluster, {"", victim_},
        absl::StrCat(R"({"metadata":{"labels":{")", kLabel, R"(":null}},"spec":{"taints":null}})"));
  }
  CHECK(plane_.Eventually([&] { return plane_.AcceptsWork(victim_); }));
  CHECK(plane_.Eventually([&] { return !plane_.Exists("host", kNamespace, {"", ns_}); }));
}

std::string RandomFleet::OtherThanVictim() {
  std::vector<std::string> others = members_;
  std::erase(others, victim_);
  return others[Pick(static_cast<int>(others.size()))];
}

std::string RandomFleet::Tolerations() {
  switch (Pick(5)) {
    case 0:
      return "    clusterTolerations: [{operator: Exists}]\n";
    case 1:
      return "    clusterTolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: "
             "1}]\n";
    default:
      return "";
  }
}

std::string RandomFleet::RandomPlacement(bool divides) {
  const std::string two = absl::StrCat("[", victim_, ", ", OtherThanVictim(), "]");
  const std::string all = absl::StrCat("[", absl::StrJoin(members_, ", "), "]");
  const std::string divided = "    replicaScheduling: {replicaSchedulingType: Divided, ";
  switch (Pick(divides ? 10 : 7)) {
    case 0:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", all, "}\n");
    case 1:
      return absl::StrCat("    clusterAffinity: {clusterNames: [", victim_, "]}\n");
    case 2:
      return absl::StrCat("    clusterAffinity: {clusterNames: [", OtherThanVictim(), "]}\n");
    case 3:
      return absl::StrCat("    clusterAffinities:\n    - {affinityName: first, clusterNames: [",
                          victim_, "]}\n    - {affinityName: second, clusterNames: ", all, "}\n");
    case 4:
      return absl::StrCat("    clusterAffinity: {labelSelector: {matchExpressions: [{key: ", kLabel,
                          ", operator: ", Pick(2) == 0 ? "DoesNotExist" : "Exists", "}]}}\n");
    case 5:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", two, "}\n",
                          "    spreadConstraints: [{spreadByField: cluster, minGroups: 1, ",
                          "maxGroups: ", 1 + Pick(2), "}]\n");
    case 6: {
      const int least = 1 + Pick(2);
      return absl::StrCat(
          "    clusterAffinity: {clusterNames: ", two, "}\n", "    spreadConstraints:\n",
          "    - {spreadByField: region, minGroups: ", least, ", maxGroups: 2}\n",
          "    - {spreadByField: cluster, minGroups: 1, maxGroups: ", 1 + Pick(2), "}\n",
          divides && Pick(2) == 0
              ? absl::StrCat(divided, "replicaDivisionPreference: Aggregated}\n")
              : "");
    }
    case 7:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", all, "}\n", divided,
                          "replicaDivisionPreference: Weighted}\n");
    case 8:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", two, "}\n", divided,
                          "replicaDivisionPreference: Aggregated}\n");
    default:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", all, "}\n", divided,
                          "replicaDivisionPreference: Weighted, weightPreference: ",
                          "{staticWeightList: [{targetCluster: {clusterNames: [", victim_,
                          "]}, weight: 2}, {targetCluster: {clusterNames: [", OtherThanVictim(),
                          "]}, weight: 1}]}}\n");
  }
}

void RandomFleet::AddWorkload(const std::string& name) {
  const int kind = Pick(6);
  const std::string directly = Pick(4) == 0 ? "  failover: {cluster: {purgeMode: Directly}}\n" : "";
  if (kind == 0 && !absl::StrContains(yaml_, "ClusterRole")) {
    names_.push_back(KeyOf("ClusterRole", ns_));
    absl::StrAppend(&yaml_,
                    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: "
                    "{name: $NS}\nrules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]\n",
                    PolicyFor("ClusterRole", "rbac.authorization.k8s.io/v1", name,
                              RandomPlacement(false) + Tolerations(), directly));
    return;
  }
  if (kind <= 1) {
    names_.push_back(KeyOf("ConfigMap", name));
    absl::StrAppend(
        &yaml_, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", name,
        ", namespace: $NS}\n",
        PolicyFor("ConfigMap", "v1", name, RandomPlacement(false) + Tolerations(), directly));
    return;
  }
  const bool needs = Pick(3) == 0;
  names_.push_back(KeyOf("Deployment", name));
  const std::string pod = absl::StrCat(
      "{containers: [{name: main, image: nginx",
      needs ? absl::StrCat(", envFrom: [{configMapRef: {name: needs-", name, "}}]") : "", "}]}");
  absl::StrAppend(&yaml_, "---", Deployment(name, 1 + Pick(4), pod));
  if (needs) {
    names_.push_back(KeyOf("ConfigMap", absl::StrCat("needs-", name)));
    absl::StrAppend(&yaml_, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: needs-", name,
                    ", namespace: $NS}\n");
  }
  absl::StrAppend(&yaml_,
                  PolicyFor("Deployment", "apps/v1", name, RandomPlacement(true) + Tolerations(),
                            absl::StrCat(directly, needs ? "  propagateDeps: true\n" : "")));
}

// One cluster is full, and what would have to come to it finds no room: a replica needs half a
// node, by the smallest size that nodes of its grade have.
void RandomFleet::AddRoomProblem() {
  const std::string other = OtherThanVictim();
  const std::string pod =
      absl::StrCat("{containers: [{name: main, image: nginx, resources: {requests: {cpu: \"",
                   plane_.fleet() != nullptr ? 4 : 32, "\"}}}]}");
  for (const auto& [name, clusters] : {std::pair(std::string("filler"), other), {"big", victim_}}) {
    names_.push_back(KeyOf("Deployment", name));
    std::string placement = absl::StrCat("    clusterAffinities:\n    - {affinityName: first, ",
                                         "clusterNames: [", clusters, "]}\n");
    if (name == "big") {
      absl::StrAppend(&placement, "    - {affinityName: second, clusterNames: [", other, "]}\n",
                      "    replicaScheduling: {replicaSchedulingType: Divided, ",
                      "replicaDivisionPreference: Aggregated}\n");
    }
    absl::StrAppend(&yaml_, "---", Deployment(name, name == "big" ? kNodes : 2 * kNodes, pod),
                    PolicyFor("Deployment", "apps/v1", name, placement, ""));
  }
}

// A quota of the namespace, and one workload that counts for it: there is enough for one copy of
// it, for two, or for more than there are clusters.
void RandomFleet::AddQuota() {
  constexpr int kReplicas = 2, kMilli = 100;
  const int copies[] = {1, 2, 10};
  absl::StrAppend(
      &yaml_, "---\napiVersion: policy.karmada.io/v1alpha1\n",
      "kind: FederatedResourceQuota\nmetadata: {name: quota, namespace: $NS}\n",
      "spec: {overall: {cpu: ", copies[Pick(3)] * kReplicas * kMilli, "m}}\n---",
      Deployment("quoted", kReplicas,
                 absl::StrCat("{containers: [{name: main, image: nginx, resources: ",
                              "{requests: {cpu: ", kMilli, "m}}}]}")),
      PolicyFor("Deployment", "apps/v1", "quoted", RandomPlacement(true) + Tolerations(), ""));
  names_.push_back(KeyOf("Deployment", "quoted"));
}

// What finds no room in the victim before it has more.
void RandomFleet::AddCrowd() {
  absl::StrAppend(
      &yaml_, "---",
      Deployment("crowd", kNodes * kFewPods + 1, "{containers: [{name: main, image: nginx}]}"),
      PolicyFor("Deployment", "apps/v1", "crowd",
                absl::StrCat("    clusterAffinity: {clusterNames: [", victim_, "]}\n",
                             "    replicaScheduling: {replicaSchedulingType: Divided, ",
                             "replicaDivisionPreference: Aggregated}\n"),
                ""));
  names_.push_back(KeyOf("Deployment", "crowd"));
}

void RandomFleet::SetPodsOfNodes(int pods) {
  for (int i = 0; i < kNodes; ++i) {
    const std::string node = plane_.fleet() != nullptr ? absl::StrCat(victim_, "-node", i + 1)
                                                       : absl::StrCat(victim_, "-node-", i);
    plane_.Patch(victim_, kNode, {"", node},
                 absl::StrCat(R"({"status":{"allocatable":{"pods":")", pods, R"("}}})"), "status");
  }
}

void RandomFleet::Create() {
  const auto cluster = plane_.Get("host", kCluster, {"", victim_});
  REQUIRE(cluster);
  cluster_ = *cluster;
  if (pods_before_ != 0) {
    SetPodsOfNodes(pods_before_);
    REQUIRE(plane_.Eventually([&] { return IsReported(); }, absl::Seconds(20)));
  }
  if (how_ == How::kUncordon) {
    plane_.Patch("host", kCluster, {"", victim_}, kCordon);
    changed_ = true;
  }
  if (how_ == How::kJoin) {
    left_ = Leave(plane_, victim_);
    REQUIRE(plane_.Eventually([&] { return !plane_.Exists("host", kCluster, {"", victim_}); }));
    changed_ = true;
    how_ = How::kLeave;  // So that it joins whatever happens.
    plane_.Apply("host", In(ns_, kNamespaceYaml));
    plane_.Apply("host", In(ns_, yaml_));
    how_ = How::kJoin;
  } else {
    plane_.Apply("host", In(ns_, kNamespaceYaml));
    plane_.Apply("host", In(ns_, yaml_));
  }
  REQUIRE(plane_.Settles(
      [&] {
        bool moving = false;
        const Places places = Now(moving);
        return absl::StrJoin(places, "\n", absl::PairFormatter(": "));
      },
      absl::Milliseconds(700)));
  CHECK(plane_.Eventually([&] { return IsReported(); }, absl::Seconds(20)));
}

// The pods of all workloads count in the summaries of their clusters, and those of fleets before
// this one do not: no summary has changed for longer than it takes to report one.
bool RandomFleet::IsReported() {
  return plane_.Settles(
      [&] {
        std::string text;
        for (const std::string& member : members_) {
          const auto cluster = plane_.Get("host", kCluster, {"", member});
          if (cluster) absl::StrAppend(&text, json::Write(cluster->status()["resourceSummary"]));
        }
        return text;
      },
      absl::Milliseconds(1400));
}

std::vector<plan::FleetEdit> RandomFleet::Edits() const {
  switch (how_) {
    case How::kDrain:
      return {plan::Drained(victim_)};
    case How::kCordon:
      return {plan::Cordoned(victim_)};
    case How::kLabel:
      return {*plan::ParseLabel(absl::StrCat(victim_, ":", kLabel, "=yes"))};
    case How::kLost:
      return {plan::Lost(victim_)};
    case How::kTaint:
      return {*plan::ParseTaint(absl::StrCat(victim_, ":", kLabel, "=yes:", taint_effect_))};
    case How::kUncordon:
      return {plan::Uncordoned(victim_)};
    case How::kCapacity:
      return {*plan::ParseCapacity(absl::StrCat(victim_, ":pods=", kNodes * pods_after_))};
    case How::kLeave:
      return {plan::Without(victim_)};
    case How::kJoin:
      break;
  }
  return {*plan::Joining(cluster_)};
}

bool RandomFleet::IsUnknown(const std::string& key, const std::string& cluster) const {
  return how_ == How::kLost && cluster == victim_ && StaysMeanwhile(key);
}

Places RandomFleet::Planned() {
  kube::Client& client = plane_.client("host");
  plan::LiveReader reader(client, *kube::Discover(client, {}));
  plan::PlanRequest request;
  request.live = &reader;
  request.edits = Edits();
  request.daemon = daemon_;
  const auto release = config::ServedRelease(client).Ask({});
  INFO(release.status().ToString());
  REQUIRE(release.ok());
  request.daemon.wanted_release = *release;
  const auto made = plan::MakePlan(request, {});
  INFO(made.status().ToString());
  REQUIRE(made.ok());
  said_ = plan::TextOf(*made, {});
  Places places;
  for (const plan::TemplateChange& change : made->templates) {
    if (change.id.ns != ns_ && change.id.name != ns_) continue;
    const std::string key = KeyOf(change.id.kind, change.id.name);
    if (std::find(names_.begin(), names_.end(), key) == names_.end()) continue;
    std::map<std::string, int64_t> replicas;
    for (const plan::ClusterChange& cluster : change.clusters) {
      if (!change.outcome.targets.contains(cluster.cluster) || IsUnknown(key, cluster.cluster)) {
        continue;
      }
      replicas[cluster.cluster] = cluster.replicas_after.value_or(0);
    }
    places[key] = PlacesText(replicas);
  }
  return places;
}

void RandomFleet::Change() {
  const auto patch = [&](const std::string& text) {
    plane_.Patch("host", kCluster, {"", victim_}, text);
  };
  changed_ = true;
  switch (how_) {
    case How::kDrain:
      return patch(R"({"spec":{"taints":[{"key":"drain","effect":"NoExecute"}]}})");
    case How::kCordon:
      return patch(kCordon);
    case How::kLabel:
      return patch(absl::StrCat(R"({"metadata":{"labels":{")", kLabel, R"(":"yes"}}})"));
    case How::kLost:
      MoveEndpoint(plane_, victim_, kNowhere);
      REQUIRE(plane_.Eventually([&] { return !plane_.AcceptsWork(victim_); }));
      return;
    case How::kTaint:
      return patch(absl::StrCat(R"({"spec":{"taints":[{"key":")", kLabel,
                                R"(","value":"yes","effect":")", taint_effect_, R"("}]}})"));
    case How::kUncordon:
      return patch(R"({"spec":{"taints":null}})");
    case How::kCapacity:
      return SetPodsOfNodes(pods_after_);
    case How::kLeave:
      left_ = Leave(plane_, victim_);
      return;
    case How::kJoin:
      Join();
      REQUIRE(plane_.Eventually([&] { return plane_.AcceptsWork(victim_); }));
  }
}

void RandomFleet::Join() {
  REQUIRE(plane_.Eventually([&] { return !plane_.Exists("host", kCluster, {"", victim_}); }));
  REQUIRE(tests::Join(plane_, left_).ok());
}

Places RandomFleet::Now(bool& moving) {
  Places places;
  for (const std::string& key : names_) {
    const std::vector<std::string> parts = absl::StrSplit(key, ' ');
    const bool wide = parts[0] == "ClusterRole";
    const auto binding =
        plane_.Get("host", wide ? kClusterBinding : kBinding,
                   {wide ? "" : ns_, absl::StrCat(parts[1], "-", absl::AsciiStrToLower(parts[0]))});
    if (!binding) continue;
    const api::BindingView view(*binding);
    std::map<std::string, int64_t> replicas;
    for (const api::TargetCluster& target : view.DispatchTargets()) {
      if (IsUnknown(key, target.name)) continue;
      replicas[target.name] = view.Replicas() > 0 ? target.replicas : 0;
    }
    for (const api::EvictionTask& task : view.EvictionTasks()) {
      if (!task.KeepsAway()) moving = true;
    }
    places[key] = PlacesText(replicas);
  }
  return places;
}

Places RandomFleet::Actual(const Places& wanted) {
  Places now;
  const auto is_there = [&] {
    bool moving = false;
    now = Now(moving);
    return now == wanted && !moving;
  };
  const bool came = plane_.Eventually(is_there, absl::Seconds(40));
  // What has not begun to move yet moves within the time of a report and of a toleration.
  if (came && !plane_.Always(is_there, absl::Milliseconds(1500))) {
    plane_.Eventually(is_there, absl::Seconds(20));
  }
  return now;
}

std::string RandomFleet::Describe() const {
  std::string text =
      absl::StrCat("What if ", Edits()[0].ToString(), "?\n", In(ns_, yaml_), "\n", said_);
  return text;
}

std::string DifferenceOf(const Places& planned, const Places& actual) {
  std::string text;
  Places all = planned;
  all.insert(actual.begin(), actual.end());
  for (const auto& [name, ignored] : all) {
    const auto place = [&](const Places& places) {
      const auto found = places.find(name);
      return found == places.end() ? std::string("unknown") : found->second;
    };
    if (place(planned) == place(actual)) continue;
    absl::StrAppend(&text, name, ": the plan said \"", place(planned), "\", and it is in \"",
                    place(actual), "\"\n");
  }
  return text;
}

}  // namespace tests
