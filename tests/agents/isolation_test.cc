// What happens to one of the clusters of a process costs the others nothing.
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

const kube::Resource& Events() {
  static const auto& events = *new kube::Resource{{"", "v1", "Event"}, "events", true};
  return events;
}

// Three clusters, of which the first is the one to which something happens.
struct Three : Hosted {
  const std::string bad = clusters()[0];
  std::unique_ptr<ChildProcess> agents;

  Three() : Hosted(3) { PutSecrets(); }
  void Begin(const std::vector<std::string>& flags = {}) {
    agents = Start("agents", flags);
    REQUIRE(Eventually([&] { return IsReady(clusters()[1]) && IsReady(clusters()[2]); }));
  }
  // Whether the others are served as ever.
  bool OthersAreServed(const std::string& name) {
    for (const std::string& cluster : {clusters()[1], clusters()[2]}) PutWork(cluster, name);
    return Eventually([&] { return Has(clusters()[1], name) && Has(clusters()[2], name); }) &&
           IsReady(clusters()[1]) && IsReady(clusters()[2]);
  }
};

}  // namespace

TEST_CASE_METHOD(Three, "a cluster that does not answer holds up no other one") {
  server(bad).faults().SetLatency(absl::Minutes(1));
  Begin();
  for (int i = 0; i < 20; ++i) PutWork(bad, absl::StrCat("waits-", i));
  CHECK(OthersAreServed("one"));
  server(bad).faults().Clear();
  CHECK(Eventually([&] { return IsReady(bad) && Has(bad, "waits-19"); }));
}

TEST_CASE_METHOD(Three, "a cluster whose credentials are revoked harms no other one") {
  Begin();
  REQUIRE(Eventually([&] { return IsReady(bad); }));
  server(bad).faults().FailNext(1'000'000, 401, "", "");
  PutWork(bad, "refused");
  CHECK(OthersAreServed("one"));
  CHECK_FALSE(Has(clusters()[1], "refused"));
  server(bad).faults().Clear();
  CHECK(Eventually([&] { return Has(bad, "refused"); }));
}

TEST_CASE_METHOD(Three, "a cluster with more than fits into its memory harms no other one") {
  Begin({"--cluster-memory-mib=16"});
  PutWork(bad, "watched");
  REQUIRE(Eventually([&] { return Has(bad, "watched"); }));
  for (int i = 0; i < 120; ++i) PutLarge(bad, absl::StrCat("large-", i), size_t{400} << 10);
  CHECK(Eventually([&] {
    const auto events = plane().List(Events(), "", {}, {});
    if (!events.ok()) return false;
    for (const kube::Object& event : events->items) {
      const absl::string_view message = event.root()["message"].AsString();
      if (absl::StrContains(message, "--cluster-memory-mib")) return true;
    }
    return false;
  }));
  CHECK(OthersAreServed("one"));
  CHECK_FALSE(agents->HasEnded());
}

TEST_CASE_METHOD(Three, "a control plane with more Works than fit harms no other cluster") {
  for (int i = 0; i < 60; ++i) PutWork(bad, absl::StrCat("large-", i), size_t{400} << 10);
  Begin({"--cluster-memory-mib=16"});
  CHECK(Eventually([&] {
    return absl::StrContains(Log("agents"), "what the control plane has for this cluster takes");
  }));
  CHECK(OthersAreServed("one"));
  CHECK_FALSE(Has(bad, "large-0"));
  CHECK_FALSE(agents->HasEnded());
}

}  // namespace tests
