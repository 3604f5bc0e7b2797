#include "detector/waiting_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace {

const kube::Gvk kConfigMap{"", "v1", "ConfigMap"};
const kube::Gvk kSecret{"", "v1", "Secret"};

kube::Request Waiting(const kube::Gvk& gvk, const char* ns, const char* name) {
  return {.key = {ns, name}, .gvk = gvk};
}

std::vector<std::string> Names(const std::vector<kube::Request>& requests) {
  std::vector<std::string> names;
  for (const kube::Request& r : requests) names.push_back(r.ToString());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("waiting templates are found by kind, namespace and name") {
  using Found = std::vector<std::string>;
  detector::WaitingSet set;
  CHECK(set.Add(Waiting(kConfigMap, "a", "x")));
  CHECK_FALSE(set.Add(Waiting(kConfigMap, "a", "x")));
  CHECK(set.Add(Waiting(kConfigMap, "a", "y")));
  CHECK(set.Add(Waiting(kConfigMap, "b", "x")));
  CHECK(set.Add(Waiting(kSecret, "a", "x")));

  CHECK(Names(set.Matching(kConfigMap, "a", "x")) == Found{"ConfigMap a/x"});
  CHECK(Names(set.Matching(kConfigMap, "a", "")) == Found{"ConfigMap a/x", "ConfigMap a/y"});
  CHECK(Names(set.Matching(kConfigMap, "", "x")) == Found{"ConfigMap a/x", "ConfigMap b/x"});
  CHECK(set.Matching(kConfigMap, "", "").size() == 3);
  CHECK(set.Matching(kConfigMap, "c", "").empty());
  CHECK(set.Matching(kConfigMap, "a", "z").empty());
  CHECK(set.Matching({"apps", "v1", "Deployment"}, "", "").empty());
}

TEST_CASE("a template that was removed waits no more, whatever marks its request carries") {
  detector::WaitingSet set;
  kube::Request request = Waiting(kConfigMap, "a", "x");
  set.Add(request);
  request.reason = "by Karmada";
  CHECK_FALSE(set.Add(request));
  set.Remove(Waiting(kConfigMap, "a", "other"));
  set.Remove(Waiting(kSecret, "a", "x"));
  CHECK(set.Kinds() == std::vector<kube::Gvk>{kConfigMap});
  set.Remove(request);
  CHECK(set.Kinds().empty());
}

}  // namespace
