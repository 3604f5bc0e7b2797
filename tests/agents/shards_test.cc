// Replicas that share the clusters: each cluster is served by one of them, whatever
// happens to the others.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/agents/hosted.h"

namespace tests {
namespace {

// Leases that are over soon, so that a test need not wait for long.
const std::vector<std::string>& Flags() {
  static const auto& flags = *new std::vector<std::string>{
      "--shard-clusters", "--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s",
      "--leader-elect-retry-period=1s"};
  return flags;
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

}  // namespace tests
