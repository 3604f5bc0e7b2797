// MultiClusterServices: the Service goes to providers and consumers, and EndpointSlices that were
// collected from providers go to consumers. The test collects the slices, but for one case.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kService{"", "v1", "Service"};
const kube::Gvk kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice"};
const kube::Gvk kMultiClusterService{"networking.karmada.io", "v1alpha1", "MultiClusterService"};

constexpr char kGate[] = "--feature-gates=MultiClusterService=true";
constexpr char kNoCollection[] = "--controllers=*,-endpointsliceCollect";

constexpr char kServiceYaml[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $NS}
spec: {selector: {app: web}, ports: [{port: 80}]}
)";

// $0 and $1 are the lists of providers and consumers.
constexpr char kFromTo[] = R"(
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: web, namespace: $$NS}
spec:
  types: [CrossCluster]
  providerClusters: [$0]
  consumerClusters: [$1]
)";

std::string FromTo(const std::string& providers, const std::string& consumers) {
  return absl::Substitute(kFromTo, providers, consumers);
}

// As the collecting loop writes it; $0 is the cluster, $1 the name of the Work, $2 an address.
constexpr char kCollected[] = R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata:
  name: $1
  namespace: karmada-es-$0
  finalizers: [karmada.io/mcs-endpointslice-dispatch-controller]
  labels:
    endpointslice.karmada.io/managed-by: MultiClusterService
    multiclusterservice.karmada.io/namespace: $$NS
    multiclusterservice.karmada.io/name: web
spec:
  suspendDispatching: true
  workload:
    manifests:
    - apiVersion: discovery.k8s.io/v1
      kind: EndpointSlice
      metadata:
        name: web-abc
        namespace: $$NS
        labels: {kubernetes.io/service-name: web}
      addressType: IPv4
      endpoints: [{addresses: [$2]}]
      ports: [{port: 80, protocol: TCP}]
)";

struct Shop {
  ControlPlane plane;
  const std::string ns;

  explicit Shop(std::vector<std::string> flags = {kGate, kNoCollection})
      : plane({.daemon_flags = std::move(flags)}), ns(plane.UniqueNamespace("shop")) {
    plane.Apply("host", In(ns, kNamespaceYaml));
  }
  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  kube::ObjectKey SliceWorkIn(const std::string& cluster) const {
    return {api::ExecutionNamespace(cluster), api::WorkName("EndpointSlice", "web-abc", ns)};
  }
  kube::ObjectKey ServiceWorkIn(const std::string& cluster) const {
    return {api::ExecutionNamespace(cluster), api::WorkName("MultiClusterService", "web", ns)};
  }
  void Collect(const std::string& cluster, const std::string& address) {
    Apply(absl::Substitute(kCollected, cluster, SliceWorkIn(cluster).name, address));
  }
  bool HasService(const std::string& cluster) {
    return plane.Exists(cluster, kService, {ns, "web"});
  }
  // Returns the address of the dispatched slice in a member; "" when it is not there.
  std::string AddressIn(const std::string& member, const std::string& provider = "member1") {
    const auto slice = plane.Get(member, kEndpointSlice, {ns, provider + "-web-abc"});
    return slice ? slice->root()["endpoints"].At(0)["addresses"].At(0).ToString() : "";
  }
  std::string Condition(const std::string& type) {
    const auto service = plane.Get("host", kMultiClusterService, {ns, "web"});
    if (!service) return "";
    const json::Value* condition = kube::FindCondition(service->status()["conditions"], type);
    if (condition == nullptr) return "";
    return absl::StrCat((*condition)["status"].ToString(), " ", (*condition)["message"].ToString());
  }
  bool IsClaimed() {
    return plane.Get("host", kService, {ns, "web"})->Label(api::kClaimedByLabel) ==
           "MultiClusterService";
  }
  std::string EventsOnIt() { return plane.EventsOn(kMultiClusterService, "web"); }
  // The versions of all that the loops write.
  std::string Versions() {
    std::string versions;
    const auto add = [&](const kube::Gvk& gvk, const kube::ObjectKey& key) {
      const auto object = plane.Get("host", gvk, key);
      absl::StrAppend(&versions, object ? object->resource_version() : "-", " ");
    };
    add(kMultiClusterService, {ns, "web"});
    add(kService, {ns, "web"});
    add(kBinding, {ns, "web-service"});
    add(kWork, ServiceWorkIn("member1"));
    add(kWork, SliceWorkIn("member1"));
    add(kWork, SliceWorkIn("member2"));
    return versions;
  }
  ~Shop() {
    // Works of the test's own, and what waits for them.
    if (plane.Exists("host", kMultiClusterService, {ns, "web"})) {
      plane.Delete("host", kMultiClusterService, {ns, "web"});
    }
    plane.Eventually([&] { return !plane.Exists("host", kWork, SliceWorkIn("member1")); },
                     absl::Seconds(20));
  }
};

}  // namespace

TEST_CASE("A MultiClusterService brings its Service and its slices to the clusters it names",
          "[pull]") {
  Shop shop;
  ControlPlane& plane = shop.plane;
  shop.Apply(kServiceYaml);
  shop.Apply(FromTo("{name: member1}", "{name: member2}"));
  REQUIRE(
      plane.Eventually([&] { return shop.HasService("member1") && shop.HasService("member2"); }));
  CHECK(plane.Eventually([&] {
    return shop.Condition("ServiceApplied") == "True Service is propagated to target clusters.";
  }));
  const auto service = plane.Get("host", kMultiClusterService, {shop.ns, "web"});
  CHECK_FALSE(service->Label(api::kMultiClusterServiceIdLabel).empty());
  const auto marker = plane.Get("host", kWork, shop.ServiceWorkIn("member1"));
  REQUIRE(marker.has_value());
  CHECK(marker->Label(api::kMultiClusterServiceIdLabel) ==
        service->Label(api::kMultiClusterServiceIdLabel));
  CHECK_FALSE(plane.Exists("host", kWork, shop.ServiceWorkIn("member2")));

  shop.Collect("member1", "10.0.0.1");
  REQUIRE(plane.Eventually([&] { return shop.AddressIn("member2") == "10.0.0.1"; }));
  const auto slice = plane.Get("member2", kEndpointSlice, {shop.ns, "member1-web-abc"});
  CHECK(slice->Label(api::kServiceNameLabel) == "web");
  CHECK(slice->Label(api::kSliceManagedByLabel) == api::kSliceManagedByDispatch);
  CHECK(slice->Annotation(api::kProvisionClusterAnnotation) == "member1");
  CHECK(shop.AddressIn("member1").empty());
  CHECK(plane.Eventually(
      [&] { return absl::StartsWith(shop.Condition("EndpointSliceDispatched"), "True"); }));
  shop.Collect("member1", "10.0.0.2");
  CHECK(plane.Eventually([&] { return shop.AddressIn("member2") == "10.0.0.2"; }));

  SECTION("a restart writes nothing") {
    REQUIRE(plane.Settles([&] { return shop.Versions(); }, absl::Seconds(2)));
    const std::string before = shop.Versions();
    plane.StopDaemon();
    plane.StartDaemon();
    plane.AwaitDaemon(shop.ns);
    CHECK(plane.Always([&] { return shop.Versions() == before; }));
  }
  SECTION("the slice is deleted in the consumer") {
    plane.Delete("member2", kEndpointSlice, {shop.ns, "member1-web-abc"});
    CHECK(plane.Eventually([&] { return shop.AddressIn("member2") == "10.0.0.2"; }));
  }
  SECTION("the slice is deleted in the consumer with its namespace") {
    const auto uid_of_slice = [&] {
      const auto found = plane.Get("member2", kEndpointSlice, {shop.ns, "member1-web-abc"});
      return found ? std::string(found->uid()) : "";
    };
    const std::string before(uid_of_slice());
    plane.Delete("member2", kNamespace, {"", shop.ns});
    CHECK(plane.Eventually(
        [&] { return shop.AddressIn("member2") == "10.0.0.2" && uid_of_slice() != before; }));
  }
  SECTION("it is deleted") { plane.Delete("host", kMultiClusterService, {shop.ns, "web"}); }
  SECTION("it is deleted by force while no controller manager runs, and comes back and goes") {
    plane.StopDaemon();
    plane.Patch("host", kMultiClusterService, {shop.ns, "web"},
                R"({"metadata":{"finalizers":null}})");
    plane.Delete("host", kMultiClusterService, {shop.ns, "web"});
    plane.StartDaemon();
    plane.AwaitDaemon(shop.ns);
    CHECK(shop.AddressIn("member2") == "10.0.0.2");  // A restored backup may bring it.
    CHECK(shop.IsClaimed());
    shop.Apply(FromTo("{name: member1}", "{name: member2}"));
    REQUIRE(plane.Eventually(
        [&] { return absl::StrContains(shop.Condition("ServiceApplied"), "True"); }));
    plane.Delete("host", kMultiClusterService, {shop.ns, "web"});
  }
  SECTION("its consumer changes") {
    plane.Patch("host", kMultiClusterService, {shop.ns, "web"},
                R"({"spec":{"consumerClusters":[{"name":"member1"}]}})");
    CHECK(plane.Eventually([&] { return shop.AddressIn("member2").empty(); }));
    CHECK(plane.Eventually([&] { return !shop.HasService("member2"); }));
  }
  if (plane.Exists("host", kMultiClusterService, {shop.ns, "web"})) {
    const auto now = plane.Get("host", kMultiClusterService, {shop.ns, "web"});
    if (!now->IsDeleting()) return;
  }
  CHECK(plane.Eventually([&] {
    return !plane.Exists("host", kMultiClusterService, {shop.ns, "web"});
  }));
  CHECK(plane.Eventually([&] { return shop.AddressIn("member2").empty(); }));
  CHECK(plane.Eventually(
      [&] { return !plane.Exists("host", kWork, shop.ServiceWorkIn("member1")); }));
  CHECK(
      plane.Eventually([&] { return !plane.Exists("host", kWork, shop.SliceWorkIn("member1")); }));
  CHECK(plane.Eventually([&] { return !shop.IsClaimed(); }));
  CHECK(shop.HasService("member1"));  // Nothing is interrupted.
}

TEST_CASE("A Service goes from its policy to a MultiClusterService and back") {
  Shop shop;
  ControlPlane& plane = shop.plane;
  shop.Apply(kServiceYaml);
  shop.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Service, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  REQUIRE(plane.Eventually([&] { return shop.HasService("member1"); }));
  shop.Apply(FromTo("{name: member1}", "{name: member2}"));
  REQUIRE(plane.Eventually([&] { return shop.HasService("member2"); }));
  const auto is_policys = [&] {
    const auto service = plane.Get("host", kService, {shop.ns, "web"});
    return !service->Label(api::kPropagationPolicyIdLabel).empty();
  };
  CHECK_FALSE(is_policys());
  // The policy does not fight: neither when it changes, nor after a restart.
  plane.Patch("host", kPolicy, {shop.ns, "web"}, R"({"spec":{"priority":7}})");
  CHECK(plane.Always(
      [&] { return shop.IsClaimed() && !is_policys() && shop.HasService("member2"); }));
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(shop.ns);
  CHECK(plane.Always(
      [&] { return shop.IsClaimed() && !is_policys() && shop.HasService("member2"); }));

  plane.Delete("host", kMultiClusterService, {shop.ns, "web"});
  CHECK(plane.Eventually([&] { return is_policys() && !shop.IsClaimed(); }));
  CHECK(plane.Eventually([&] { return !shop.HasService("member2"); }));
  CHECK(shop.HasService("member1"));
}

TEST_CASE("A MultiClusterService says what it lacks, and goes on when that comes") {
  Shop shop;
  ControlPlane& plane = shop.plane;
  // What was there before the loop began is not reported. This one shows that it has begun.
  shop.Apply(FromTo("{name: member1}", "{name: member2}"));
  REQUIRE(plane.Eventually(
      [&] { return shop.Condition("ServiceApplied") == "False Service \"web\" not found"; }));
  shop.Apply(FromTo("{name: member1}, {name: $NS-nowhere}", "{name: member2}, {name: $NS-absent}"));
  CHECK(plane.Eventually([&] {
    const std::string events = shop.EventsOnIt();
    return absl::StrContains(events,
                             absl::StrCat("Provider cluster ", shop.ns, "-nowhere is not found")) &&
           absl::StrContains(events,
                             absl::StrCat("Consumer cluster ", shop.ns, "-absent is not found")) &&
           absl::StrContains(events, "SyncServiceFailed: Service \"web\" not found");
  }));
  shop.Apply(kServiceYaml);
  CHECK(
      plane.Eventually([&] { return absl::StartsWith(shop.Condition("ServiceApplied"), "True"); }));
  CHECK(plane.Eventually([&] { return shop.HasService("member1") && shop.HasService("member2"); }));
}

// The whole way, with the loop that collects. Real members make the slices themselves.
TEST_CASE("Endpoints of a provider come to a consumer, and go again", "[pull]") {
  Shop shop({kGate});
  ControlPlane& plane = shop.plane;
  shop.Apply(kServiceYaml);
  shop.Apply(FromTo("{name: member1}", "{name: member2}"));
  REQUIRE(
      plane.Eventually([&] { return shop.HasService("member1") && shop.HasService("member2"); }));
  const auto slice = [&](const std::string& address) {
    plane.Apply("member1", In(shop.ns, absl::Substitute(R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc, namespace: $$NS, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [$0]}]
)",
                                                        address)));
  };
  slice("10.0.0.1");
  CHECK(plane.Eventually([&] { return shop.AddressIn("member2") == "10.0.0.1"; }));
  slice("10.0.0.2");
  CHECK(plane.Eventually([&] { return shop.AddressIn("member2") == "10.0.0.2"; }));
  SECTION("the slice goes") { plane.Delete("member1", kEndpointSlice, {shop.ns, "web-abc"}); }
  SECTION("the slice goes while no controller manager runs") {
    plane.StopDaemon();
    plane.Delete("member1", kEndpointSlice, {shop.ns, "web-abc"});
    plane.StartDaemon();
  }
  SECTION("the provider leaves") {
    plane.Patch("host", kMultiClusterService, {shop.ns, "web"},
                R"({"spec":{"providerClusters":[{"name":"member2"}]}})");
  }
  CHECK(plane.Eventually([&] { return shop.AddressIn("member2").empty(); }));
  CHECK(
      plane.Eventually([&] { return !plane.Exists("host", kWork, shop.SliceWorkIn("member1")); }));
}

}  // namespace tests
