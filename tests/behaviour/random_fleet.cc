// A fleet has four to eight workloads of kinds with and without replicas, in placements of all
// sorts, and one cluster, the victim, to which something happens. Placements that depend on how
// much room clusters report have the victim and one other cluster to choose from, so that the order
// in which workloads move does not decide. Each fleet has a namespace of its own; its destructor
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
  // Real servers are not joined by this test.
  how_ = static_cast<How>(Pick(plane_.fleet() != nullptr ? 6 : 4));
  const int workloads = 3 + Pick(4);
  for (int i = 0; i < workloads; ++i) AddWorkload(absl::StrCat("w", i));
  if (plane_.fleet() != nullptr && Pick(2) == 0) AddRoomProblem();
}

RandomFleet::~RandomFleet() {
  if (changed_ && how_ == How::kLost) {
    MoveEndpoint(plane_, victim_, cluster_.spec()["apiEndpoint"].ToString());
  }
  if (changed_ && how_ == How::kLeave) Join();
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
  switch (Pick(divides ? 9 : 6)) {
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
    case 6:
      return absl::StrCat("    clusterAffinity: {clusterNames: ", all, "}\n", divided,
                          "replicaDivisionPreference: Weighted}\n");
    case 7:
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

// One cluster is rather full, and what has to come to it asks for more than is left: nodes of the
// sandbox have 8 CPUs, and a member has three.
void RandomFleet::AddRoomProblem() {
  const std::string other = OtherThanVictim();
  const std::string pod =
      "{containers: [{name: main, image: nginx, resources: {requests: {cpu: \"5\"}}}]}";
  for (const auto& [name, clusters] :
       {std::pair(std::string("filler"), other), {"big", absl::StrCat(victim_)}}) {
    names_.push_back(KeyOf("Deployment", name));
    std::string placement = absl::StrCat("    clusterAffinities:\n    - {affinityName: first, ",
                                         "clusterNames: [", clusters, "]}\n");
    if (name == "big") {
      absl::StrAppend(&placement, "    - {affinityName: second, clusterNames: [", other, "]}\n",
                      "    replicaScheduling: {replicaSchedulingType: Divided, ",
                      "replicaDivisionPreference: Aggregated}\n");
    }
    absl::StrAppend(&yaml_, "---", Deployment(name, 3, pod),
                    PolicyFor("Deployment", "apps/v1", name, placement, ""));
  }
}

void RandomFleet::Create() {
  const auto cluster = plane_.Get("host", kCluster, {"", victim_});
  REQUIRE(cluster);
  cluster_ = *cluster;
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
      return patch(
          R"({"spec":{"taints":[{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}]}})");
    case How::kLabel:
      return patch(absl::StrCat(R"({"metadata":{"labels":{")", kLabel, R"(":"yes"}}})"));
    case How::kLost:
      MoveEndpoint(plane_, victim_, kNowhere);
      REQUIRE(plane_.Eventually([&] { return !plane_.AcceptsWork(victim_); }));
      return;
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
