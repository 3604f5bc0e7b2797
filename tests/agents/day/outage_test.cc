// A day without the control plane, while the agent runs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/agents/day/day.h"

namespace tests {
namespace {

constexpr char kDrift[] =
    "\"on\": member2\npatch: [{target: "
    "deployment/shop/web, merge: {spec: {replicas: 7}}}]";

std::string Lines(const std::vector<Sent>& sent) {
  return absl::StrJoin(sent, "\n", [](std::string* out, const Sent& one) {
    absl::StrAppend(out, one.what, " ", one.code);
  });
}

size_t CountOf(const std::vector<std::string>& writes, const std::string& what) {
  return static_cast<size_t>(std::count(writes.begin(), writes.end(), what));
}

}  // namespace

TEST_CASE(
    "An agent without its control plane for a day keeps its cluster, puts drift back, and catches "
    "up without a storm",
    "[long]") {
  // Where connections are refused, six times as much is asked.
  const auto [away, half] = GENERATE(std::pair(LinkState::kSilent, absl::Hours(12)),
                                     std::pair(LinkState::kRefused, absl::Hours(2)));
  Day day({"--leader-elect=false"});
  day.Begin();
  const std::vector<std::string> before = day.Member();
  const int64_t rss = day.Figure("VmRSS:");
  const int descriptors = day.Descriptors();
  const size_t log = day.Log().size();
  const base::SteadyTime left = day.Now();
  day.to_plane().Set(away);
  day.Pass(half);
  CHECK(day.in_member().WritesSince(left).empty());
  CHECK(day.Member() == before);

  // What others change in the cluster is put back by what the agent knows.
  day.Do(kDrift);
  CHECK(day.Within(absl::Minutes(5), [&] { return day.ReplicasInMember("web") == 3; }));
  day.Do("\"on\": member2\ndelete: [configmap/shop/settings]");
  CHECK(day.Within(absl::Minutes(5),
                   [&] { return day.InMember("configmaps", "settings") != nullptr; }));

  // What a user does meanwhile waits.
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]");
  day.Do("delete: [deployment/shop/api]");
  day.Do("apply: [{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: shop}}]");
  day.Pass(half);
  CHECK(day.ReplicasInMember("web") == 3);
  CHECK(day.InMember("deployments", "api") != nullptr);
  CHECK(day.InMember("configmaps", "late") == nullptr);
  CHECK(day.Ready() == "Unknown");
  CHECK(day.starts() == 1);
  CHECK(day.Descriptors() <= descriptors + 8);
  CHECK(day.Figure("VmRSS:") < rss + 8'000);
  CHECK(day.Log().size() - log < 2'000'000);
  // Each cache and each Lease asks again, but seldom.
  CHECK(day.to_plane().Since(left).size() < 100'000);
  INFO("the day: " << day.to_plane().Since(left).size() << " requests, log "
                   << day.Log().size() - log << " bytes, VmRSS " << rss << " -> "
                   << day.Figure("VmRSS:") << ", jumps " << day.time().jumps());

  const base::SteadyTime back = day.Now();
  day.to_plane().Set(LinkState::kUp);
  CHECK(day.Within(absl::Minutes(2), [&] {
    return day.ReplicasInMember("web") == 5 && day.InMember("deployments", "api") == nullptr &&
           day.InMember("configmaps", "late") != nullptr && day.Ready() == "True";
  }));
  INFO("caught up after " << (day.Now() - back));
  day.Pass(absl::Minutes(2));
  const std::vector<Sent> sent = day.to_plane().Since(back);
  INFO(Lines(sent));
  CHECK(std::count_if(sent.begin(), sent.end(),
                      [&](const Sent& one) { return one.at < back + absl::Minutes(1); }) < 150);
  INFO("first two minutes: " << sent.size() << " requests, writes: "
                             << absl::StrJoin(day.to_plane().WritesSince(back), ", "));
  // The cluster gets what has changed, and nothing else.
  const std::vector<std::string> writes = day.in_member().WritesSince(back);
  INFO(absl::StrJoin(writes, "\n"));
  CHECK(CountOf(writes, "patch deployments.apps shop/web") == 1);
  CHECK(CountOf(writes, "delete deployments.apps shop/api") == 1);
  CHECK(CountOf(writes, "create configmaps shop/") == 1);
  CHECK(writes.size() == 3);
}

}  // namespace tests
