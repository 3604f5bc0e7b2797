// What a control plane shows of the failures of the controller manager that leads.
#include "cmd/controller-manager/shown_failures.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "api/programs.h"
#include "api/reasons.h"
#include "base/yaml.h"

namespace cmd {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

kube::Object Read(const std::string& text) { return kube::Object(yaml::Parse(text).value()); }

kube::Object Event(const std::string& about, const std::string& component, absl::Duration age,
                   const std::string& reason = "R", const std::string& type = "Warning") {
  return Read(absl::Substitute(
      "{type: $3, involvedObject: $0, source: {component: $1}, reason: $4, message: why, "
      "lastTimestamp: '$2'}",
      about, component, absl::FormatTime(absl::RFC3339_sec, kNow - age, absl::UTCTimeZone()), type,
      reason));
}

ShownFailures Shown() {
  ShownFailures::Objects objects;
  objects.works.push_back(kube::Share(Read(R"(
metadata: {name: w, namespace: karmada-es-m1}
spec: {workload: {manifests: [{kind: ConfigMap, metadata: {namespace: ns, name: c}}]}}
status: {conditions: [{type: Applied, status: "False", reason: AppliedFailed, message: refused}]}
)")));
  objects.works.push_back(kube::Share(Read(R"(
metadata: {name: fine, namespace: karmada-es-m1}
status: {conditions: [{type: Applied, status: "True"}]}
)")));
  objects.clusters.push_back(kube::Share(Read(R"(
metadata: {name: m2}
status: {conditions: [{type: Ready, status: "False", reason: ClusterNotReachable}]}
)")));
  objects.bindings.push_back(kube::Share(Read(R"(
metadata: {name: web-deployment, namespace: ns}
spec: {resource: {apiVersion: apps/v1, kind: Deployment, namespace: ns, name: web}}
)")));
  objects.events = {
      Event("{kind: Deployment, namespace: ns, name: web}", "override-manager", absl::Minutes(5)),
      Event("{kind: Deployment, namespace: ns, name: new}", api::kDetectorSource, absl::Minutes(1),
            "ApplyPolicyFailed"),
      // Each has succeeded since, one of them in the same second.
      Event("{kind: Service, namespace: ns, name: mended}", api::kDetectorSource, absl::Minutes(2),
            "ApplyPolicyFailed"),
      Event("{kind: Service, namespace: ns, name: mended}", api::kDetectorSource, absl::Minutes(2),
            "ApplyPolicySucceed", "Normal"),
      Event("{kind: ResourceBinding, namespace: ns, name: back-service}", "binding-controller",
            absl::Minutes(9), "SyncWorkFailed"),
      Event("{kind: ResourceBinding, namespace: ns, name: back-service}", "binding-controller",
            absl::Minutes(8), "SyncWorkSucceed", "Normal"),
      Event("{kind: Deployment, namespace: ns, name: old}", api::kDetectorSource, absl::Hours(1)),
      Event("{kind: Deployment, namespace: ns, name: full}", "default-scheduler", absl::Minutes(1)),
  };
  return {objects, kNow};
}

}  // namespace

TEST_CASE("The failure of a key is found on its own object, its cluster or its template") {
  const ShownFailures shown = Shown();
  CHECK(absl::StrContains(shown.OfKey("execution-controller", "karmada-es-m1/w"),
                          "Work karmada-es-m1/w: Applied=False (AppliedFailed): refused"));
  CHECK(absl::StrContains(shown.OfKey("work-status-controller", "m1/ConfigMap ns/c"), "refused"));
  CHECK(shown.OfKey("execution-controller", "karmada-es-m1/fine").empty());
  for (const char* key : {"karmada-es-m2/w", "m2/ConfigMap ns/other", "m2"}) {
    INFO(key);
    CHECK(absl::StrContains(shown.OfKey("some-controller", key), "ClusterNotReachable"));
  }
  CHECK(absl::StrContains(shown.OfKey("cache", "m2 v1/pods"), "ClusterNotReachable"));
  CHECK(shown.OfKey("cache", "m1 v1/pods").empty());
  CHECK(absl::StrContains(shown.OfKey("binding-controller", "ns/web-deployment"),
                          "event R of override-manager"));
  CHECK(absl::StrContains(shown.OfKey(api::kResourceDetector, "Deployment ns/new"), "why"));
}

TEST_CASE("A template that has no binding is one that the leader has not placed either") {
  const ShownFailures shown = Shown();
  CHECK(absl::StrContains(shown.OfKey(api::kResourceDetector, "ConfigMap ns/waits"),
                          "there is no binding ns/waits-configmap"));
  CHECK(shown.OfKey("execution-controller", "ConfigMap ns/waits").empty());
}

TEST_CASE("Events that are old, of others, or about other objects show nothing") {
  const ShownFailures shown = Shown();
  CHECK(shown.OfKey("some-controller", "Deployment ns/old").empty());
  CHECK(shown.OfKey("some-controller", "Deployment ns/full").empty());
  for (const char* key : {"ConfigMap ns/new", "Deployment other/new"}) {
    INFO(key);
    CHECK(shown.OfKey("some-controller", key).empty());
    CHECK(absl::StartsWith(shown.OfKey(api::kResourceDetector, key), "there is no binding "));
  }
}

TEST_CASE("A failure that its component has ended shows nothing") {
  const ShownFailures shown = Shown();
  CHECK(shown.OfKey("some-controller", "Service ns/mended").empty());
  CHECK(shown.OfKey("binding-controller", "ns/back-service").empty());
  const kube::Gvk binding{"work.karmada.io", "v1alpha2", "ResourceBinding"};
  CHECK(shown.OfWrite({api::kControlPlaneName, binding, {"ns", "mended-service"}, "", "patch"})
            .empty());
}

TEST_CASE("A write that the leader tries in vain is found by its Work, or by its template") {
  const ShownFailures shown = Shown();
  const kube::Gvk map{"", "v1", "ConfigMap"}, work{"work.karmada.io", "v1alpha1", "Work"},
      binding{"work.karmada.io", "v1alpha2", "ResourceBinding"}, app{"apps", "v1", "Deployment"};
  const auto of = [&shown](const std::string& cluster, const kube::Gvk& gvk,
                           const kube::ObjectKey& key, const std::string& subresource = "",
                           const std::string& verb = "patch") {
    return shown.OfWrite({cluster, gvk, key, subresource, verb});
  };
  CHECK(absl::StrContains(of("m1", map, {"ns", "c"}), "refused"));
  CHECK(of("m1", map, {"ns", "d"}).empty());
  CHECK(of("m1", app, {"ns", "new"}).empty());
  CHECK_FALSE(of(api::kControlPlaneName, work, {"karmada-es-m1", "w"}, "status").empty());
  CHECK(of(api::kControlPlaneName, work, {"karmada-es-m1", "w"}).empty());
  // The server has refused this one, so it is not there.
  CHECK_FALSE(of(api::kControlPlaneName, binding, {"ns", "new-deployment"}, "", "create").empty());
  CHECK(of(api::kControlPlaneName, binding, {"ns", "x-deployment"}).empty());
  CHECK(of(api::kControlPlaneName, binding, {"ns", "new-deployment"}, "status").empty());
  CHECK_FALSE(of(api::kControlPlaneName, app, {"ns", "new"}).empty());
  CHECK(of(api::kControlPlaneName, app, {"ns", "new"}, "status").empty());
}

TEST_CASE("A failure of something else is no reason for a write, and a deletion has none") {
  const ShownFailures shown = Shown();
  const kube::Gvk map{"", "v1", "ConfigMap"},
      binding{"work.karmada.io", "v1alpha2", "ResourceBinding"}, app{"apps", "v1", "Deployment"};
  // An override of the template fails, by which neither it nor its binding is refused.
  CHECK(shown.OfWrite({api::kControlPlaneName, binding, {"ns", "web-deployment"}, "", "patch"})
            .empty());
  CHECK(shown.OfWrite({api::kControlPlaneName, app, {"ns", "web"}, "", "patch"}).empty());
  CHECK(shown.OfWrite({"m1", map, {"ns", "c"}, "", "delete"}).empty());
  CHECK(shown.OfWrite({api::kControlPlaneName, binding, {"ns", "new-deployment"}, "", "delete"})
            .empty());
}

}  // namespace cmd
