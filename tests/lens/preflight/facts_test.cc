// What a preflight makes of the objects of a control plane.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "config/support.h"
#include "lens/preflight/facts_reader.h"
#include "lens/preflight/report.h"
#include "tests/lens/preflight/fake_plane.h"
#include "tests/support/fake_clock.h"

namespace tests {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using lens::preflight::Grade;
using lens::preflight::Part;
using lens::preflight::Report;
using lens::preflight::Row;

Grade Verdict(const FakePlane& plane) { return Report{.rows = plane.Rows()}.Verdict(); }

constexpr char kBindings[] = "resourcebindings.work.karmada.io";
constexpr char kWorks[] = "works.work.karmada.io";

// A ResourceInterpreterCustomization of ConfigMaps; the script is JSON text.
std::string Customization(const std::string& name, const std::string& script) {
  return R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization",
    "metadata":{"name":")" +
         name + R"("},"spec":{"target":{"apiVersion":"v1","kind":"ConfigMap"},
    "customizations":{"healthInterpretation":{"luaScript":")" +
         script + R"("}}}})";
}

// A template of the third generation.
std::string Template(const std::string& name, const std::string& status) {
  return R"({"metadata":{"namespace":"shop","generation":3,"name":")" + name + R"("},"status":)" +
         status + "}";
}

}  // namespace

TEST_CASE("Preflight: on an empty control plane nothing would be lost") {
  const FakePlane plane;
  for (const Row& row : plane.Rows()) {
    INFO(row.name << ": " << row.note);
    CHECK(row.grade == Grade::kSame);
    CHECK(row.quiet);
  }
  CHECK(plane.Read()->server == "v1.34.1");
}

TEST_CASE(
    "Preflight: objects are counted by a list of one, or one by one where that does not say") {
  FakePlane plane;
  plane.counts["works"] = 1234;
  plane.stored["works"] = R"(["v1alpha1"])";
  const Row row = RowOf(plane.Rows(), kWorks);
  CHECK(row.use == "1234 objects, served as v1alpha1, stored as v1alpha1");
  CHECK(row.details["count"].AsInt() == 1234);
  CHECK_FALSE(row.quiet);
  plane.says_how_many_remain = false;
  CHECK(RowOf(plane.Rows(), kWorks).details["count"].AsInt() == 1234);
}

TEST_CASE("Preflight: a kind that may not be listed is a row that says so, and hides no other") {
  FakePlane plane;
  plane.forbidden.insert("works");
  plane.counts["resourcebindings"] = 3;
  const auto rows = plane.Rows();
  const Row works = RowOf(rows, kWorks);
  CHECK(works.grade == Grade::kUnknown);
  CHECK_THAT(works.note, Contains("could not be counted") && Contains("you may not"));
  CHECK_THAT(works.use, Contains("? objects"));
  CHECK(works.details["count"].is_null());
  CHECK(RowOf(rows, kBindings).use == "3 objects, served as v1alpha2, stored as v1alpha2");
  CHECK(Verdict(plane) == Grade::kUnknown);
}

TEST_CASE(
    "Preflight: templates that upstream's rules read otherwise are named where they are used") {
  FakePlane plane;
  plane.ServeUnknown("flink.apache.org", "flinkdeployments", "FlinkDeployment");
  plane.ServeUnknown("flink.apache.org", "flinksessionjobs", "FlinkSessionJob");
  constexpr char kFlink[] = "flinkdeployments.flink.apache.org";
  CHECK(RowOf(plane.Rows(), kFlink).grade == Grade::kSame);
  CHECK(RowOf(plane.Rows(), kFlink).quiet);
  CHECK(Verdict(plane) == Grade::kSame);
  plane.counts["flinkdeployments"] = 2;
  const Row row = RowOf(plane.Rows(), kFlink);
  CHECK(row.grade == Grade::kDiffers);
  CHECK_THAT(row.note, Contains("100m is 100 MiB, and upstream a tenth of a byte"));
  plane.forbidden.insert("flinkdeployments");
  CHECK(RowOf(plane.Rows(), kFlink).grade == Grade::kUnknown);
}

TEST_CASE("Preflight: what the take-over writes to templates stands with their number") {
  FakePlane plane;
  plane.ServeUnknown("apps", "statefulsets", "StatefulSet");
  plane.ServeUnknown("batch", "jobs", "Job");
  plane.objects["statefulsets"] = Template("behind", R"({"replicas":2,"observedGeneration":2})") +
                                  "," +
                                  Template("observed", R"({"replicas":2,"observedGeneration":3})") +
                                  "," + Template("nowhere", "{}");
  const Row sets = RowOf(plane.Rows(), "statefulsets.apps");
  CHECK(sets.grade == Grade::kDiffers);
  CHECK_THAT(sets.use, Contains("3 objects"));
  CHECK(sets.details["concerned"].AsInt() == 1);
  CHECK_THAT(sets.note,
             StartsWith("1 of them: at the take-over status.observedGeneration is written, once") &&
                 Contains("docs/differences.md#interpreter"));
  CHECK(RowOf(plane.Rows(), "jobs.batch").quiet);
  plane.counts["jobs"] = 4;
  const Row jobs = RowOf(plane.Rows(), "jobs.batch");
  CHECK(jobs.details["concerned"].is_null());
  CHECK_THAT(jobs.note, StartsWith("at the take-over the status is written, once"));
}

TEST_CASE("Preflight: Deployments that the take-over gives conditions are counted one by one") {
  FakePlane plane;
  plane.ServeUnknown("apps", "deployments", "Deployment");
  const std::string conditioned = Template(
      "ours", R"({"observedGeneration":3,"conditions":[{"type":"Available","status":"True"}]})");
  const std::string unpropagated = Template("nowhere", "{}");
  plane.objects["deployments"] = conditioned + "," + unpropagated;
  CHECK(RowOf(plane.Rows(), "deployments.apps").grade == Grade::kSame);
  plane.objects["deployments"] += "," + Template("settled", R"({"observedGeneration":3})") + "," +
                                  Template("moving", R"({"observedGeneration":2})");
  const Row row = RowOf(plane.Rows(), "deployments.apps");
  CHECK(row.grade == Grade::kDiffers);
  CHECK(row.details["count"].AsInt() == 4);
  CHECK(row.details["concerned"].AsInt() == 1);
  CHECK_THAT(row.note, StartsWith("1 of them: at the take-over the conditions Available and "));
}

TEST_CASE("Preflight: bindings that are refused, and those of released templates, are counted") {
  FakePlane plane;
  plane.discovery.resources.push_back(
      {{{"", "v1", "Namespace"}, "namespaces", false}, {"list"}, {}, true});
  const auto of = [](const std::string& kind, const std::string& ns) {
    return R"("spec":{"resource":{"apiVersion":"v1","kind":")" + kind + R"(","namespace":")" + ns +
           R"(","name":"x","resourceVersion":"1"}})";
  };
  constexpr char kLabel[] = "propagationpolicy.karmada.io/permanent-id";
  const std::string claimed = std::string(R"("labels":{")") + kLabel + R"(":"id"}},)";
  plane.objects["resourcebindings"] =
      R"({"metadata":{"namespace":"ns","name":"fine",)" + claimed + of("Pod", "ns") + "}," +
      R"({"metadata":{"namespace":"ns","name":"foreign",)" + claimed + of("Pod", "b") + "}," +
      R"({"metadata":{"namespace":"ns","name":"wide",)" + claimed + of("Namespace", "ns") + "}," +
      R"({"metadata":{"namespace":"ns","name":"left"},)" + of("Pod", "ns") + "}";
  const auto rows = plane.Rows();
  const Row refused = RowOf(rows, "refused bindings");
  CHECK(refused.grade == Grade::kDiffers);
  CHECK(refused.use == "2 objects");
  CHECK_THAT(refused.note, Contains(": ns/foreign, ns/wide; see also docs/differences.md#"));
  CHECK(refused.details["count"].AsInt() == 2);
  const Row released = RowOf(rows, "bindings of released templates");
  CHECK(released.grade == Grade::kDiffers);
  CHECK_THAT(released.note, Contains(": ns/left; see also"));

  plane.forbidden.insert("resourcebindings");
  const Row unread = RowOf(plane.Rows(), "bindings that have another effect");
  CHECK(unread.grade == Grade::kUnknown);
  CHECK_THAT(unread.note, Contains("could not be listed") && Contains("you may not"));
}

TEST_CASE("Preflight: policies with a purge mode that Karmada v1.19 refuses are named") {
  FakePlane plane;
  const auto of = [](const std::string& name, const std::string& mode) {
    return R"({"metadata":{)" + name + R"(},"spec":{"failover":{"application":{"purgeMode":")" +
           mode + R"("}}}})";
  };
  plane.objects["propagationpolicies"] = of(R"("namespace":"shop","name":"web")", "Graciously") +
                                         "," +
                                         of(R"("namespace":"shop","name":"new")", "Gracefully");
  plane.objects["clusterpropagationpolicies"] = of(R"("name":"all")", "Immediately");
  constexpr char kOld[] = "policies with an old purge mode";
  const Row row = RowOf(plane.Rows(), kOld);
  CHECK(row.grade == Grade::kDiffers);
  CHECK(row.use == "2 objects");
  CHECK_THAT(row.note,
             Contains("spec.failover.application.purgeMode of PropagationPolicy shop/web: "
                      "Graciously is refused by Karmada v1.19, use Gracefully; "
                      "ClusterPropagationPolicy all: Immediately is refused by Karmada v1.19, "
                      "use Directly; see also docs/differences.md#"));
  CHECK(row.details["policies"].size() == 2);

  plane.forbidden.insert("propagationpolicies");
  CHECK(RowOf(plane.Rows(), kOld).grade == Grade::kUnknown);
}

TEST_CASE("Preflight: without the right to read definitions the stored versions are unknown") {
  FakePlane plane;
  plane.forbidden.insert("customresourcedefinitions");
  const Row row = RowOf(plane.Rows(), kBindings);
  CHECK(row.grade == Grade::kUnknown);
  CHECK_THAT(row.note, Contains("the stored versions could not be read"));
}

TEST_CASE("Preflight: customizations, webhooks and clusters that may not be listed are named") {
  FakePlane plane;
  plane.forbidden = {"resourceinterpretercustomizations", "clusters",
                     "resourceinterpreterwebhookconfigurations"};
  int unread = 0;
  for (const Row& row : plane.Rows()) {
    if (row.part == Part::kKinds || row.grade != Grade::kUnknown) continue;
    CHECK_THAT(row.note, Contains("could not be listed") && Contains("you may not"));
    ++unread;
  }
  CHECK(unread == 3);
}

TEST_CASE("Preflight: a kind of Karmada's that this program does not know is lost if it is used") {
  FakePlane plane;
  plane.ServeUnknown("policy.karmada.io", "tomorrowpolicies", "TomorrowPolicy");
  CHECK(Verdict(plane) == Grade::kSame);
  plane.counts["tomorrowpolicies"] = 2;
  const Row row = RowOf(plane.Rows(), "tomorrowpolicies.policy.karmada.io");
  CHECK(row.grade == Grade::kLost);
  CHECK_THAT(row.note, Contains("does not know the kind"));
  plane.forbidden.insert("tomorrowpolicies");
  CHECK(RowOf(plane.Rows(), row.name).grade == Grade::kUnknown);
}

TEST_CASE("Preflight: kinds of other groups, and this program's own, are not looked at") {
  FakePlane plane;
  plane.ServeUnknown("example.io", "things", "Thing");
  plane.ServeUnknown("config.karmada.io", "resourceexploringwebhookconfigurations", "X");
  plane.discovery.resources.back().resource.gvk.version = "v1alpha1";
  for (const Row& row : plane.Rows()) {
    CHECK_THAT(row.name, !Contains("things") && !Contains("exploring"));
  }
}

TEST_CASE("Preflight: a version that is not served any more cannot be read") {
  FakePlane plane;
  plane.ServeAs("resourcebindings", {"v1", "v1beta1"});
  plane.counts["resourcebindings"] = 1;
  const Row row = RowOf(plane.Rows(), kBindings);
  CHECK(row.grade == Grade::kLost);
  CHECK(row.note == "this program reads v1alpha2, which is not served");
  CHECK_THAT(row.use, Contains("1 object, served as v1 v1beta1"));
}

TEST_CASE("Preflight: older versions beside the one that is read do no harm") {
  FakePlane plane;
  plane.ServeAs("resourcebindings", {"v1alpha2", "v1alpha1"});
  plane.stored["resourcebindings"] = R"(["v1alpha1","v1alpha2"])";
  plane.counts["resourcebindings"] = 2;
  const Row row = RowOf(plane.Rows(), kBindings);
  CHECK(row.grade == Grade::kSame);
  CHECK(row.note == "see also docs/differences.md#works-and-members");
  CHECK(row.use == "2 objects, served as v1alpha2 v1alpha1, stored as v1alpha1 v1alpha2");
}

TEST_CASE("Preflight: a kind in use differs where its objects have another effect, and no other") {
  FakePlane plane;
  for (const config::KindSupport& kind : config::Kinds()) {
    plane.counts[std::string(kind.resource)] = 1;
  }
  std::vector<std::string> differ;
  for (const Row& row : plane.Rows()) {
    if (row.part == Part::kKinds && row.grade == Grade::kDiffers) differ.push_back(row.name);
  }
  std::sort(differ.begin(), differ.end());
  CHECK(differ == std::vector<std::string>{"clusterpropagationpolicies.policy.karmada.io",
                                           "clusters.cluster.karmada.io",
                                           "cronfederatedhpas.autoscaling.karmada.io",
                                           "federatedhpas.autoscaling.karmada.io",
                                           "propagationpolicies.policy.karmada.io"});
  CHECK_THAT(RowOf(plane.Rows(), "clusters.cluster.karmada.io").note,
             Contains("takes longer than 5 s") && Contains("docs/differences.md#clusters"));
}

TEST_CASE("Preflight: a member with the kinds of services across clusters is no control plane") {
  FakePlane plane;
  auto& served = plane.discovery.resources;
  served.erase(std::remove_if(served.begin(), served.end(),
                              [](const kube::ApiResource& found) {
                                return found.resource.gvk.group != "multicluster.x-k8s.io";
                              }),
               served.end());
  REQUIRE(served.size() == 2);
  CHECK(absl::IsFailedPrecondition(plane.Read().status()));
  plane.discovery.failed_groups = {"work.karmada.io/v1alpha2"};
  CHECK(plane.Read().ok());
}

TEST_CASE("Preflight: a kind without a definition keeps the daemon from running") {
  FakePlane plane;
  plane.ServeAs("remedies", {});
  const Row row = RowOf(plane.Rows(), "remedies.remedy.karmada.io");
  CHECK(row.grade == Grade::kLost);
  CHECK_THAT(row.note, Contains("is not served"));
}

TEST_CASE("Preflight: a kind that the controller manager does not read may be missing") {
  FakePlane plane;
  plane.ServeAs("multiclusteringresses", {});
  CHECK(Verdict(plane) == Grade::kSame);
}

TEST_CASE("Preflight: nothing is concluded from a group whose discovery failed") {
  FakePlane plane;
  plane.ServeAs("clusters", {});
  plane.discovery.failed_groups = {"cluster.karmada.io/v1alpha1"};
  const Row row = RowOf(plane.Rows(), "clusters.cluster.karmada.io");
  CHECK(row.grade == Grade::kUnknown);
  CHECK_THAT(row.note, Contains("cluster.karmada.io/v1alpha1"));
}

TEST_CASE("Preflight: a customization that does not compile here is lost, with its mistake") {
  FakePlane plane;
  plane.objects["resourceinterpretercustomizations"] =
      Customization("good", "function InterpretHealth(o) return true end") + "," +
      Customization("bad", "function InterpretHealth(o) return tru");
  const auto rows = plane.Rows();
  CHECK(RowOf(rows, "bad").grade == Grade::kLost);
  CHECK_THAT(RowOf(rows, "bad").note, Contains("healthInterpretation"));
  const Row good = RowOf(rows, "good");
  CHECK(good.use == "ConfigMap (v1): InterpretHealth");
  CHECK(good.grade == Grade::kDiffers);  // The other one customizes the same.
  CHECK(Verdict(plane) == Grade::kLost);
}

TEST_CASE("Preflight: one good customization is the same here") {
  FakePlane plane;
  plane.objects["resourceinterpretercustomizations"] =
      Customization("good", "function InterpretHealth(o) return true end");
  CHECK(RowOf(plane.Rows(), "good").grade == Grade::kSame);
}

TEST_CASE("Preflight: webhooks are listed, and those that cannot be called are lost") {
  FakePlane plane;
  plane.objects["resourceinterpreterwebhookconfigurations"] =
      R"({"apiVersion":"config.karmada.io/v1alpha1",
      "kind":"ResourceInterpreterWebhookConfiguration","metadata":{"name":"good"},
      "webhooks":[{"name":"w.example.com","clientConfig":{"url":"https://w.example.com"},
        "rules":[{"operations":["InterpretHealth"],"apiGroups":["apps"],"apiVersions":["v1"],
                  "kinds":["Deployment"]}],"interpreterContextVersions":["v1alpha1"]}]},
      {"apiVersion":"config.karmada.io/v1alpha1",
      "kind":"ResourceInterpreterWebhookConfiguration","metadata":{"name":"bad"},
      "webhooks":[{"name":"b.example.com","clientConfig":{},
        "rules":[{"operations":["InterpretHealth"],"apiGroups":["apps"],"apiVersions":["v1"],
                  "kinds":["Deployment"]}],"interpreterContextVersions":["v1alpha1"]}]})";
  const auto rows = plane.Rows();
  INFO(RowOf(rows, "good").note);
  CHECK(RowOf(rows, "good").grade == Grade::kSame);
  CHECK(RowOf(rows, "good").use == "w.example.com");
  CHECK(RowOf(rows, "bad").grade == Grade::kLost);
  CHECK_THAT(RowOf(rows, "bad").note, Contains("clientConfig"));
}

TEST_CASE("Preflight: members in Pull mode are shown") {
  FakePlane plane;
  plane.objects["clusters"] = R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}},
                                 {"metadata":{"name":"m2"},"spec":{"syncMode":"Pull"}})";
  const auto rows = plane.Rows();
  CHECK(RowOf(rows, "m1").quiet);
  CHECK_FALSE(RowOf(rows, "m2").quiet);
  CHECK(RowOf(rows, "m2").use == "Pull");
}

TEST_CASE("Preflight: when the agents of members in Pull mode last renewed their Leases is said") {
  FakePlane plane;
  plane.objects["clusters"] = R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Pull"}},
                                 {"metadata":{"name":"m2"},"spec":{"syncMode":"Pull"}},
                                 {"metadata":{"name":"m3"},"spec":{"syncMode":"Pull"}},
                                 {"metadata":{"name":"m4"},"spec":{"syncMode":"Pull"}})";
  plane.objects["leases"] = R"(
      {"metadata":{"name":"m4","annotations":{"agent.karmada.io/renewed-by":"v0.1.0 2999-01-01T00:00:00Z"}},
       "spec":{"leaseDurationSeconds":40,"renewTime":"2999-01-01T00:00:00Z"}},
      {"metadata":{"name":"m1"},"spec":{"leaseDurationSeconds":40,"renewTime":"2999-01-01T00:00:00Z"}},
      {"metadata":{"name":"m2"},"spec":{"leaseDurationSeconds":40,"renewTime":"2020-01-01T00:00:00Z"}})";
  const auto rows = plane.Rows();
  CHECK(RowOf(rows, "m1").note ==
        "its karmada-agent stays and goes on doing its work; it last renewed its Lease at "
        "2999-01-01T00:00:00Z");
  CHECK(RowOf(rows, "m2").note ==
        "its karmada-agent is silent since 2020-01-01T00:00:00Z: its Works wait, with either "
        "controller manager");
  CHECK(RowOf(rows, "m3").note == "its karmada-agent stays and goes on doing its work");
  CHECK(RowOf(rows, "m4").note ==
        "its karmada-agent stays and goes on doing its work; this project's v0.1.0 last renewed "
        "its Lease at 2999-01-01T00:00:00Z");
  CHECK(RowOf(rows, "m4").details["agentVersion"].AsString() == "v0.1.0");
  CHECK_FALSE(RowOf(rows, "m1").details.Has("agentVersion"));
}

TEST_CASE("Preflight: after a time nothing more is asked of a slow server") {
  FakePlane plane;
  FakeClock clock;
  int requests = 0;
  plane.on_request = [&] {
    ++requests;
    clock.Advance(absl::Seconds(20));
  };
  const auto facts = plane.Read(clock);
  REQUIRE(facts.ok());
  CHECK(requests <= 10);
  CHECK(facts->kinds.front().count.ok());
  CHECK(absl::IsDeadlineExceeded(facts->kinds.back().count.status()));
  CHECK(absl::IsDeadlineExceeded(facts->clusters.status()));
}

TEST_CASE("Preflight: a server without Karmada's kinds is no control plane") {
  FakePlane plane;
  plane.discovery.resources.clear();
  const auto facts = plane.Read();
  CHECK(absl::IsFailedPrecondition(facts.status()));
  CHECK_THAT(std::string(facts.status().message()),
             Contains("plane is not a Karmada control plane") && Contains("--kubeconfig"));
}

}  // namespace tests
