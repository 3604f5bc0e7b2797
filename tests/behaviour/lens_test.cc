// What karmada-lens says about templates on whole control planes, with the real daemon.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/graph/live.h"
#include "lens/graph/render.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kTemplate[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: $NS}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
)";

// `more` goes into the policy's spec; it sets the clusters unless it sets a placement.
std::string Policy(const std::string& more, const std::string& name = "web") {
  const bool placed = absl::StrContains(more, "placement");
  return absl::StrCat(
      "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
      "metadata: {name: web, namespace: $NS}\nspec:\n"
      "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: ",
      name, "}]\n", more,
      placed ? "" : "  placement: {clusterAffinity: {clusterNames: [member1]}}\n");
}

// The first line about a Deployment.
std::string Headline(ControlPlane& plane, const kube::ObjectKey& key,
                     const std::string& cluster = "") {
  kube::Client& client = plane.client("host");
  const auto discovery = kube::Discover(client, {});
  if (!discovery.ok()) return std::string(discovery.status().message());
  lens::why::Question question;
  question.gvk = kDeployment;
  question.key = key;
  question.cluster = cluster;
  const kube::ConnectionConfig no_proxy;
  const auto chain = lens::why::ReadChain({client, *discovery, no_proxy}, question, {});
  if (!chain.ok()) return std::string(chain.status().message());
  return lens::why::Diagnose(*chain).headline;
}

// Waits until the first line about Deployment web begins with `wanted`, in which $NS stands for the
// namespace.
void ExpectHeadline(ControlPlane& plane, const std::string& ns, const std::string& wanted,
                    const std::string& cluster = "") {
  const std::string expected = In(ns, wanted);
  std::string said;
  const bool held = plane.Eventually([&] {
    said = Headline(plane, {ns, "web"}, cluster);
    return absl::StartsWith(said, expected);
  });
  INFO("it said: " << said << "\nand should begin with: " << expected);
  CHECK(held);
}

// Applies the template and the rest in a namespace of its own, and waits for the first line.
std::string Expect(ControlPlane& plane, const std::string& rest, const std::string& wanted) {
  const std::string ns = plane.UniqueNamespace("lens");
  plane.Apply("host", In(ns, absl::StrCat(kTemplate, "---\n", rest)));
  ExpectHeadline(plane, ns, wanted);
  return ns;
}

constexpr char kOverride[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: paths, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules:
  - overriders: {plaintext: [{path: /spec/nothing/here, operator: replace, value: 1}]}
)";

TEST_CASE("Lens: why names the true cause of what keeps a Deployment from arriving") {
  ControlPlane plane;
  const std::string ns = Expect(plane, Policy(""), "Deployment $NS/web ");
  // The pods of a real plane have no nodes to run on.
  if (plane.fleet() != nullptr) {
    ExpectHeadline(plane, ns, "Deployment $NS/web has arrived in member1");
  }
  ExpectHeadline(
      plane, ns,
      "the cluster member2 is not chosen for Deployment $NS/web: it does not match the placement's "
      "cluster affinity",
      "member2");
  ExpectHeadline(plane, ns, "there is no cluster member9", "member9");
  Expect(plane, Policy("", "wbe"),
         "no policy selects Deployment $NS/web; PropagationPolicy $NS/web selects only the name "
         "wbe");
  Expect(
      plane, Policy("  placement: {clusterAffinity: {clusterNames: [membr1]}}\n"),
      "no cluster fits Deployment $NS/web: the placement names the cluster membr1, which does not "
      "exist");
  Expect(plane, Policy("  suspension: {dispatching: true}\n"),
         "dispatching of Deployment $NS/web to member1 is suspended");
  Expect(plane, absl::StrCat(Policy(""), kOverride),
         "the manifest of Deployment $NS/web for member1 cannot be made: OverridePolicy $NS/paths: "
         "spec.overrideRules[0].overriders.plaintext[0]: ");
  Expect(plane, Policy("  dependentOverrides: [later]\n"),
         "PropagationPolicy $NS/web waits for the override policy $NS/later");
  Expect(plane, Policy("  schedulerName: nobodys\n"),
         "Deployment $NS/web waits for a scheduler named nobodys");
}

TEST_CASE("Lens: why says that a member has an object of its own, and when the template is gone") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("lens");
  plane.Apply("member1", In(ns, kTemplate));
  plane.Apply("host", In(ns, absl::StrCat(kTemplate, "---\n", Policy(""))));
  ExpectHeadline(plane, ns,
                 "Deployment $NS/web does not arrive: member1 already has such an object that "
                 "Karmada does not manage");
  plane.Delete("host", kDeployment, {ns, "web"});
  ExpectHeadline(plane, ns,
                 "there is no Deployment $NS/web in the control plane; member1 keeps the object on "
                 "its own");
}

TEST_CASE("Lens: why says that the controller manager does not run") {
  ControlPlane plane;
  plane.StopDaemon();
  plane.Apply("host", R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: karmada-controller-manager, namespace: karmada-system}
spec: {leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z"}
)");
  Expect(plane, Policy(""),
         "karmada-controller-manager does not run (its lease was last renewed at 2020-01-01");
}

constexpr char kNeedy[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: $NS}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $NS}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
        envFrom:
        - configMapRef: {name: settings}
        - secretRef: {name: keys, optional: true}
---
)";

// The graph of everything that has to do with templates of the namespace, as text.
std::string GraphText(ControlPlane& plane, const std::string& ns) {
  kube::Client& client = plane.client("host");
  const auto discovery = kube::Discover(client, {});
  if (!discovery.ok()) return std::string(discovery.status().message());
  const auto graph = lens::graph::GraphOfLive(client, *discovery, {}, {});
  if (!graph.ok()) return std::string(graph.status().message());
  const lens::graph::Graph part =
      lens::graph::PartAround(*graph, [&](const lens::graph::Node& node) {
        return absl::StrContains(node.name, absl::StrCat(" ", ns, "/"));
      });
  return lens::graph::TreeOf(part, tool::Colours(false));
}

TEST_CASE("Lens: graph shows where a live template and what it needs have gone") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("lens");
  plane.Apply("host", In(ns, absl::StrCat(kNeedy, Policy("  propagateDeps: true\n"))));
  const std::string expected = In(ns,
                                  "PropagationPolicy $NS/web\n"
                                  "└─ Deployment $NS/web  -> member1 (1 replica)\n"
                                  "   ├─ needs ConfigMap $NS/settings  -> member1\n"
                                  "   └─ needs Secret $NS/keys  does not exist\n");
  std::string text;
  const bool held = plane.Eventually([&] {
    text = GraphText(plane, ns);
    return text == expected;
  });
  INFO(text);
  CHECK(held);
}

}  // namespace
}  // namespace tests
