// What customizations would change for the objects of a running control plane.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"
#include "tests/cmd/interpret/live_fleet.h"
#include "tests/cmd/interpret/tool.h"

namespace {

using Catch::Contains;
using tests::LiveFleet;
using tests::Ran;

constexpr char kShop[] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
constexpr char kExecution[] =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: karmada-es-member1}\n";

std::string Deployment(const std::string& name) {
  return absl::StrReplaceAll(tests::kDeployment,
                             {{"name: web,", absl::StrCat("name: ", name, ",")}});
}

std::string Binding(const std::string& name) {
  return absl::StrReplaceAll(R"(apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: NAME-deployment, namespace: shop}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: NAME}
  replicas: 3
  clusters: [{name: member1, replicas: 3}]
status:
  aggregatedStatus:
  - {clusterName: member1, applied: true, health: Healthy, status: {readyReplicas: 3}}
)",
                             {{"NAME", name}});
}

std::string Work(const std::string& name) {
  return absl::StrReplaceAll(R"(apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: NAME, namespace: karmada-es-member1}
spec:
  workload:
    manifests:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: NAME, namespace: shop}
      spec:
        replicas: 3
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: nginx}]}
status:
  manifestStatuses:
  - identifier: {ordinal: 0, group: apps, version: v1, kind: Deployment, resource: "", namespace: shop, name: NAME}
    status: {replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3}
    health: Healthy
)",
                             {{"NAME", name}});
}

// Returns a customization of Deployments with one script.
std::string Rule(const std::string& field, const std::string& script) {
  return absl::StrReplaceAll(tests::WidgetCustomization(field, script),
                             {{"example.io/v1", "apps/v1"}, {"kind: Widget", "kind: Deployment"}});
}

// A rule for the health of Widgets.
std::string Health(const std::string& expression) {
  return tests::WidgetCustomization(
      "healthInterpretation",
      absl::StrCat("function InterpretHealth(observedObj)\n  return ", expression, "\nend"));
}

// The Work of a Widget, a kind whose whole status is recorded.
std::string WidgetWork(const std::string& name) {
  return absl::StrReplaceAll(Work(name), {{"apps/v1", "example.io/v1"},
                                          {"kind: Deployment", "kind: Widget"},
                                          {"group: apps, version: v1, kind: Deployment",
                                           "group: example.io, version: v1, kind: Widget"}});
}

constexpr char kRetainReplicas[] = R"(function Retain(desiredObj, observedObj)
  desiredObj.spec.replicas = observedObj.spec.replicas
  return desiredObj
end)";

// A control plane with the Deployment "web", its binding and its Work in member1.
struct OneApp : LiveFleet {
  OneApp() : LiveFleet(1) {
    Create("karmada", {kShop, kExecution, Deployment("web"), Binding("web"), Work("web")});
  }
};

// A control plane with the Work of the Widget "web" in member1 and a rule by which it is healthy.
struct OneWidget : LiveFleet {
  explicit OneWidget(const std::string& live_rule = Health("true")) : LiveFleet(1) {
    Create("karmada", {kShop, kExecution, WidgetWork("web"), live_rule});
  }
};

}  // namespace

TEST_CASE(
    "Impact: a rule that answers otherwise ends with 2 and names object, cluster and answers") {
  OneWidget live;
  const Ran ran = live.Run({"impact", "-f", "-"}, Health("observedObj.status.readyReplicas > 5"));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("KIND") && Contains("OLD → NEW"));
  CHECK_THAT(ran.out, Contains("Widget") && Contains("shop/web") && Contains("member1") &&
                          Contains("InterpretHealth") && Contains("true → false"));
  CHECK_THAT(ran.out, Contains("1 of 1 answer changes, of 1 object; 0 not compared"));
  CHECK_THAT(ran.out, Contains("note: status and health were asked about manifests"));
}

TEST_CASE("Impact: rules that answer alike end with 0, and so do equal rules") {
  OneWidget live;
  const Ran alike =
      live.Run({"impact", "-f", "-"}, Health("observedObj.status.readyReplicas == 3"));
  INFO(alike.out << alike.err);
  CHECK(alike.code == 0);
  CHECK_THAT(alike.out, Contains("0 of 1 answer change"));

  const Ran equal = live.Run({"impact", "-f", "-"}, Health("true"));
  CHECK(equal.code == 0);
  CHECK_THAT(equal.out, Contains("have the same rules as the live ones"));
}

TEST_CASE("Impact: the given customization takes the place of the live one of its name") {
  OneWidget live;
  const Ran ran = live.Run({"impact", "-f", "-", "--diff"}, Health("false"));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("true → false"));
  CHECK_THAT(ran.out, Contains("InterpretHealth of Widget shop/web in member1 by customization "
                               "widgets\n") &&
                          Contains("-true\n+false\n"));
}

TEST_CASE("Impact: a second customization of one operation would be refused, and ends with 1") {
  OneWidget live;
  std::string second = Health("false");
  second.replace(second.find("widgets"), 7, "widgets-2");
  const Ran ran = live.Run({"impact", "-f", "-"}, second);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains("error: widgets-2 would be refused: "));
}

TEST_CASE("Impact: templates are asked about everything that their bindings determine") {
  OneApp live;
  const std::string all = Rule("replicaResource", R"(function GetReplicas(obj)
  return obj.spec.replicas + 1, {}
end)") + R"(    replicaRevision:
      luaScript: |
        function ReviseReplica(obj, desiredReplica)
          obj.spec.replicas = desiredReplica
          obj.spec.paused = true
          return obj
        end
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = "shop", name = "more"}}
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(obj, items)
          obj.status = {readyReplicas = items[1].status.readyReplicas * 2}
          return obj
        end
)";
  const Ran ran = live.Run({"impact", "-f", "-", "-o", "json"}, all);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 2);
  const json::Value report = json::Parse(ran.out).value();
  std::string operations;
  for (const json::Value& change : report["changes"].items()) {
    absl::StrAppend(&operations, change["operation"].AsString(), "@", change["cluster"].AsString(),
                    " ");
    CHECK(change["object"].AsString() == "shop/web");
    CHECK(change["oldRule"].AsString() == "native Deployment");
    CHECK(change["newRule"].AsString() == "customization widgets");
  }
  CHECK(operations ==
        "InterpretReplica@ InterpretDependency@ ReviseReplica@member1 AggregateStatus@ ");
  const json::Value& replicas = report["changes"].At(0)["fields"].At(0);
  CHECK(replicas["path"].AsString() == "replica");
  CHECK(replicas["old"].AsInt() == 3);
  CHECK(replicas["new"].AsInt() == 4);
  CHECK(report["changes"].At(2)["summary"].AsString() == "spec.paused: none → true");
}

TEST_CASE("Impact: retention needs the member's object, and without it nothing is claimed") {
  OneApp live;
  const std::string rule = Rule("retention", kRetainReplicas);
  const Ran without = live.Run({"impact", "-f", "-"}, rule);
  INFO(without.out << without.err);
  CHECK(without.code == 1);
  CHECK_THAT(without.out, Contains("not compared: 1 × Retain of Deployment: it needs the member's "
                                   "object, which --members reads"));
  // The member does not have the object: there is nothing to retain.
  CHECK(live.Run({"impact", "-f", "-", "--members"}, rule).code == 0);

  live.Create("member1",
              {kShop, absl::StrReplaceAll(Deployment("web"), {{"replicas: 3", "replicas: 7"}})});
  const Ran with = live.Run({"impact", "-f", "-", "--members"}, rule);
  INFO(with.out << with.err);
  CHECK(with.code == 2);
  CHECK_THAT(with.out, Contains("member1") && Contains("spec.replicas: 3 → 7"));
}

TEST_CASE("Impact: what Works do not record of a member's object decides nothing") {
  SECTION("a part of the status only") {
    OneApp live;
    const std::string rule =
        absl::StrReplaceAll(Health("observedObj.status.conditions ~= nil"),
                            {{"example.io/v1", "apps/v1"}, {"kind: Widget", "kind: Deployment"}});
    const Ran ran = live.Run({"impact", "-f", "-"}, rule);
    INFO(ran.out << ran.err);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Contains("not compared: 1 × InterpretHealth of Deployment: Works record a "
                                 "part of the status only: --members reads"));
  }
  SECTION("a field beside the status") {
    // Both rules read what a controller has written in the member; the new one misspells its value.
    OneWidget live(Health("observedObj.spec.phase == 'Bound'"));
    const Ran ran = live.Run({"impact", "-f", "-"}, Health("observedObj.spec.phase == 'Boud'"));
    INFO(ran.out << ran.err);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Contains("the old rule's answer is not the one that the Work records"));
  }
}

TEST_CASE("Impact: values of Secrets are not shown") {
  LiveFleet live(1);
  constexpr char kSecret[] =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop}\n"
      "data: {password: aHVudGVyMg==}\n";
  live.Create("karmada", {kShop, kExecution, R"(apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: key, namespace: karmada-es-member1}
spec:
  workload:
    manifests:
    - {apiVersion: v1, kind: Secret, metadata: {name: key, namespace: shop}, data: {password: b3Blbg==}}
)"});
  live.Create("member1", {kShop, kSecret});
  const std::string rule = absl::StrReplaceAll(
      tests::WidgetCustomization("retention", R"(function Retain(desiredObj, observedObj)
  desiredObj.data = observedObj.data
  return desiredObj
end)"),
      {{"example.io/v1", "v1"}, {"kind: Widget", "kind: Secret"}});
  for (const char* form : {"text", "json"}) {
    const Ran ran = live.Run({"impact", "-f", "-", "--members", "--diff", "-o", form}, rule);
    INFO(ran.out << ran.err);
    CHECK(ran.code == 2);
    CHECK_THAT(ran.out, Contains("shop/key") && Contains("(hidden, 12 bytes)"));
    CHECK_THAT(ran.out, !Contains("aHVudGVyMg") && !Contains("b3Blbg"));
  }
}

TEST_CASE("Impact: a member that cannot be read is named, and decides nothing") {
  OneApp live;
  live.Create("karmada", {"apiVersion: v1\nkind: Namespace\nmetadata: {name: karmada-es-nobody}\n",
                          absl::StrReplaceAll(Work("web"), {{"es-member1", "es-nobody"}})});
  const Ran ran = live.Run({"impact", "-f", "-", "--members"}, Rule("retention", kRetainReplicas));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("member nobody cannot be read"));
}

TEST_CASE("Impact: the answer of a webhook behind a Service is not guessed") {
  OneWidget live(tests::kWidgetAggregation);
  live.Create("karmada", {R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: w.example.com
  rules:
  - {operations: [InterpretHealth], apiGroups: [example.io], apiVersions: [v1], kinds: [Widget]}
  clientConfig: {service: {namespace: hooks, name: w}}
  interpreterContextVersions: [v1alpha1]
)"});
  const Ran ran = live.Run({"impact", "-f", "-"}, Health("true"));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("webhook hooks/w.example.com is behind the Service hooks/w, which "
                               "only the control plane can reach"));
}

TEST_CASE("Impact: lists longer than a page are read to their end, and -n leaves others out") {
  LiveFleet live(0);
  std::vector<std::string> objects = {kShop, kExecution};
  for (int i = 0; i < 130; ++i) objects.push_back(WidgetWork(absl::StrCat("app", i)));
  objects.push_back(Health("true"));
  live.Create("karmada", objects);
  const Ran ran = live.Run({"impact", "-f", "-", "--limit", "7"}, Health("false"));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("130 of 130 answers change, of 130 objects"));
  CHECK_THAT(ran.out, Contains("... and 123 changes more (--limit)"));
  const Ran elsewhere = live.Run({"impact", "-f", "-", "-n", "elsewhere"}, Health("false"));
  CHECK(elsewhere.code == 0);
  CHECK_THAT(elsewhere.out, Contains("0 of 0 answers change, of 0 objects") &&
                                Contains("note: no binding and no Work of the namespace elsewhere "
                                         "has an object of a kind whose rules change: "
                                         "example.io/v1, Kind=Widget"));
}

TEST_CASE("Impact: a script that fails is an answer, and problems of the rule are warnings") {
  OneWidget live;
  const Ran failing = live.Run({"impact", "-f", "-"}, Health("observedObj.nothing.more"));
  INFO(failing.out << failing.err);
  CHECK(failing.code == 2);
  CHECK_THAT(failing.out, Contains("true → error: widgets/healthInterpretation:"));
  const Ran broken = live.Run({"impact", "-f", "-"}, Health("("));
  CHECK(broken.code == 2);
  CHECK_THAT(broken.err, Contains("warning: widgets: spec.customizations.healthInterpretation"));
}

TEST_CASE("Impact: what cannot be determined ends with 1, wrong flags included") {
  const std::string rule = Health("true");
  const std::vector<std::vector<std::string>> lines = {
      {"impact"},
      {"impact", "--dance"},
      {"impact", "-f", "/nowhere"},
      {"impact", "-f", "-", "-o", "xml"},
      {"impact", "-f", "-", "--limit", "0"},
      {"impact", "-f", "-", "--kubeconfig", "/nowhere"}};
  for (const std::vector<std::string>& line : lines) {
    const Ran ran = tests::RunTool(line, rule);
    INFO(ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.err.empty());
  }
  CHECK_THAT(tests::RunTool({"impact", "-f", "-"}, rule + "---\n" + rule).err,
             Contains("widgets is given twice"));
  CHECK(tests::RunTool({"impact", "--help"}).code == 0);
  // Other sub-commands keep theirs.
  CHECK(tests::RunTool({"list", "--dance"}).code == 2);
}
