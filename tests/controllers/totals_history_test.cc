// After any sequence of changes of nodes and pods, the totals equal sums over all that exist.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controllers/cluster_status/resource_totals.h"
#include "kube/cache/internal/cache_writer.h"
#include "kube/meta/quantity.h"
#include "tests/support/members_fixture.h"

namespace {

using kube::Quantity;
using tests::Json;

// Amounts by resource; a sum has binary format if any part that is not zero has.
struct Amounts {
  std::map<std::string, Quantity> sums;
  std::map<std::string, bool> binary;

  void Add(const json::Value& list) {
    for (const json::Member& m : list.members()) {
      const Quantity q = *Quantity::Parse(m.value.AsString());
      sums[std::string(m.name())].Add(q);
      if (q.format() == Quantity::Format::kBinarySI && !q.IsZero()) {
        binary[std::string(m.name())] = true;
      }
    }
  }
  json::Value ToJson() const {
    json::Value out = json::Value::Object();
    for (const auto& [name, q] : sums) {
      const bool in_binary = binary.count(name) > 0;
      out.Set(name,
              q.WithFormat(in_binary ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI)
                  .ToString());
    }
    return out;
  }
  // Null when all are zero.
  json::Value ToJsonWithoutZero() const {
    json::Value out = json::Value::Object();
    const json::Value all = ToJson();
    for (const json::Member& m : all.members()) {
      if (m.value.AsString() != "0") out.Set(m.name(), m.value);
    }
    return out.empty() ? json::Value() : out;
  }
};

// Computes the figures by sums over all nodes and pods. The pods of this test have one container.
struct Sums {
  int64_t total = 0, ready = 0;
  Amounts allocatable, allocating, allocated;
  std::map<std::string, Quantity> free_cpu, free_pods;

  Sums(const kube::Store& nodes, const kube::Store& pods) {
    for (const kube::ObjectPtr& node : nodes.List()) AddNode(*node);
    for (const kube::ObjectPtr& pod : pods.List()) AddPod(*pod);
  }
  void AddNode(const kube::Object& node) {
    ++total;
    ready += kube::IsConditionTrue(node.status()["conditions"], "Ready");
    const json::Value& has = node.status()["allocatable"];
    allocatable.Add(has);
    const std::string name(node.name());
    free_cpu[name].Add(*Quantity::Parse(has["cpu"].AsString("0")));
    free_pods[name].Add(*Quantity::Parse(has["pods"].AsString("0")));
  }
  void AddPod(const kube::Object& pod) {
    json::Value requests = pod.spec()["containers"].At(0).Get({"resources", "requests"});
    requests.Set("pods", "1");
    const std::string node(pod.spec()["nodeName"].AsString());
    const absl::string_view phase = pod.status()["phase"].AsString();
    if (node.empty()) return allocating.Add(requests);
    if (phase == "Succeeded" || phase == "Failed") return;
    allocated.Add(requests);
    free_cpu[node].Sub(*Quantity::Parse(requests["cpu"].AsString("0")));
    free_pods[node].Sub(Quantity::FromInt(1));
  }
  // Counts the nodes for models of at least 0, 2 and 4 CPUs. (Nodes that do not exist have no room
  // for pods.)
  std::vector<int64_t> Counts() const {
    std::vector<int64_t> counts(3);
    for (const auto& [name, cpu] : free_cpu) {
      if (free_pods.at(name).Sign() <= 0 || cpu.Sign() < 0) continue;
      ++counts[cpu < Quantity::FromInt(2) ? 0 : cpu < Quantity::FromInt(4) ? 1 : 2];
    }
    return counts;
  }
};

constexpr char kModels[] = R"([{"grade": 0, "ranges": [{"name": "cpu", "min": "0"}]},
                               {"grade": 1, "ranges": [{"name": "cpu", "min": "2"}]},
                               {"grade": 2, "ranges": [{"name": "cpu", "min": "4"}]}])";

// The objects of a kind in the server, and the cache that an informer fills from it.
struct Kind {
  std::map<kube::ObjectKey, kube::Object> server;
  kube::internal::CacheWriter cache;

  void Put(kube::Object object) {
    server[object.key()] = object;
    cache.Apply(kube::Share(std::move(object)));
  }
};

class World {
 public:
  explicit World(unsigned seed) : random_(seed) { Attach(totals_); }
  void Attach(const std::shared_ptr<controllers::ResourceTotals>& totals) {
    nodes_.cache.AddHandler(controllers::NodeHandler(totals));
    pods_.cache.AddHandler(controllers::PodHandler(totals));
  }

  void Step() {
    switch (Below(10)) {
      case 0:
      case 1:
        return nodes_.Put(NewNode());
      case 2:
        return Delete(nodes_);
      case 3:
        return Relist(nodes_);
      case 4:
        return Delete(pods_);
      case 5:
        return Relist(pods_);
      default:
        return pods_.Put(NewPod());
    }
  }
  void Check(controllers::ResourceTotals& totals) const {
    const Sums want(nodes_.cache.store(), pods_.cache.store());
    CHECK(totals.NodeSummary()["totalNum"].AsInt() == want.total);
    CHECK(totals.NodeSummary()["readyNum"].AsInt() == want.ready);
    const json::Value summary = totals.ResourceSummary(Json(kModels));
    const json::Value allocatable = want.allocatable.ToJson();
    CHECK(summary.Has("allocatable") == !allocatable.empty());
    if (!allocatable.empty()) CHECK(summary["allocatable"] == allocatable);
    CHECK(summary["allocating"] == want.allocating.ToJsonWithoutZero());
    CHECK(summary["allocated"] == want.allocated.ToJsonWithoutZero());
    std::vector<int64_t> counts;
    for (const json::Value& m : summary["allocatableModelings"].items()) {
      counts.push_back(m["count"].AsInt());
    }
    CHECK(counts == want.Counts());
  }
  controllers::ResourceTotals& totals() { return *totals_; }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::string OneOf(const std::vector<std::string>& texts) {
    return texts[static_cast<size_t>(Below(static_cast<int>(texts.size())))];
  }
  void SetVersion(kube::Object& object) {
    object.Set({"metadata", "resourceVersion"}, absl::StrCat(++version_));
    // Sometimes the object is a new one of the same name.
    object.Set({"metadata", "uid"}, absl::StrCat("u", Below(4) == 0 ? 1 : 0));
  }
  kube::Object NewNode() {
    kube::Object node = kube::Object::Make({"", "v1", "Node"}, {"", absl::StrCat("n", Below(5))});
    SetVersion(node);
    node.Set({"status", "conditions"},
             json::Value::Array(
                 {json::Value::Object({{"type", "Ready"}, {"status", OneOf({"True", "False"})}})}));
    json::Value allocatable = json::Value::Object(
        {{"cpu", OneOf({"1", "2500m", "5"})}, {"pods", OneOf({"0", "3", "20"})}});
    if (Below(2) == 0) allocatable.Set("memory", OneOf({"1Gi", "2Gi", "1000M", "0"}));
    if (Below(4) == 0) allocatable.Set("example.com/gpu", OneOf({"1", "2"}));
    node.Set({"status", "allocatable"}, allocatable);
    return node;
  }
  kube::Object NewPod() {
    kube::Object pod = kube::Object::Make(
        {"", "v1", "Pod"}, {absl::StrCat("ns", Below(2)), absl::StrCat("p", Below(15))});
    SetVersion(pod);
    json::Value requests = json::Value::Object();
    if (Below(3) > 0) requests.Set("cpu", OneOf({"100m", "1500m", "1"}));
    if (Below(3) > 0) requests.Set("memory", OneOf({"64Mi", "1Gi"}));
    json::Value container = json::Value::Object();
    container.Set({"resources", "requests"}, requests);
    pod.Set({"spec", "containers"}, json::Value::Array({container}));
    // Some of these nodes do not exist.
    if (Below(4) > 0) pod.Set({"spec", "nodeName"}, absl::StrCat("n", Below(6)));
    pod.Set({"status", "phase"}, OneOf({"Pending", "Running", "Running", "Succeeded", "Failed"}));
    return pod;
  }
  void Delete(Kind& kind) {
    if (kind.server.empty()) return;
    auto victim = kind.server.begin();
    std::advance(victim, Below(static_cast<int>(kind.server.size())));
    kube::Object last = victim->second;
    kind.server.erase(victim);
    last.Set({"metadata", "resourceVersion"}, absl::StrCat(++version_));
    // The last state may be one that no event has delivered before.
    if (Below(2) == 0) last.Set({"status"}, Json(R"({"phase": "Failed"})"));
    kind.cache.Delete(kube::Share(std::move(last)));
  }
  // Only a new list shows what has changed in the server meanwhile.
  void Relist(Kind& kind) {
    for (int changes = Below(4); changes > 0; --changes) {
      kube::Object object = &kind == &nodes_ ? NewNode() : NewPod();
      if (Below(2) == 0) {
        kind.server.erase(object.key());
      } else {
        kind.server[object.key()] = std::move(object);
      }
    }
    kube::internal::CacheWriter::Listing listing = kind.cache.BeginList();
    // A low version stands for a server that was restored from a backup.
    listing.version = absl::StrCat(Below(5) == 0 ? 1 : ++version_);
    for (const auto& [key, object] : kind.server) {
      kind.cache.ApplyListed(kube::Share(object), listing);
    }
    kind.cache.EndList(listing, base::SteadyTime());
  }

  std::mt19937 random_;
  int64_t version_ = 1;
  Kind nodes_, pods_;
  std::shared_ptr<controllers::ResourceTotals> totals_ =
      std::make_shared<controllers::ResourceTotals>();
};

TEST_CASE("totals are those of a full sum, whatever has happened") {
  const unsigned seed = GENERATE(range(1U, 21U));
  CAPTURE(seed);
  World world(seed);
  for (int step = 0; step < 200; ++step) {
    CAPTURE(step);
    world.Step();
    if (step % 3 == 0) world.Check(world.totals());
  }
  // When the memory is lost, a replay of the cache builds the same totals.
  const auto again = std::make_shared<controllers::ResourceTotals>();
  world.Attach(again);
  world.Check(*again);
}

}  // namespace
