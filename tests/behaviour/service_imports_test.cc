// ServiceImports: the derived Service, and how both follow a policy to members.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kService{"", "v1", "Service"};
const kube::Gvk kServiceImport{"multicluster.x-k8s.io", "v1alpha1", "ServiceImport"};

constexpr char kImportYaml[] = R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: db, namespace: $NS}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
)";

// A slice as the import of an exported one leaves it in the control plane.
constexpr char kImportedSlice[] = R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: imported-member2-db-abc
  namespace: $NS
  labels:
    kubernetes.io/service-name: derived-db
    endpointslice.kubernetes.io/managed-by: endpointslice-controller.karmada.io
addressType: IPv4
endpoints: [{addresses: [10.0.0.9]}]
)";

std::string DefinitionOfImports() {
  return base::ReadFile(
             absl::StrCat(KM_SOURCE, "/config/crds/multicluster.x-k8s.io_serviceimports.yaml"))
      .value();
}

}  // namespace

TEST_CASE("A ServiceImport and its derived Service follow a policy to members", "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("import");
  plane.Apply("member1", DefinitionOfImports());
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kImportYaml));
  const auto derived = [&](const char* cluster) {
    return plane.Get(cluster, kService, {ns, "derived-db"});
  };
  const auto port_in = [&](const char* cluster) {
    const auto service = derived(cluster);
    return service ? service->spec()["ports"].At(0)["port"].AsInt() : 0;
  };
  REQUIRE(plane.Eventually([&] { return port_in("host") == 80; }));
  const std::string address = derived("host")->spec()["clusterIP"].ToString();
  CHECK_FALSE(address.empty());
  plane.Apply("host", In(ns, kImportedSlice));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: imports, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, name: db}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  CHECK(plane.Eventually([&] { return plane.Exists("member1", kServiceImport, {ns, "db"}); }));
  CHECK(plane.Eventually([&] { return port_in("member1") == 80; }));
  const kube::Gvk slice{"discovery.k8s.io", "v1", "EndpointSlice"};
  CHECK(plane.Eventually([&] {
    return plane.Exists("member1", slice, {ns, "imported-member2-db-abc"});
  }));
  CHECK(derived("member1")->metadata()["ownerReferences"].is_null());

  // An edit goes all the way, and what others have written stays.
  plane.Patch("host", kService, {ns, "derived-db"}, R"({"metadata":{"labels":{"team":"a"}}})");
  plane.Patch("host", kServiceImport, {ns, "db"}, R"({"spec":{"ports":[{"port":81}]}})");
  CHECK(plane.Eventually([&] { return port_in("member1") == 81; }));
  CHECK(derived("host")->Label("team") == "a");
  CHECK(derived("host")->spec()["clusterIP"].ToString() == address);

  SECTION("a restart writes nothing") {
    const auto versions = [&] {
      return absl::StrCat(derived("host")->resource_version(), " ",
                          plane.Get("host", kServiceImport, {ns, "db"})->resource_version());
    };
    REQUIRE(plane.Settles(versions, absl::Seconds(1)));
    const std::string before = versions();
    plane.StopDaemon();
    plane.StartDaemon();
    plane.AwaitDaemon(ns);
    CHECK(plane.Always([&] { return versions() == before; }));
    plane.Delete("host", kServiceImport, {ns, "db"});
  }
  SECTION("the import is deleted while no controller manager runs") {
    plane.StopDaemon();
    plane.Delete("host", kServiceImport, {ns, "db"});
    plane.StartDaemon();
  }
  CHECK(plane.Eventually([&] { return !derived("host").has_value(); }));
  CHECK(plane.Eventually([&] { return !derived("member1").has_value(); }));
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", kServiceImport, {ns, "db"}); }));
}

TEST_CASE("A ServiceImport with addresses that the server does not show is no failure") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("import");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: ips-$NS, namespace: $NS}
spec: {type: ClusterSetIP, ports: [{port: 80}], ips: [10.0.0.1]}
)"));
  const std::string name = absl::StrCat("ips-", ns);
  const auto port = [&] {
    const auto service = plane.Get("host", kService, {ns, "derived-" + name});
    return service ? service->spec()["ports"].At(0)["port"].AsInt() : 0;
  };
  REQUIRE(plane.Eventually([&] { return port() == 80; }));
  // What is done for an edit comes after the status has been tried.
  plane.Patch("host", kServiceImport, {ns, name}, R"({"spec":{"ports":[{"port":81}]}})");
  REQUIRE(plane.Eventually([&] { return port() == 81; }));
  plane.AwaitDaemon(ns);
  CHECK_FALSE(absl::StrContains(plane.EventsOn(kServiceImport, name), "SyncDerivedServiceFailed"));
}

TEST_CASE("A ServiceImport without ports is reported, and its edit mends it") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("import");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: bare-$NS, namespace: $NS}
spec: {type: ClusterSetIP, ports: []}
)"));
  plane.Apply("host", In(ns, kImportYaml));
  const std::string bare = absl::StrCat("bare-", ns);
  const auto reported = [&] {
    const std::string events = plane.EventsOn(kServiceImport, bare);
    return absl::StrContains(events, "Warning SyncDerivedServiceFailed: ") &&
           absl::StrContains(events, "spec.ports: Required value");
  };
  CHECK(plane.Eventually(reported));
  CHECK(plane.Eventually([&] { return plane.Exists("host", kService, {ns, "derived-db"}); }));
  plane.Patch("host", kServiceImport, {ns, bare}, R"({"spec":{"ports":[{"port":80}]}})");
  CHECK(plane.Eventually([&] { return plane.Exists("host", kService, {ns, "derived-" + bare}); }));
  plane.Delete("host", kServiceImport, {ns, bare});
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kService, {ns, "derived-" + bare}); }));
}

}  // namespace tests
