// A random walk over what one to five members report of an object. Each step changes one thing: a
// member joins or is left, the object moves, is made again, is reported or not, its template is
// edited, or its controllers get on. After each step the statuses are added up and written to an
// API server, which has to accept them; a second time changes nothing; and what is written has to
// be true.
//
// STATUS_SEED=7 STATUS_STEPS=500 takes another and longer walk, STATUS_SERVER=<kubeconfig> a real
// server.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "interpreter/interpreter.h"
#include "tests/statuses/member_status.h"
#include "tests/statuses/status_server.h"
#include "tests/statuses/table.h"

namespace tests {
namespace {

constexpr size_t kMaxMembers = 5;
constexpr int64_t kObjectsOfAKind = 4;

const interpreter::Interpreter& Native() {
  static const auto chain = [] {
    std::vector<std::unique_ptr<interpreter::Backend>> backends;
    backends.push_back(interpreter::NewNativeBackend());
    return interpreter::NewChain(std::move(backends));
  }();
  return *chain;
}

// An object in one member.
struct Member {
  std::string name;
  kube::Object object;
  bool reports = false;
  bool older_api = false;
};

// The counters that are the sums of what the members report.
const std::vector<std::string>& SumsOf(const std::string& kind) {
  static const std::vector<std::string> replicas = {"replicas", "readyReplicas",
                                                    "availableReplicas", "updatedReplicas"};
  static const auto& sums = *new std::map<std::string, std::vector<std::string>>{
      {"Deployment", replicas},
      {"StatefulSet", replicas},
      {"ReplicaSet", {"replicas", "readyReplicas", "availableReplicas"}},
      {"DaemonSet", {"desiredNumberScheduled", "numberReady", "numberAvailable"}},
      {"Job", {"active"}},
      {"PodDisruptionBudget", {"currentHealthy", "disruptionsAllowed"}},
      {"HorizontalPodAutoscaler", {"currentReplicas", "desiredReplicas"}}};
  static const std::vector<std::string> none;
  const auto found = sums.find(kind);
  return found == sums.end() ? none : found->second;
}

int64_t Sum(const json::Value& items, const std::string& counter) {
  int64_t sum = 0;
  for (const json::Value& item : items.items()) sum += item["status"][counter].AsInt();
  return sum;
}

// One object, its template on the server.
class ObjectWalk {
 public:
  ObjectWalk(StatusServer& server, const std::string& name, const kube::Object& object, Dice& dice)
      : server_(server), dice_(dice), kind_(object.kind()), template_(server.Create(name, object)) {
    Join();
  }

  void Step() {
    ++now_;
    Change(dice_.Below(20));
    Write();
  }

  // Lets every member report the end of its Job, which has to end the one on the server.
  void EndJob() {
    if (members_.empty()) Join();
    bool failed = kube::IsConditionTrue(template_.status()["conditions"], "FailureTarget");
    for (Member& member : members_) {
      ++now_;
      member.reports = true;
      End(member.object, now_, dice_.OneIn(3));
      failed |= kube::IsConditionTrue(member.object.status()["conditions"], "Failed");
    }
    const bool ended_before = HasEnded(template_);
    Write();
    CAPTURE(json::Write(template_.status()));
    REQUIRE(HasEnded(template_));
    if (ended_before) return;
    CHECK(kube::IsConditionTrue(template_.status()["conditions"], failed ? "Failed" : "Complete"));
  }

  void Remove() { server_.Delete(template_); }

 private:
  void Join() {
    if (members_.size() == kMaxMembers) return;
    Member member;
    member.name = absl::StrCat("member", ++joined_);
    member.older_api = dice_.OneIn(4);
    MakeIn(member);
    members_.push_back(std::move(member));
  }

  void MakeIn(Member& member) {
    member.object = template_;
    member.object.Erase({"status"});
    member.object.Set({"metadata", "generation"}, 1);
    member.object.Set({"metadata", "annotations", api::kTemplateGenerationAnnotation},
                      absl::StrCat(template_.generation()));
    member.reports = false;
  }

  void Change(int64_t dice) {
    if (dice == 0) return Join();
    if (members_.empty()) return;
    const auto picked = members_.begin() + dice_.Below(static_cast<int64_t>(members_.size()));
    switch (dice) {
      case 1:
        members_.erase(picked);
        return;
      case 2:  // The object moves to other clusters.
        members_.clear();
        for (int64_t i = dice_.Below(3); i >= 0; --i) Join();
        return;
      case 3:
        picked->reports = false;
        return;
      case 4:
        MakeIn(*picked);
        return;
      case 5:
        return Edit();
      default:
        picked->reports = true;
        MoveOn(picked->object, now_, dice_);
    }
  }

  void Edit() {
    static const auto& fields =
        *new std::map<std::string, std::string>{{"Deployment", "replicas"},
                                                {"ReplicaSet", "replicas"},
                                                {"StatefulSet", "replicas"},
                                                {"DaemonSet", "minReadySeconds"},
                                                {"Job", "parallelism"},
                                                {"PodDisruptionBudget", "minAvailable"},
                                                {"HorizontalPodAutoscaler", "maxReplicas"}};
    json::Value spec = json::Value::Object();
    const auto field = fields.find(kind_);
    if (field != fields.end()) spec.Set(field->second, 1 + dice_.Below(5));
    if ((kind_ == "Job" && dice_.OneIn(2)) || kind_ == "CronJob") {
      spec.Set("suspend", !template_.spec()["suspend"].AsBool());
    }
    if (kind_ == "Service") {
      spec.Set("type", template_.spec()["type"] == "ClusterIP" ? "LoadBalancer" : "ClusterIP");
    }
    if (spec.empty()) return;
    template_ = server_.PatchSpec(template_, spec);
    for (Member& member : members_) {  // Most members have it at once.
      if (dice_.OneIn(3)) continue;
      member.object.Set({"metadata", "generation"}, member.object.generation() + 1);
      member.object.Set({"metadata", "annotations", api::kTemplateGenerationAnnotation},
                        absl::StrCat(template_.generation()));
    }
  }

  json::Value Items() {
    json::Value items;
    for (const Member& member : members_) {
      json::Value item =
          json::Value::Object({{"clusterName", member.name}, {"applied", !dice_.OneIn(10)}});
      if (member.reports) {
        const auto reflected = Native().ReflectStatus(member.object);
        INFO(reflected.status().ToString());
        REQUIRE(reflected.ok());
        json::Value status = *reflected;
        if (member.older_api) status = AsOlderApiHasIt(kind_, std::move(status));
        if (!status.is_null()) item.Set("status", std::move(status));
        item.Set("health", dice_.OneIn(3) ? "Unhealthy" : "Healthy");
      }
      items.Append(std::move(item));
    }
    return items;
  }

  // Writes what the items add up to; returns whether the server has something new then.
  bool WriteOnce(const json::Value& items) {
    const auto added_up = Native().AggregateStatus(template_, items);
    INFO(added_up.status().ToString());
    REQUIRE(added_up.ok());
    if (added_up->root().SharesWith(template_.root())) return false;
    CAPTURE(json::Write(added_up->status()));
    const auto written = server_.WriteStatus(template_, added_up->status());
    INFO(written.status().ToString());
    REQUIRE(written.ok());
    const bool changed = written->resource_version() != template_.resource_version();
    template_ = *written;
    return changed;
  }

  void Write() {
    const json::Value items = Items();
    CAPTURE(kind_, template_.name(), now_, json::Write(template_.spec()),
            json::Write(template_.status()), json::Write(items));
    const bool ended = kind_ == "Job" && HasEnded(template_);
    WriteOnce(items);
    CHECK(!WriteOnce(items));
    if (!ended) CheckCounters(items);
    if (kind_ == "Job" && !ended) CheckJob(items);
  }

  void CheckCounters(const json::Value& items) {
    for (const std::string& counter : SumsOf(kind_)) {
      CAPTURE(counter);
      CHECK(template_.status()[counter].AsInt() == Sum(items, counter));
    }
  }

  // A finished pod stays counted, but none that no member has ever reported is.
  void CheckJob(const json::Value& items) {
    for (const char* counter : {"succeeded", "failed"}) {
      CAPTURE(counter);
      const int64_t sum = Sum(items, counter);
      largest_[counter] = std::max(largest_[counter], sum);
      CHECK(template_.status()[counter].AsInt() >= sum);
      CHECK(template_.status()[counter].AsInt() <= largest_[counter]);
    }
    const json::Value& conditions = template_.status()["conditions"];
    for (const json::Value& item : items.items()) {
      if (!kube::IsConditionTrue(item["status"]["conditions"], "Failed")) continue;
      CHECK(kube::IsConditionTrue(conditions, "FailureTarget"));
    }
  }

  StatusServer& server_;
  Dice& dice_;
  const std::string kind_;
  kube::Object template_;  // As the server has it.
  std::vector<Member> members_;
  std::map<std::string, int64_t> largest_;  // The largest sums that were reported at one time.
  int64_t joined_ = 0;
  int64_t now_ = 0;
};

}  // namespace

TEST_CASE("what members report adds up to statuses that an API server accepts") {
  const int64_t seed = FromEnvironment("STATUS_SEED", 1);
  const int64_t steps = FromEnvironment("STATUS_STEPS", 60);
  StatusServer server;
  const json::Value table = StatusTable();
  Dice dice(static_cast<uint64_t>(seed));
  WARN("STATUS_SEED=" << seed << " STATUS_STEPS=" << steps << ", on a server of version 1."
                      << server.minor());
  for (const char* kind : kWalkedKinds) {
    for (int64_t i = 0; i < kObjectsOfAKind; ++i) {
      const std::string name = absl::StrCat(absl::AsciiStrToLower(kind), "-", i);
      kube::Object object = StatusTableObject(table, kind);
      if (i % 2 == 1 && absl::string_view(kind) == "Pod") {
        object.Set({"spec", "restartPolicy"}, "Always");
      }
      ObjectWalk walk(server, name, object, dice);
      for (int64_t step = 0; step < steps; ++step) walk.Step();
      if (absl::string_view(kind) == "Job") walk.EndJob();
      walk.Remove();
    }
  }
}

}  // namespace tests
