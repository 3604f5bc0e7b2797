// EndpointSlices of exported Services, and of MultiClusterServices: from member clusters into
// Works, and from there into the control plane.
//
// The Services have no selector, so that a real cluster's own controller makes no slices for them,
// and those of the test are all there are.
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/names.h"
#include "sandbox/manifests.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice"};
const kube::Gvk kServiceExport{"multicluster.x-k8s.io", "v1alpha1", "ServiceExport"};

constexpr char kServiceYaml[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $NS}
spec: {ports: [{name: http, port: 80}]}
)";

constexpr char kExportYaml[] = R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: web, namespace: $NS}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: exported, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: Service, name: web}
  - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport, name: web}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

// As the controller for MultiClusterServices makes it.
constexpr char kServiceWorkYaml[] = R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata:
  name: $NAME
  namespace: karmada-es-member1
  labels: {multiclusterservice.karmada.io/namespace: $NS, multiclusterservice.karmada.io/name: web}
spec:
  suspendDispatching: true
  workload:
    manifests:
    - apiVersion: networking.karmada.io/v1alpha1
      kind: MultiClusterService
      metadata: {name: web, namespace: $NS}
      spec: {types: [CrossCluster]}
)";

std::string Slice(const std::string& name, const std::string& address) {
  return absl::StrCat(R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: )",
                      name, R"(, namespace: $NS, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [)",
                      address, R"(], conditions: {ready: true}}]
)");
}

// A Service in member1 of which the control plane knows.
struct ExportedService {
  ControlPlane& plane;
  const std::string ns;

  ExportedService(ControlPlane& on, const std::string& stem)
      : plane(on), ns(plane.UniqueNamespace(stem)) {
    // As a policy brings it there; the control plane has it.
    const auto definitions = sandbox::ReadManifests(absl::StrCat(KM_SOURCE, "/config/crds"));
    REQUIRE(definitions.ok());
    for (const kube::Object& definition : *definitions) {
      if (definition.name() != "serviceexports.multicluster.x-k8s.io") continue;
      plane.Apply("member1", json::Write(definition.root()));
    }
    plane.ApplyEverywhere(In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, kServiceYaml));
  }
  void Put(const std::string& slice, const std::string& address) {
    plane.Apply("member1", In(ns, Slice(slice, address)));
  }
  std::optional<kube::Object> WorkOf(const std::string& slice) {
    auto work =
        plane.Get("host", kWork,
                  {api::ExecutionNamespace("member1"), api::WorkName("EndpointSlice", slice, ns)});
    return work.has_value() && !work->IsDeleting() ? work : std::nullopt;
  }
  std::optional<kube::Object> Imported(const std::string& slice) {
    return plane.Get("host", kEndpointSlice, {ns, api::ImportedSliceName("member1", slice)});
  }
  static std::string AddressIn(const std::optional<kube::Object>& slice) {
    if (!slice.has_value()) return "";
    return slice->root()["endpoints"].At(0)["addresses"].At(0).ToString();
  }
  // Returns the version of everything that the loops write for the slice; "" for what is absent.
  std::string Versions(const std::string& slice) {
    const auto work = WorkOf(slice), imported = Imported(slice);
    return absl::StrCat(work ? work->resource_version() : "", " ",
                        imported ? imported->resource_version() : "");
  }
};

}  // namespace

TEST_CASE("The EndpointSlices of an exported Service come to the control plane", "[pull]") {
  ControlPlane plane;
  ExportedService web(plane, "exported");
  plane.Apply("host", In(web.ns, kExportYaml));
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kServiceExport, {web.ns, "web"});
  }));
  web.Put("web-1", "10.1.0.1");
  web.Put("web-2", "10.1.0.2");
  REQUIRE(plane.Eventually([&] {
    return web.AddressIn(web.Imported("web-1")) == "10.1.0.1" &&
           web.AddressIn(web.Imported("web-2")) == "10.1.0.2";
  }));
  const kube::Object imported = *web.Imported("web-1");
  CHECK(imported.Label(api::kServiceNameLabel) == "derived-web");
  CHECK(imported.Label(api::kSliceManagedByLabel) == api::kSliceManagedByImport);
  CHECK_FALSE(imported.Label(api::kWorkIdLabel).empty());

  // One change of a slice is one write of its Work, and one of the slice that is made of it.
  REQUIRE(plane.Settles([&] { return web.Versions("web-1"); }));
  const int64_t generation = web.WorkOf("web-1")->generation();
  const int64_t imported_generation = web.Imported("web-1")->generation();
  web.Put("web-1", "10.1.0.9");
  REQUIRE(plane.Eventually([&] { return web.AddressIn(web.Imported("web-1")) == "10.1.0.9"; }));
  REQUIRE(plane.Settles([&] { return web.Versions("web-1"); }));
  CHECK(web.WorkOf("web-1")->generation() == generation + 1);
  CHECK(web.Imported("web-1")->generation() == imported_generation + 1);

  plane.Delete("member1", kEndpointSlice, {web.ns, "web-2"});
  CHECK(plane.Eventually([&] { return !web.WorkOf("web-2") && !web.Imported("web-2"); }));
  plane.Delete("host", kServiceExport, {web.ns, "web"});
  CHECK(plane.Eventually([&] { return !web.WorkOf("web-1") && !web.Imported("web-1"); }));
}

TEST_CASE(
    "A restart changes nothing about exported Services, and makes up for what it has missed") {
  ControlPlane plane;
  ExportedService web(plane, "restarted");
  plane.Apply("host", In(web.ns, kExportYaml));
  web.Put("web-1", "10.1.0.1");
  web.Put("web-2", "10.1.0.2");
  REQUIRE(plane.Eventually([&] { return web.Imported("web-1") && web.Imported("web-2"); }));
  const auto versions = [&] { return web.Versions("web-1") + web.Versions("web-2"); };
  REQUIRE(plane.Settles(versions));

  plane.StopDaemon();
  const std::string before = versions();
  plane.StartDaemon();
  plane.AwaitDaemon(web.ns);
  CHECK(plane.Always([&] { return versions() == before; }));

  plane.StopDaemon();
  plane.Delete("member1", kEndpointSlice, {web.ns, "web-2"});
  web.Put("web-1", "10.1.0.7");
  plane.StartDaemon();
  CHECK(plane.Eventually([&] {
    return !web.WorkOf("web-2") && !web.Imported("web-2") &&
           web.AddressIn(web.Imported("web-1")) == "10.1.0.7";
  }));

  // The export goes from the member, and from the control plane, while nobody looks.
  plane.StopDaemon();
  plane.Delete("member1", kServiceExport, {web.ns, "web"});
  plane.Delete("host", kServiceExport, {web.ns, "web"});
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return !web.WorkOf("web-1") && !web.Imported("web-1"); }));
}

TEST_CASE("Endpoints that change all the time are reported once a second, up to the last change") {
  ControlPlane plane;
  ExportedService web(plane, "busy");
  plane.Apply("host", In(web.ns, kExportYaml));
  web.Put("web-1", "10.1.0.0");
  REQUIRE(plane.Eventually([&] { return web.Imported("web-1").has_value(); }));
  REQUIRE(plane.Settles([&] { return web.Versions("web-1"); }, absl::Milliseconds(1200)));
  const int64_t before = web.WorkOf("web-1")->generation();
  const absl::Time began = absl::Now();
  for (int i = 1; i <= 30; ++i) {
    plane.Patch("member1", kEndpointSlice, {web.ns, "web-1"},
                absl::StrCat(R"({"endpoints":[{"addresses":["10.1.0.)", i, R"("]}]})"));
    absl::SleepFor(absl::Milliseconds(100));
  }
  const int64_t seconds = absl::ToInt64Seconds(absl::Now() - began);
  CHECK(plane.Eventually([&] { return web.AddressIn(web.Imported("web-1")) == "10.1.0.30"; }));
  CHECK(web.WorkOf("web-1")->generation() - before <= seconds + 2);
}

TEST_CASE("The EndpointSlices of a MultiClusterService are collected with its feature gate",
          "[pull]") {
  // The controller for MultiClusterServices, which makes the Work, would take it away again.
  ControlPlane plane(
      {.daemon_flags = {"--feature-gates=MultiClusterService=true",
                        "--controllers=*,-multiclusterservice,-endpointsliceDispatch"}});
  ExportedService web(plane, "mcs");
  const kube::ObjectKey key{api::ExecutionNamespace("member1"),
                            api::WorkName("MultiClusterService", "web", web.ns)};
  web.Put("web-1", "10.1.0.1");
  web.Put("web-2", "10.1.0.2");
  std::string work = In(web.ns, kServiceWorkYaml);
  work.replace(work.find("$NAME"), 5, key.name);
  plane.Apply("host", work);
  REQUIRE(plane.Eventually([&] { return web.WorkOf("web-1") && web.WorkOf("web-2"); }));
  CHECK(web.WorkOf("web-1")->Label(api::kEndpointSliceManagedByLabel) ==
        api::kManagedByMultiClusterService);
  CHECK(web.WorkOf("web-1")->HasFinalizer(api::kEndpointSliceDispatchFinalizer));
  CHECK_FALSE(web.Imported("web-1").has_value());

  plane.Delete("member1", kEndpointSlice, {web.ns, "web-2"});
  CHECK(plane.Eventually([&] { return !web.WorkOf("web-2"); }));

  // A ServiceExport of the same Service shares the Work; each of the two can go alone.
  plane.Apply("host", In(web.ns, kExportYaml));
  REQUIRE(plane.Eventually([&] { return web.Imported("web-1").has_value(); }));
  CHECK(web.WorkOf("web-1")->Label(api::kEndpointSliceManagedByLabel) ==
        "MultiClusterService.ServiceExport");
  plane.Delete("host", kWork, key);
  REQUIRE(plane.Eventually([&] {
    const auto now = web.WorkOf("web-1");
    return now && now->Label(api::kEndpointSliceManagedByLabel) == api::kManagedByServiceExport;
  }));
  CHECK(web.Imported("web-1").has_value());
  plane.Delete("host", kServiceExport, {web.ns, "web"});
  CHECK(plane.Eventually([&] { return !web.WorkOf("web-1") && !web.Imported("web-1"); }));
}

TEST_CASE("A cluster that leaves takes what it exported along", "[sandbox]") {
  ControlPlane plane;
  ExportedService web(plane, "leaving");
  plane.Apply("host", In(web.ns, kExportYaml));
  web.Put("web-1", "10.1.0.1");
  REQUIRE(plane.Eventually([&] { return web.Imported("web-1").has_value(); }));
  const kube::Object cluster = *plane.Get("host", kCluster, {"", "member1"});
  plane.Delete("host", kCluster, {"", "member1"});
  CHECK(plane.Eventually([&] {
    return !plane.Exists("host", kCluster, {"", "member1"}) && !web.Imported("web-1");
  }));
}

}  // namespace tests
