#include "controllers/process/member_memory.h"

#include <catch2/catch.hpp>

#include "api/resources.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/recording_events.h"

namespace controllers {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST_CASE_METHOD(tests::ManagerFixture,
                 "too many objects of a member are an event on its Cluster") {
  server->Put(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "m1"}));
  const auto clusters = informers.Get(api::Clusters());
  REQUIRE(clusters->WaitForSync(base::SteadyTime::InfiniteFuture(), stop.get_token()).ok());
  tests::RecordingEvents events_seen;
  ReportMemberBytes("gone", 64 * kMebibyte, cluster, events_seen);
  CHECK(events_seen.All().empty());
  ReportMemberBytes("m1", 64 * kMebibyte, cluster, events_seen);
  CHECK(events_seen.All() ==
        std::vector<std::string>{
            "Warning ClusterMemoryExceeded Cluster: What is kept of the objects of cluster(m1) "
            "would take more than 64 MiB of memory, so some are left out. Find out what fills the "
            "cluster, or raise --cluster-memory-mib."});
  informers.Stop();
}

TEST_CASE("each time that objects of a member are left out is counted") {
  metrics::Registry registry;
  CountMemberBytes("m1", registry);
  CountMemberBytes("m1", registry);
  CHECK(registry.GetCounter("karmada_cluster_memory_exceeded_total", "", {{"member_cluster", "m1"}})
            .Value() == 2);
}

}  // namespace
}  // namespace controllers
