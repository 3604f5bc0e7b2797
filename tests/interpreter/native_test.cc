// Examples for the built-in handlers, beyond the recorded answers.
#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "interpreter/interpreter.h"

namespace {

json::Value Json(absl::string_view text) { return json::Parse(text).value(); }

// A clock that stands still.
class StoppedClock : public base::Clock {
 public:
  absl::Time Now() const override { return absl::FromUnixSeconds(1767225600); }
  base::SteadyTime SteadyNow() const override { return {}; }
  bool AwaitUntil(absl::Mutex&, const absl::Condition& condition, base::SteadyTime) const override {
    return condition.Eval();
  }
};

const interpreter::Interpreter& Native() {
  static const StoppedClock clock;
  static const auto chain = [] {
    std::vector<std::unique_ptr<interpreter::Backend>> backends;
    backends.push_back(interpreter::NewNativeBackend(clock));
    return interpreter::NewChain(std::move(backends));
  }();
  return *chain;
}

kube::Object ObjectOf(absl::string_view api_version, absl::string_view kind,
                      absl::string_view rest) {
  kube::Object object(Json(rest));
  object.Set({"apiVersion"}, api_version);
  object.Set({"kind"}, kind);
  return object;
}

// Returns the status of `object` after aggregating the items, as text; "same" when nothing changed.
std::string Aggregated(const kube::Object& object, absl::string_view items) {
  const kube::Object out = Native().AggregateStatus(object, Json(items)).value();
  return out.root().SharesWith(object.root()) ? "same" : json::Write(out.status());
}

std::string Items(std::vector<std::string> statuses) {
  std::string out = "[";
  for (size_t i = 0; i < statuses.size(); ++i) {
    absl::StrAppend(&out, i == 0 ? "" : ",", R"({"applied":true,"clusterName":"member)", i + 1,
                    "\"");
    if (!statuses[i].empty()) absl::StrAppend(&out, ",\"status\":", statuses[i]);
    absl::StrAppend(&out, "}");
  }
  return out + "]";
}

}  // namespace

TEST_CASE("a Deployment's counters are summed and settle") {
  const kube::Object before = ObjectOf("apps/v1", "Deployment", R"({"metadata":{"generation":1}})");
  const std::string one =
      R"({"replicas":1,"readyReplicas":1,"updatedReplicas":1,"availableReplicas":1,
          "generation":1,"observedGeneration":1,"resourceTemplateGeneration":1})";
  const std::string items = Items({one, one});
  const char* times =
      R"("lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z")";
  CHECK(Aggregated(before, items) ==
        absl::StrCat(
            R"({"availableReplicas":2,"conditions":[{)", times,
            R"(,"message":"Deployment has minimum availability.",)",
            R"("reason":"MinimumReplicasAvailable","status":"True","type":"Available"},{)", times,
            R"(,"message":"Deployment has successfully progressed.",)",
            R"("reason":"NewReplicaSetAvailable","status":"True","type":"Progressing"}],)",
            R"("observedGeneration":1,"readyReplicas":2,"replicas":2,"updatedReplicas":2})"));
  const kube::Object after = Native().AggregateStatus(before, Json(items)).value();
  CHECK(Aggregated(after, items) == "same");
}

TEST_CASE("observedGeneration moves once every member runs the template's generation") {
  const kube::Object set = ObjectOf("apps/v1", "ReplicaSet",
                                    R"({"metadata":{"generation":3},
          "status":{"observedGeneration":1,"conditions":[{"type":"A"}]}})");
  const auto member = [](int observed, int template_generation) {
    return absl::StrCat(R"({"generation":5,"observedGeneration":)", observed,
                        R"(,"resourceTemplateGeneration":)", template_generation, "}");
  };
  const std::string moved = R"({"conditions":[{"type":"A"}],"observedGeneration":3,"replicas":0})";
  CHECK(Aggregated(set, Items({member(5, 3), member(5, 4)})) == moved);
  CHECK(Aggregated(set, Items({member(5, 3), member(4, 4)})) == "same");
  CHECK(Aggregated(set, Items({member(5, 3), member(5, 2)})) == "same");
  CHECK(Aggregated(set, Items({member(5, 3), ""})) == "same");
  CHECK(Aggregated(set, "null") == moved);
  CHECK(Aggregated(set, "[]") == moved);
}

TEST_CASE("a status of the wrong type is an error that names the cluster") {
  const kube::Object deployment =
      ObjectOf("apps/v1", "Deployment", R"({"metadata":{"name":"web"}})");
  const absl::Status status =
      Native().AggregateStatus(deployment, Json(Items({R"({"replicas":"x"})"}))).status();
  CHECK(status.message() ==
        "AggregateStatus of Deployment web by the native interpreter: cluster member1: "
        "status.replicas: \"x\" is not an integer");
}

TEST_CASE("reflection reports the generations of member and template") {
  const auto reflect = [](absl::string_view rest) {
    return Native().ReflectStatus(ObjectOf("apps/v1", "Deployment", rest));
  };
  const char* annotated = R"({"metadata":{"generation":2,"annotations":
      {"resourcetemplate.karmada.io/generation":"3"}},"status":{}})";
  CHECK(json::Write(reflect(annotated).value()) ==
        R"({"generation":2,"resourceTemplateGeneration":3})");
  CHECK(reflect(R"({"metadata":{}})").value().is_null());
  CHECK_FALSE(reflect(R"({"metadata":{},"status":{}})").ok());
  CHECK_FALSE(reflect(R"({"metadata":{},"status":null})").ok());
  CHECK_FALSE(reflect(R"({"metadata":{},"status":"invalid"})").ok());
  const kube::Object beta = ObjectOf("apps/v1beta1", "Deployment", R"({"status":{"x":1}})");
  CHECK(Native().ReflectStatus(beta).value() == beta.status());
}

TEST_CASE("load balancer entries are merged and sorted") {
  const kube::Object service = ObjectOf("v1", "Service", R"({"spec":{"type":"LoadBalancer"},
      "status":{"conditions":[]}})");
  const auto entries = [&](std::vector<std::string> statuses) {
    for (std::string& s : statuses) s = absl::StrCat(R"({"loadBalancer":{"ingress":)", s, "}}");
    return Aggregated(service, Items(statuses));
  };
  CHECK(Aggregated(service, "null") == R"({"loadBalancer":{}})");
  CHECK(entries({R"([{"ip":"1.1.1.1"}])", R"([{"hostname":"hostname-1"}])"}) ==
        R"({"loadBalancer":{"ingress":[{"hostname":"hostname-1"},{"ip":"1.1.1.1"}]}})");
  CHECK(entries({R"([{"ip":"1.1.1.1","ipMode":"VIP"},{"ip":"1.1.1.1"}])",
                 R"([{"ip":"1.1.1.1","ipMode":"Proxy"},{"ip":"1.1.1.1","ipMode":"VIP"}])"}) ==
        R"({"loadBalancer":{"ingress":[{"ip":"1.1.1.1","ipMode":"Proxy"},)"
        R"({"ip":"1.1.1.1","ipMode":"VIP"},{"ip":"1.1.1.1"}]}})");
  CHECK(entries({R"([{"hostname":"h","ports":[{"port":81,"protocol":"TCP"}]}])",
                 R"([{"hostname":"h","ports":[{"port":80,"protocol":"TCP","error":"e1"},
                                              {"port":80,"protocol":"TCP"}]}])"}) ==
        R"({"loadBalancer":{"ingress":[{"hostname":"h","ports":[{"port":80,"protocol":"TCP"},)"
        R"({"error":"e1","port":80,"protocol":"TCP"},{"port":81,"protocol":"TCP"}]}]}})");
}

TEST_CASE("a Job is complete when all members are, failed when one is") {
  const kube::Object job = ObjectOf("batch/v1", "Job", "{}");
  const std::string complete =
      R"({"succeeded":1,"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-02T00:00:00Z",
          "conditions":[{"type":"Complete","status":"True"}]})";
  const std::string failed = R"({"startTime":"2025-12-31T00:00:00Z",
          "conditions":[{"type":"Failed","status":"True"}]})";
  const auto condition = [](absl::string_view type, absl::string_view reason,
                            absl::string_view message) {
    return absl::StrCat(R"({"lastProbeTime":"2026-01-01T00:00:00Z",)",
                        R"("lastTransitionTime":"2026-01-01T00:00:00Z","message":")", message,
                        R"(","reason":")", reason, R"(","status":"True","type":")", type, R"("})");
  };
  CHECK(Aggregated(job, Items({complete, complete})) ==
        absl::StrCat(R"({"completionTime":"2026-01-02T00:00:00Z","conditions":[)",
                     condition("Complete", "Completed", "Job completed"), ",",
                     condition("SuccessCriteriaMet", "CompletionsReached",
                               "All member clusters have met success criteria"),
                     R"(],"startTime":"2026-01-01T00:00:00Z","succeeded":2})"));
  const std::string who = "Job executed failed in member clusters member1,member3";
  CHECK(Aggregated(job, Items({failed, complete, failed})) ==
        absl::StrCat(R"({"conditions":[)", condition("FailureTarget", "JobFailed", who), ",",
                     condition("Failed", "JobFailed", who),
                     R"(],"startTime":"2025-12-31T00:00:00Z","succeeded":1})"));
  CHECK(Aggregated(job, Items({complete, ""})) == R"({"succeeded":1})");
  const kube::Object finished = ObjectOf(
      "batch/v1", "Job", R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})");
  CHECK(Aggregated(finished, Items({complete})) == "same");
}

TEST_CASE("requests are summed the scheduler's way") {
  const kube::Object pod = ObjectOf("v1", "Pod", R"({"spec":{
      "containers":[
        {"resources":{"limits":{"cpu":"1","nvidia.com/gpu":2},"requests":{"memory":"1Gi"}}},
        {"resources":{"requests":{"cpu":"250m","hugepages-2Mi":"4Mi","foo":"3"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"3","ephemeral-storage":"1G"}}}],
      "overhead":{"cpu":"10m"}}})");
  const interpreter::Replicas replicas = Native().GetReplicas(pod).value();
  CHECK(replicas.replicas == 1);
  CHECK(json::Write(replicas.requirements) ==
        R"({"resourceRequest":{"cpu":"3010m","ephemeral-storage":"1000000000",)"
        R"("hugepages-2Mi":"4Mi","memory":"1Gi","nvidia.com/gpu":"2"}})");
}

TEST_CASE("amounts beyond 64 bits stop at the end instead of wrapping") {
  const kube::Object pod = ObjectOf("v1", "Pod", R"({"spec":{"containers":[
      {"resources":{"requests":{"cpu":"9e18"}}},{"resources":{"requests":{"cpu":"9e18"}}}]}})");
  CHECK(Native().GetReplicas(pod).ok());
}

TEST_CASE("a Job wants no more replicas than completions") {
  const auto replicas = [](absl::string_view spec) {
    return Native()
        .GetReplicas(ObjectOf("batch/v1", "Job", absl::StrCat(R"({"spec":)", spec, "}")))
        .value()
        .replicas;
  };
  CHECK(replicas(R"({"parallelism":3})") == 3);
  CHECK(replicas(R"({"parallelism":3,"completions":2})") == 2);
  CHECK(replicas(R"({"completions":2})") == 0);
}

TEST_CASE("an empty node selector is a node claim, none is not") {
  const auto requirements = [](absl::string_view spec) {
    return json::Write(
        Native()
            .GetReplicas(ObjectOf("v1", "Pod", absl::StrCat(R"({"spec":)", spec, "}")))
            .value()
            .requirements);
  };
  CHECK(requirements("{}") == "null");
  CHECK(requirements(R"({"tolerations":[]})") == "null");
  CHECK(requirements(R"({"nodeSelector":{}})") == R"({"nodeClaim":{}})");
}

TEST_CASE("a pod's priority class belongs to other requirements, when it is asked for") {
  const auto requirements = [](bool asked, absl::string_view spec) {
    const auto native = interpreter::NewNativeBackend(base::RealClock(), {.priority_class = asked});
    const kube::Object pod = ObjectOf("v1", "Pod", absl::StrCat(R"({"spec":)", spec, "}"));
    return json::Write(native->GetReplicas(pod).value().requirements);
  };
  CHECK(requirements(true, R"({"nodeSelector":{},"priorityClassName":"high"})") ==
        R"({"nodeClaim":{},"priorityClassName":"high"})");
  CHECK(requirements(false, R"({"nodeSelector":{},"priorityClassName":"high"})") ==
        R"({"nodeClaim":{}})");
  CHECK(requirements(true, R"({"priorityClassName":"high"})") == "null");
  CHECK(requirements(true, R"({"nodeSelector":{},"priorityClassName":""})") ==
        R"({"nodeClaim":{}})");
}

TEST_CASE("replicas are revised only where there are some") {
  const auto revise = [](absl::string_view rest) {
    return Native().ReviseReplica(ObjectOf("apps/v1", "Deployment", rest), 2);
  };
  CHECK(revise(R"({"spec":{"replicas":1}})").value().spec()["replicas"].AsInt() == 2);
  CHECK_FALSE(revise(R"({"spec":{}})").value().spec().Has("replicas"));
  CHECK_FALSE(revise("{}").value().root().Has("spec"));
  CHECK_FALSE(revise(R"({"spec":{"replicas":"1"}})").ok());
}

TEST_CASE("service account references are merged by name") {
  const kube::Object desired =
      ObjectOf("v1", "ServiceAccount", R"({"secrets":[{"name":"b"},{"name":"a"}]})");
  const kube::Object observed =
      ObjectOf("v1", "ServiceAccount",
               R"({"secrets":[{"name":"a"},{"name":"c"}],"imagePullSecrets":[{"name":"p"}]})");
  const kube::Object retained = Native().Retain(desired, observed).value();
  CHECK(json::Write(retained.root()) ==
        R"({"apiVersion":"v1","imagePullSecrets":[{"name":"p"}],"kind":"ServiceAccount",)"
        R"("secrets":[{"name":"b"},{"name":"a"},{"name":"c"}]})");
  const kube::Object plain = ObjectOf("v1", "ServiceAccount", "{}");
  CHECK(Native().Retain(plain, plain).value() == plain);
}

TEST_CASE("a Deployment keeps the member's replicas only when its label says true") {
  const kube::Object observed = ObjectOf("apps/v1", "Deployment", R"({"spec":{"replicas":4}})");
  const auto retained = [&](absl::string_view label, const kube::Object& from) {
    return Native().Retain(ObjectOf("apps/v1", "Deployment",
                                    absl::StrCat(R"({"spec":{"replicas":2},"metadata":{"labels":
                     {"resourcetemplate.karmada.io/retain-replicas":")",
                                                 label, "\"}}}")),
                           from);
  };
  CHECK(retained("true", observed).value().spec()["replicas"].AsInt() == 4);
  CHECK(retained("True", observed).value().spec()["replicas"].AsInt() == 2);
  CHECK_FALSE(retained("true", ObjectOf("apps/v1", "Deployment", R"({"spec":{}})")).ok());
}

TEST_CASE("dependencies come sorted, each once") {
  const kube::Object pod = ObjectOf("v1", "Pod", R"({"metadata":{"namespace":"ns"},"spec":{
      "imagePullSecrets":[{"name":"z"},{"name":"a"}],"serviceAccountName":"sa",
      "initContainers":[{"envFrom":[{"secretRef":{"name":"a"}}]}],
      "volumes":[{"persistentVolumeClaim":{"claimName":"data"},"azureFile":{"secretName":"az"}},
                 {"secret":{"secretName":"later"},"cephfs":{"secretRef":{"name":"first"}}},
                 {"projected":{"sources":[{"configMap":{"name":"cm"}},
                                          {"secret":{"name":"ps"}}]}}]}})");
  std::string names;
  const json::Value dependencies = Native().GetDependencies(pod).value();
  for (const json::Value& d : dependencies.items()) {
    absl::StrAppend(&names, d["kind"].AsString(), "/", d["name"].AsString(), " ");
  }
  CHECK(names ==
        "ConfigMap/cm Secret/a Secret/az Secret/first Secret/ps Secret/z ServiceAccount/sa "
        "PersistentVolumeClaim/data ");
  CHECK(Native().GetDependencies(ObjectOf("v1", "Pod", "{}")).value().is_null());
}
