// Selecting objects by fields.
#include <catch2/catch.hpp>

#include "kube/server/api_errors.h"
#include "kube/server/field_labels.h"

namespace kube::server {
namespace {

absl::StatusOr<FieldMatcher> Compile(const FieldLabels& labels, absl::string_view selector) {
  return labels.Compile(*kube::FieldSelector::Parse(selector));
}

bool Matches(const kube::Gvk& gvk, absl::string_view selector, const char* object) {
  const auto matcher = Compile(FieldLabels::Of(gvk), selector);
  INFO(selector << " " << matcher.status());
  REQUIRE(matcher.ok());
  return matcher->Matches(*json::Parse(object));
}

std::string Refusal(const FieldLabels& labels, absl::string_view selector) {
  const auto matcher = Compile(labels, selector);
  if (matcher.ok()) return "accepted";
  const ApiError error = ErrorOf(matcher.status());
  return std::to_string(error.code) + " " + error.message;
}

const kube::Gvk kPod{"", "v1", "Pod"};
const kube::Gvk kNode{"", "v1", "Node"};
const kube::Gvk kJob{"batch", "v1", "Job"};
const kube::Gvk kDeployment{"apps", "v1", "Deployment"};

TEST_CASE("pods are selected by the fields of kube-apiserver") {
  const char* pod = R"({"metadata": {"name": "p", "namespace": "a"},
      "spec": {"nodeName": "n1", "restartPolicy": "Always"},
      "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}})";
  CHECK(Matches(kPod, "spec.nodeName=n1,status.phase!=Failed", pod));
  CHECK(Matches(kPod, "spec.host=n1", pod));
  CHECK_FALSE(Matches(kPod, "spec.nodeName=n2", pod));
  CHECK(Matches(kPod, "metadata.name=p,metadata.namespace=a", pod));
  CHECK(Matches(kPod, "spec.hostNetwork=false", pod));
  CHECK(Matches(kPod, "spec.hostNetwork=true", R"({"spec": {"hostNetwork": true}})"));
  CHECK(Matches(kPod, "status.podIP=10.0.0.1", pod));
  CHECK(Matches(kPod, "status.podIP=10.0.0.2", R"({"status": {"podIP": "10.0.0.2"}})"));
  // Known to kube-apiserver, but without a value.
  CHECK(Matches(kPod, "status.podIPs=", pod));
  CHECK(Matches(kPod, "status.nominatedNodeName=", pod));
}

TEST_CASE("absent values of other kinds read as their zero") {
  CHECK(Matches(kNode, "spec.unschedulable=false", "{}"));
  CHECK(Matches(kNode, "spec.unschedulable=true", R"({"spec": {"unschedulable": true}})"));
  CHECK(Matches(kJob, "status.successful=0", "{}"));
  CHECK(Matches(kJob, "status.successful=3", R"({"status": {"succeeded": 3}})"));
  CHECK(Matches({"", "v1", "Event"}, "source=kubelet", R"({"source": {"component": "kubelet"}})"));
  CHECK(Matches({"", "v1", "Event"}, "source=scheduler", R"({"reportingComponent": "scheduler"})"));
  CHECK(Matches({"events.k8s.io", "v1", "Event"}, "regarding.name=web",
                R"({"regarding": {"name": "web"}})"));
}

TEST_CASE("a field by which a kind cannot be selected is refused as by the API server") {
  CHECK(Refusal(FieldLabels::Of(kPod), "spec.colour=red") ==
        "400 field label not supported: spec.colour");
  CHECK(Refusal(FieldLabels::Of(kNode), "metadata.namespace=a") ==
        "400 field label not supported: metadata.namespace");
  CHECK(Refusal(FieldLabels::Of(kJob), "spec.x=1") ==
        "400 field label \"spec.x\" not supported for Job");
  CHECK(Refusal(FieldLabels::Of(kDeployment), "spec.x=1") ==
        "400 \"spec.x\" is not a known field selector: only \"metadata.name\", "
        "\"metadata.namespace\"");
}

TEST_CASE("custom kinds are selected by what their definition declares") {
  const FieldLabels labels = FieldLabels::OfCustom(false, {".spec.color", ".spec.size"});
  const auto matcher = Compile(labels, "spec.color=red,spec.size=2");
  REQUIRE(matcher.ok());
  CHECK(matcher->Matches(*json::Parse(R"({"spec": {"color": "red", "size": 2}})")));
  CHECK_FALSE(matcher->Matches(*json::Parse(R"({"spec": {"color": "red", "size": 3}})")));
  CHECK(Refusal(labels, "spec.other=1") == "400 field label not supported: spec.other");
  CHECK(Refusal(labels, "metadata.namespace=a") ==
        "400 field label not supported: metadata.namespace");
}

TEST_CASE("a matcher says which fields it compares") {
  const auto matcher =
      Compile(FieldLabels::Of(kPod), "metadata.name=a,spec.nodeName!=n,spec.nodeName!=m");
  REQUIRE(matcher.ok());
  CHECK(matcher->Labels() == std::vector<std::string>{"metadata.name", "spec.nodeName"});
  CHECK_FALSE(matcher->MatchesEverything());
  CHECK(FieldMatcher().MatchesEverything());
}

}  // namespace
}  // namespace kube::server
