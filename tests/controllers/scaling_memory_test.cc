#include "controllers/federated_hpa/scaling_memory.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace {

autoscaling::Pod PodWith(const char* app) {
  kube::Object pod;
  pod.SetLabel("app", app);
  return {.object = kube::Share(std::move(pod))};
}

TEST_CASE("the FederatedHPAs that select pods are found by the labels, not pod by pod") {
  controllers::ScalingMemory memory;
  const auto put = [&](const std::string& ns, const std::string& name, const char* selector) {
    memory.SetSelector({ns, name}, *kube::LabelSelector::Parse(selector));
  };
  for (int i = 0; i < 50'000; ++i) put("ns", absl::StrCat("other", i), "app=other");
  put("ns", "a", "app=web");
  put("ns", "z", "app in (web, api)");
  put("elsewhere", "b", "app=web");
  // Pod by pod these would be ten billion comparisons, which take a quarter of an hour.
  std::vector<autoscaling::Pod> pods;
  for (int i = 0; i < 200'000; ++i) pods.push_back(PodWith(i % 2 == 0 ? "web" : "old"));
  const std::vector<kube::ObjectKey> found = memory.Selecting("ns", pods);
  CHECK(found == std::vector<kube::ObjectKey>{{"ns", "a"}, {"ns", "z"}});
  CHECK(memory.Selecting("ns", {}).empty());
}

}  // namespace
