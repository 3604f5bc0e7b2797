// Replicas that share the clusters: each cluster is served by one of them, whatever
// happens to the others.
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "sandbox/api_server.h"
#include "tests/agents/hosted.h"

namespace tests {
namespace {

// Leases that are over soon, so that a test need not wait for long, and that a busy machine can
// renew: a replica that cannot ends, and nobody begins it again here.
const std::vector<std::string>& Flags() {
  static const auto& flags = *new std::vector<std::string>{
      "--shard-clusters", "--leader-elect-lease-duration=12s", "--leader-elect-renew-deadline=10s",
      "--leader-elect-retry-period=1s"};
  return flags;
}

std::string LastOf(const std::string& log) {
  constexpr size_t kShown = 3000;
  return log.size() <= kShown ? log : log.substr(log.size() - kShown);
}

struct Shared : Hosted {
  int works = 0;

  // So many that each of three replicas has some, as good as always.
  Shared() : Hosted(18) { PutSecrets(); }
  // Waits until so many replicas serve all clusters, and each of them gets a Work.
  bool AreServedBy(size_t replicas) {
    if (!Eventually([&] {
          return Holders().size() == clusters().size() && Serving().size() == replicas &&
                 AllReady();
        })) {
      for (const char* name : {"first", "second", "third"}) {
        UNSCOPED_INFO(name << ": " << LastOf(Log(name)));
      }
      return false;
    }
    const std::string name = absl::StrCat("work-", ++works);
    for (const std::string& cluster : clusters()) PutWork(cluster, name);
    return Eventually([&] {
      for (const std::string& cluster : clusters()) {
        if (!Has(cluster, name)) return false;
      }
      return true;
    });
  }
};

}  // namespace

TEST_CASE_METHOD(Shared,
                 "two replicas share the clusters, and one that stops leaves them to the other") {
  auto first = Start("first", Flags());
  REQUIRE(AreServedBy(1));
  const auto second = Start("second", Flags());
  CHECK(AreServedBy(2));
  CHECK(first->Stop() == 0);
  CHECK(AreServedBy(1));
  CHECK_FALSE(second->HasEnded());
}

TEST_CASE_METHOD(Shared, "clusters of a replica that is killed are shared by the two others") {
  auto first = Start("first", Flags());
  const auto second = Start("second", Flags());
  const auto third = Start("third", Flags());
  REQUIRE(AreServedBy(3));
  first.reset();
  CHECK(AreServedBy(2));
}

TEST_CASE_METHOD(Shared,
                 "a replica that stood still has lost its clusters when it goes on, and ends") {
  const auto first = Start("first", Flags());
  const auto second = Start("second", Flags());
  REQUIRE(AreServedBy(2));
  first->Pause();
  CHECK(AreServedBy(1));
  const std::string holder = *Serving().begin();
  first->Resume();
  CHECK(Eventually([&] { return first->HasEnded(); }));
  CHECK(AreServedBy(1));
  CHECK(Serving().contains(holder));
}

TEST_CASE_METHOD(Shared, "a cluster that hangs when its replica stops delays no other one") {
  auto first = Start("first", Flags());
  REQUIRE(AreServedBy(1));
  const std::string leaving = *Serving().begin();
  const auto second = Start("second", Flags());
  REQUIRE(AreServedBy(2));
  std::string hanging;
  for (const auto& [cluster, holder] : Holders()) {
    if (holder == leaving) hanging = cluster;
  }
  server(hanging).faults().SetLatency(absl::Minutes(1));
  PutWork(hanging, "due");
  std::future<int> stopped = std::async(std::launch::async, [&] { return first->Stop(); });
  CHECK(Eventually([&] {
    for (const auto& [cluster, holder] : Holders()) {
      if (cluster != hanging && holder == leaving) return false;
    }
    return Holders().size() == clusters().size();
  }));
  // The first one still ends its agent.
  CHECK(Holders()[hanging] == leaving);
  server(hanging).faults().Clear();
  CHECK(stopped.get() == 0);
  CHECK(AreServedBy(1));
}

TEST_CASE_METHOD(Shared, "a hosting cluster that is slow to answer delays no end of a replica") {
  // With more time for an answer than the other tests.
  auto replica = Start("replica", {"--shard-clusters"});
  REQUIRE(AreServedBy(1));
  // One write after the other would take longer than a process has.
  host().faults().SetLatency(absl::Seconds(2));
  CHECK(replica->Stop() == 0);
}

TEST_CASE_METHOD(Shared, "clusters whose Secrets cannot be used stay where they are served") {
  const auto first = Start("first", Flags());
  REQUIRE(AreServedBy(1));
  const std::string replica = *Serving().begin();
  const std::vector<std::string> broken(clusters().begin(), clusters().begin() + 9);
  for (const std::string& cluster : broken) BreakSecret(cluster);
  REQUIRE(Eventually([&] {
    for (const std::string& cluster : broken) {
      if (!absl::StrContains(Log("first"), absl::StrCat("cannot be used cluster=", cluster, " "))) {
        return false;
      }
    }
    return true;
  }));
  const auto second = Start("second", Flags());
  CHECK(AreServedBy(2));
  for (const std::string& cluster : broken) CHECK(Holders()[cluster] == replica);
}

TEST_CASE_METHOD(Shared, "sharing is turned on and off, and no cluster has two agents meanwhile") {
  const auto begins = [&](const std::string& process) {
    return absl::StrContains(Log(process), "the agent of a cluster begins");
  };
  std::vector<std::string> alone = Flags();
  std::erase(alone, "--shard-clusters");
  const auto before = Start("before", alone);
  REQUIRE(AreServedBy(1));
  const auto shared = Start("shared", Flags());
  REQUIRE(Eventually([&] { return absl::StrContains(Log("shared"), "became leader"); }));
  CHECK(AreServedBy(1));
  CHECK_FALSE(begins("shared"));
  CHECK(before->Stop() == 0);
  CHECK(AreServedBy(1));
  CHECK(begins("shared"));
  const auto after = Start("after", alone);
  REQUIRE(Eventually([&] { return absl::StrContains(Log("after"), "became leader"); }));
  CHECK(AreServedBy(1));
  CHECK_FALSE(begins("after"));
  CHECK(shared->Stop() == 0);
  CHECK(AreServedBy(1));
  CHECK(begins("after"));
}

}  // namespace tests
