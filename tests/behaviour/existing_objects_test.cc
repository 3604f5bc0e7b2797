// Objects that are in a member before the template is: they are taken over, or left alone, whatever
// the member says to their creation. What real servers refuse is tried in
// tests/e2e/cases/test_existing_objects.py, too.
#include <atomic>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "sandbox/kinds/api_errors.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kService{"", "v1", "Service"};

// $0 is a node port, or nothing.
constexpr char kNodePortService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $$NS}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80$0}]}
)";

// $0 is the kind, $1 the conflict resolution.
constexpr char kPolicyOf[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: $$NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: $0}]
  conflictResolution: $1
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

struct Town {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("existing");

  explicit Town(std::vector<std::string> flags = {}) : plane({.daemon_flags = std::move(flags)}) {
    plane.ApplyEverywhere(In(ns, kNamespaceYaml));
  }
  void Apply(const std::string& cluster, const std::string& yaml) {
    plane.Apply(cluster, In(ns, yaml));
  }
  bool IsTakenOver(const kube::Gvk& gvk, const std::string& name) {
    const auto object = plane.Get("member1", gvk, {ns, name});
    return object && object->Label(api::kManagedLabel) == api::kManagedValue;
  }
  // Returns what the binding says about the object in member1.
  std::string Message(const std::string& binding) {
    const auto found = plane.Get("host", kBinding, {ns, binding});
    if (!found) return "";
    return found->Get({"status", "aggregatedStatus"}).At(0)["appliedMessage"].ToString();
  }
};

}  // namespace

// As `karmadactl promote` leaves it: the template has the node port of the member's Service, which
// is allocated there.
TEST_CASE("A Service whose node port the member has allocated to it is taken over, or refused",
          "[pull]") {
  const bool applies = GENERATE(false, true);
  Town town(applies ? std::vector<std::string>{"--member-server-side-apply"}
                    : std::vector<std::string>{});
  ControlPlane& plane = town.plane;
  town.Apply("member1", absl::Substitute(kNodePortService, ""));
  const auto before = plane.Get("member1", kService, {town.ns, "web"});
  REQUIRE(before.has_value());
  const int64_t port = before->spec()["ports"].At(0)["nodePort"].AsInt();
  REQUIRE(port != 0);
  town.Apply("host", absl::Substitute(kNodePortService, absl::StrCat(", nodePort: ", port)));
  SECTION("overwrite") {
    town.Apply("host", absl::Substitute(kPolicyOf, "Service", "Overwrite"));
    CHECK(plane.Eventually([&] { return town.IsTakenOver(kService, "web"); }));
    const auto after = plane.Get("member1", kService, {town.ns, "web"});
    CHECK(after->uid() == before->uid());
    CHECK(after->spec()["clusterIP"] == before->spec()["clusterIP"]);
    CHECK(after->spec()["ports"] == before->spec()["ports"]);
  }
  SECTION("abort") {
    town.Apply("host", absl::Substitute(kPolicyOf, "Service", "Abort"));
    CHECK(plane.Eventually([&] {
      return absl::EndsWith(town.Message("web-service"),
                            "strategy value is empty, Karmada will not manage this resource");
    }));
    CHECK_FALSE(town.IsTakenOver(kService, "web"));
    // The event says what to do.
    CHECK(plane.Eventually([&] {
      return absl::StrContains(plane.EventsOn(kService, "web"),
                               "work.karmada.io/conflict-resolution: overwrite");
    }));
  }
}

TEST_CASE("An object whose creation a member denies is taken over if it exists",
          "[sandbox][pull]") {
  struct Denial {
    int code;
    const char* reason;
    const char* message;
  };
  const Denial denial =
      GENERATE(Denial{403, "Forbidden",
                      "configmaps \"there\" is forbidden: exceeded quota: few, requested: "
                      "count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"},
               Denial{400, "BadRequest",
                      "admission webhook \"deny.example.com\" denied the request: no new ones"},
               Denial{500, "InternalError",
                      "Internal error occurred: failed calling webhook \"deny.example.com\""});
  CAPTURE(denial.message);
  Town town;
  ControlPlane& plane = town.plane;
  constexpr char kThere[] = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: $0, namespace: $$NS}
data: {owner: $1}
)";
  town.Apply("member1", absl::Substitute(kThere, "there", "member"));
  const auto denies = std::make_shared<std::atomic<bool>>(true);
  plane.fleet()->member("member1")->backend().AddAdmission(
      [denies, denial, ns = town.ns](const sandbox::AdmissionRequest& request,
                                     kube::Object& object) {
        const bool matters = request.verb == sandbox::Verbs::kCreate && object.ns() == ns &&
                             object.kind() == "ConfigMap" && object.name() != "kube-root-ca.crt";
        if (!matters || !*denies) return absl::OkStatus();
        return sandbox::ToStatus({denial.code, denial.reason, denial.message, {}});
      });
  town.Apply("host", absl::Substitute(kThere, "there", "template"));
  town.Apply("host", absl::Substitute(kThere, "missing", "template"));
  town.Apply("host", absl::Substitute(kPolicyOf, "ConfigMap", "Abort"));
  CHECK(plane.Eventually([&] {
    return absl::EndsWith(town.Message("there-configmap"), "Karmada will not manage this resource");
  }));
  CHECK_FALSE(town.IsTakenOver(kConfigMap, "there"));
  CHECK(plane.Eventually(
      [&] { return absl::StrContains(town.Message("missing-configmap"), denial.message); }));
  plane.Patch("host", kPolicy, {town.ns, "p"}, R"({"spec":{"conflictResolution":"Overwrite"}})");
  CHECK(plane.Eventually([&] { return town.IsTakenOver(kConfigMap, "there"); }));
  CHECK(plane.Get("member1", kConfigMap, {town.ns, "there"})->Get({"data", "owner"}).AsString() ==
        "template");
  CHECK_FALSE(plane.Exists("member1", kConfigMap, {town.ns, "missing"}));
  *denies = false;
  CHECK(plane.Eventually([&] { return town.IsTakenOver(kConfigMap, "missing"); }));
}

}  // namespace tests
