// What is left out of the messages with which members refuse manifests.
#include "lens/why/refusals.h"

#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"

using lens::why::SaysNoNamespace;
using lens::why::ShortMessage;

TEST_CASE("Lens: a namespace is missing where the message says so, and not where it refuses it") {
  CHECK(SaysNoNamespace("namespaces \"shop\" not found"));
  CHECK(SaysNoNamespace("no: namespaces \"a\" is new; namespaces \"b\" not found"));
  for (const char* message :
       {"namespaces \"shop\" is forbidden: User \"u\" cannot get resource \"namespaces\"",
        "namespaces \"shop\" is forbidden: no right: RBAC: clusterrole \"r\" not found",
        "deployments.apps \"web\" not found", "namespaces \"shop", "namespaces \"", ""}) {
    INFO(message);
    CHECK_FALSE(SaysNoNamespace(message));
  }
}

TEST_CASE("Lens: a cluster that shows the template itself is not to take it over") {
  const std::string message =
      api::message::ObjectExistsUnmanaged("ConfigMap", {"shop", "app"}, "edge1");
  lens::why::Chain chain;
  chain.asked.gvk = {"", "v1", "ConfigMap"};
  chain.asked.key = {"shop", "app"};
  kube::Object object = kube::Object::Make(chain.asked.gvk, chain.asked.key);
  object.Set({"metadata", "uid"}, "the template's");
  chain.object = kube::Share(object);
  chain.members["edge1"].object = chain.object;
  const lens::why::Refusal itself = lens::why::ExplainRefusal(chain, "edge1", message);
  CHECK(absl::StrContains(itself.cause, "edge1 is the control plane itself"));
  CHECK(absl::StartsWith(itself.advice, "do not set conflictResolution: Overwrite"));

  object.Set({"metadata", "uid"}, "another's");
  chain.members["edge1"].object = kube::Share(object);
  const lens::why::Refusal other = lens::why::ExplainRefusal(chain, "edge1", message);
  CHECK(absl::StrContains(other.cause, "already has such an object"));
}

TEST_CASE("Lens: long values are left out of what a member says, short ones stay") {
  const std::string pods(100, 'p');
  const std::string begin = "Job.batch \"j\" is invalid: spec.template: Invalid value: ";
  const std::string end = ": field is immutable";
  CHECK(ShortMessage(absl::StrCat("Failed to apply all manifests (0/1): ", begin,
                                  "{\"a\":{\"b\":\"}", pods, "\"}}", end)) ==
        absl::StrCat(begin, "{…}", end));
  CHECK(ShortMessage(absl::StrCat(begin, "core.PodTemplateSpec{Name:\"\\\"", pods,
                                  "\", N:[]int{1}}", end)) == absl::StrCat(begin, "{…}", end));
  CHECK(ShortMessage(absl::StrCat(begin, "\"", pods, "\"", end)) ==
        absl::StrCat(begin, "\"…\"", end));
  const std::string two = absl::StrCat("[", begin, "{\"a\":\"", pods, "\"}", end,
                                       ", spec.replicas: Invalid value: -1: must be positive]");
  CHECK(ShortMessage(two) == absl::StrCat("[", begin, "{…}", end,
                                          ", spec.replicas: Invalid value: -1: must be positive]"));
}

TEST_CASE("Lens: what is not a value stays in what a member says") {
  for (const char* message :
       {"Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be positive",
        "metadata.name: Invalid value: \"Web\": a lowercase name", "Invalid value: {", "",
        "Failed to apply all manifests (1/2): no"}) {
    CHECK(ShortMessage(message) == message);
  }
}
