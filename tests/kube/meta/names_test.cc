#include "kube/meta/names.h"

#include <catch2/catch.hpp>

namespace {

using kube::Gvk;
using kube::Gvr;
using kube::ObjectKey;

TEST_CASE("kinds print as Go prints them") {
  CHECK(Gvk{"apps", "v1", "Deployment"}.ToString() == "apps/v1, Kind=Deployment");
  CHECK(Gvk{"", "v1", "Pod"}.ToString() == "/v1, Kind=Pod");
  CHECK(Gvk{"apps", "v1", "Deployment"}.ApiVersion() == "apps/v1");
  CHECK(Gvk{"", "v1", "Pod"}.ApiVersion() == "v1");
}

TEST_CASE("an apiVersion with a kind parses to its parts") {
  CHECK(*kube::ParseGvk("apps/v1", "Deployment") == Gvk{"apps", "v1", "Deployment"});
  CHECK(*kube::ParseGvk("v1", "Pod") == Gvk{"", "v1", "Pod"});
  CHECK(*kube::ParseGvk("", "Pod") == Gvk{"", "", "Pod"});
  CHECK(*kube::ParseGvk("/v1", "Pod") == Gvk{"", "v1", "Pod"});
}

TEST_CASE("an apiVersion with two slashes is refused") {
  const auto gvk = kube::ParseGvk("a/b/c", "Pod");
  CHECK(gvk.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(gvk.status().message() == "unexpected GroupVersion string: a/b/c");
}

TEST_CASE("resources and keys print with their parts") {
  CHECK(Gvr{"apps", "v1", "deployments"}.ToString() == "apps/v1/deployments");
  CHECK(Gvr{"", "v1", "pods"}.ToString() == "v1/pods");
  CHECK(Gvr{"apps", "v1", "deployments"}.ApiVersion() == "apps/v1");
  CHECK(ObjectKey{"default", "web"}.ToString() == "default/web");
  CHECK(ObjectKey{"", "node-1"}.ToString() == "node-1");
}

}  // namespace
