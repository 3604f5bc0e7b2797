// Fields that the server sets in built-in kinds, and objects that it refuses.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

const kube::Gvr kServices{"", "v1", "services"};
const kube::Gvr kJobs{"batch", "v1", "jobs"};
const kube::Gvr kSecrets{"", "v1", "secrets"};

kube::Object Service(absl::string_view spec) {
  kube::Object o = kube::Object::Make({"", "v1", "Service"}, {"default", "svc"});
  o.Set({"spec"}, *yaml::Parse(spec));
  return o;
}

TEST_CASE("a Deployment gets its defaults") {
  ServerBackend backend(100);
  const auto created = backend.Create(kDeployments, Deployment("web"), false);
  REQUIRE(created.ok());
  CHECK((*created)->spec() == *json::Parse(R"({
    "progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10,
    "selector": {"matchLabels": {"app": "web"}},
    "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}, "type": "RollingUpdate"},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
      "containers": [{"image": "nginx:1.27", "imagePullPolicy": "IfNotPresent", "name": "web",
        "resources": {}, "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File"}],
      "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
      "securityContext": {}, "terminationGracePeriodSeconds": 30}}})"));
  CHECK((*created)->status() == json::Value::Object());
}

TEST_CASE("the schedule and the time zone of a CronJob have to make sense") {
  const auto refusal = [](const char* spec) {
    ServerBackend backend(10);
    kube::Object cron = kube::Object::Make({"batch", "v1", "CronJob"}, {"default", "c"});
    cron.Set({"spec"}, *yaml::Parse(spec));
    cron.Set({"spec", "jobTemplate", "spec", "template", "spec"},
             *yaml::Parse("{restartPolicy: Never, containers: [{name: c, image: i}]}"));
    const absl::Status status = backend.Create({"batch", "v1", "cronjobs"}, cron, true).status();
    return status.ok() ? std::string() : ErrorOf(status).message;
  };
  CHECK(refusal("{schedule: '*/5 * * * *', timeZone: Europe/Berlin}").empty());
  CHECK(refusal("{schedule: '@hourly'}").empty());
  CHECK(absl::StrContains(refusal("{schedule: bogus}"),
                          "spec.schedule: Invalid value: \"bogus\": expected exactly 5 fields"));
  CHECK(absl::StrContains(refusal("{schedule: 'TZ=UTC 0 0 * * *'}"),
                          "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  CHECK(absl::StrContains(refusal("{schedule: '@daily', timeZone: Mars/Olympus}"),
                          "spec.timeZone: Invalid value: \"Mars/Olympus\": unknown time zone"));
}

TEST_CASE("the pull policy follows the image's tag") {
  struct Case {
    const char* image;
    const char* policy;
  };
  const Case cases[] = {{"nginx", "Always"},
                        {"nginx:latest", "Always"},
                        {"nginx:1.27", "IfNotPresent"},
                        {"registry:5000/nginx", "Always"},
                        {"nginx@sha256:0000", "IfNotPresent"}};
  for (const Case& c : cases) {
    json::Value spec = json::Value::Object();
    spec.Set("containers", json::Value::Array({json::Value::Object({{"image", c.image}})}));
    ServerBackend backend(10);
    kube::Object o = Deployment("web");
    o.mutable_root()
        .Mutable(json::Path({"spec", "template", "spec"}))
        .Mutable("containers")
        .MutableAt(0)
        .Set("image", c.image);
    const auto created = backend.Create(kDeployments, o, true);
    REQUIRE(created.ok());
    CHECK(
        (*created)->spec()["template"]["spec"]["containers"].At(0)["imagePullPolicy"].AsString() ==
        c.policy);
  }
}

TEST_CASE("a Deployment that cannot work is refused") {
  ServerBackend backend(100);
  kube::Object mismatch = Deployment("web");
  mismatch.Set({"spec", "selector", "matchLabels", "app"}, "other");
  CHECK(Message(backend.Create(kDeployments, mismatch, false).status()) ==
        "Deployment.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: "
        "{\"app\":\"web\"}: `selector` does not match template `labels`");
  CHECK(Message(backend.Create(kDeployments, Deployment("web", -1), false).status())
            .find("spec.replicas: Invalid value: -1: must be greater than or equal to 0") !=
        std::string::npos);
  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());
  kube::Object moved = Deployment("web");
  moved.Set({"spec", "selector", "matchLabels", "app"}, "new");
  moved.Set({"spec", "template", "metadata", "labels", "app"}, "new");
  const auto refused = backend.Update(kDeployments, moved, "", false);
  CHECK(ErrorOf(refused.status()).code == 422);
  CHECK(Message(refused.status()).find("field is immutable") != std::string::npos);
}

TEST_CASE("where the pods of a Job run may change while it is suspended and has not started") {
  ServerBackend backend(100);
  kube::Object job = kube::Object::Make({"batch", "v1", "Job"}, {"default", "pi"});
  job.Set({"spec"}, *json::Parse(R"({"suspend":true,"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"m","image":"nginx"}]}}})"));
  REQUIRE(backend.Create(kJobs, job, false).ok());
  const auto patch = [&](const std::string& spec) {
    PatchRequest request;
    request.patch = *json::Parse(absl::StrCat("{\"spec\":", spec, "}"));
    return backend.Patch(kJobs, job.key(), request).status();
  };
  const char* move = R"({"template":{"spec":{"nodeSelector":{"pool":"spot"}}}})";
  const char* move_back = R"({"template":{"spec":{"nodeSelector":null}}})";
  CHECK(patch(move).ok());
  CHECK(ErrorOf(patch(R"({"template":{"spec":{"priority":7}}})")).code == 422);
  CHECK(patch(R"({"suspend":false})").ok());
  CHECK(ErrorOf(patch(move_back)).code == 422);
}

TEST_CASE("Services get addresses and keep them") {
  ServerBackend backend(100);
  const auto created = backend.Create(
      kServices, Service("{type: NodePort, ports: [{port: 80}], selector: {app: web}}"), false);
  REQUIRE(created.ok());
  const json::Value& spec = (*created)->spec();
  CHECK(spec["clusterIP"].AsString().substr(0, 6) == "10.96.");
  CHECK(spec["clusterIPs"].At(0) == spec["clusterIP"]);
  CHECK(spec["ipFamilies"] == json::Value::Array({"IPv4"}));
  CHECK(spec["internalTrafficPolicy"].AsString() == "Cluster");
  CHECK(spec["sessionAffinity"].AsString() == "None");
  CHECK(spec["ports"].At(0)["protocol"].AsString() == "TCP");
  CHECK(spec["ports"].At(0)["targetPort"].AsInt() == 80);
  CHECK(spec["ports"].At(0)["nodePort"].AsInt() >= 30000);

  const auto replaced = backend.Update(
      kServices, Service("{type: NodePort, ports: [{port: 80}], selector: {app: new}}"), "", false);
  REQUIRE(replaced.ok());
  CHECK((*replaced)->spec()["clusterIP"] == spec["clusterIP"]);
  CHECK((*replaced)->spec()["ports"] == spec["ports"]);
  CHECK_FALSE((*replaced)->metadata().Has("generation"));
}

// A kube-apiserver allocates addresses and ports before it looks for an object of the name.
TEST_CASE("a Service is refused for what another one has, also when it is created once more") {
  ServerBackend backend(100);
  const char* mine = "{type: NodePort, clusterIP: 10.96.7.7, ports: [{port: 80, nodePort: 30080}]}";
  REQUIRE(backend.Create(kServices, Service(mine), false).ok());
  const auto refused = [&](const char* spec) {
    return ErrorOf(backend.Create(kServices, Service(spec), false).status()).message;
  };
  CHECK(refused(mine) ==
        "Service \"svc\" is invalid: [spec.clusterIPs: Invalid value: []string{\"10.96.7.7\"}: "
        "failed to allocate IP 10.96.7.7: provided IP is already allocated, "
        "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated]");
  CHECK(refused("{type: NodePort, ports: [{port: 80, nodePort: 30080}]}") ==
        "Service \"svc\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port "
        "is already allocated");
  CHECK(absl::StrContains(
      refused("{type: NodePort, ports: [{port: 80, protocol: UDP, nodePort: 30080}]}"),
      "already exists"));
  CHECK(absl::StrContains(refused("{ports: [{port: 80}]}"), "already exists"));
  // What it has itself stays its own.
  CHECK(backend.Update(kServices, Service(mine), "", false).ok());
}

TEST_CASE("a headless Service stays headless") {
  ServerBackend backend(100);
  const auto created =
      backend.Create(kServices, Service("{clusterIP: None, ports: [{port: 80}]}"), false);
  REQUIRE(created.ok());
  CHECK((*created)->spec()["clusterIP"].AsString() == "None");
}

TEST_CASE("a Job gets defaults and a selector of its own pods") {
  ServerBackend backend(100);
  kube::Object job = FromYaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: pi, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: pi, image: perl}]}}}
)");
  const auto created = backend.Create(kJobs, job, false);
  REQUIRE(created.ok());
  const json::Value& spec = (*created)->spec();
  CHECK(spec["parallelism"].AsInt() == 1);
  CHECK(spec["completions"].AsInt() == 1);
  CHECK(spec["backoffLimit"].AsInt() == 6);
  CHECK(spec["completionMode"].AsString() == "NonIndexed");
  CHECK(spec["suspend"] == json::Value(false));
  const std::string uid((*created)->uid());
  CHECK(spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"].AsString() == uid);
  const json::Value& labels = spec["template"]["metadata"]["labels"];
  CHECK(labels["controller-uid"].AsString() == uid);
  CHECK(labels["job-name"].AsString() == "pi");

  job.Set({"metadata", "name"}, "bad");
  job.Set({"spec", "template", "spec", "restartPolicy"}, "Always");
  CHECK(ErrorOf(backend.Create(kJobs, job, false).status()).code == 422);
  // Old clients expect the pods of a deleted Job to stay.
  const auto left = backend.Delete(kJobs, {"default", "pi"}, {});
  REQUIRE(left.ok());
  REQUIRE(*left != nullptr);
  CHECK((*left)->HasFinalizer("orphan"));
}

kube::Object SelectingJob(const std::string& spec) {
  kube::Object job = FromYaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: pi, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: pi, image: perl}]}}}
)");
  const json::Value members = *yaml::Parse(spec);
  for (const json::Member& member : members.members()) {
    json::Value& at = job.mutable_root().Mutable("spec");
    if (member.name() == "labels") {
      at.Set({"template", "metadata", "labels"}, member.value);
    } else {
      at.Set(member.name(), member.value);
    }
  }
  return job;
}

TEST_CASE("the selector of a Job is completed unless it is chosen by hand") {
  for (const char* spec : {"{selector: {}}", "{selector: {matchLabels: {}}}"}) {
    INFO(spec);
    ServerBackend backend(100);
    const auto created = backend.Create(kJobs, SelectingJob(spec), false);
    REQUIRE(created.ok());
    CHECK((*created)->spec()["selector"] ==
          json::Value::Object(
              {{"matchLabels", json::Value::Object({{"batch.kubernetes.io/controller-uid",
                                                     std::string((*created)->uid())}})}}));
  }
  ServerBackend backend(100);
  const auto by_hand = backend.Create(
      kJobs,
      SelectingJob("{manualSelector: true, selector: {matchLabels: {a: b}}, labels: {a: b}}"),
      false);
  REQUIRE(by_hand.ok());
  CHECK((*by_hand)->spec()["selector"]["matchLabels"] == json::Value::Object({{"a", "b"}}));
  CHECK((*by_hand)->spec().Get({"template", "metadata", "labels"}) ==
        json::Value::Object({{"a", "b"}}));
}

TEST_CASE("a Job that could take the pods of others is refused") {
  struct Case {
    const char* spec;
    const char* why;
  };
  const Case cases[] = {
      {"{selector: {matchLabels: {a: b}}}", "`selector` not auto-generated"},
      {"{selector: {matchLabels: {batch.kubernetes.io/controller-uid: other}}}",
       "`selector` not auto-generated"},
      {"{labels: {controller-uid: other}}", "spec.template.metadata.labels[controller-uid]"},
      {"{labels: {batch.kubernetes.io/job-name: other}}",
       "spec.template.metadata.labels[batch.kubernetes.io/job-name]"},
      {"{manualSelector: true}", "spec.selector: Required value"},
      {"{manualSelector: true, selector: {matchLabels: {a: b}}}",
       "`selector` does not match template `labels`"},
  };
  for (const Case& c : cases) {
    INFO(c.spec);
    ServerBackend backend(100);
    const absl::Status refused = backend.Create(kJobs, SelectingJob(c.spec), false).status();
    CHECK(ErrorOf(refused).code == 422);
    INFO(Message(refused));
    CHECK(Message(refused).find(c.why) != std::string::npos);
  }
}

TEST_CASE("a pod's quality of service follows its requests and limits") {
  struct Case {
    const char* resources;
    const char* qos;
  };
  const Case cases[] = {
      {"{}", "BestEffort"},
      {"{requests: {cpu: 100m}}", "Burstable"},
      {"{limits: {cpu: 100m}}", "Burstable"},
      {"{limits: {cpu: 100m, memory: 1Gi}}", "Guaranteed"},
      {"{requests: {cpu: 50m}, limits: {cpu: 100m, memory: 1Gi}}", "Burstable"},
      {"{requests: {cpu: 0.1, memory: 1024Mi}, limits: {cpu: 100m, memory: 1Gi}}", "Guaranteed"},
  };
  for (const Case& c : cases) {
    INFO(c.resources);
    ServerBackend backend(100);
    const auto created =
        backend.Create({"", "v1", "pods"},
                       FromYaml(absl::StrCat(
                           "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, "
                           "spec: {containers: [{name: c, image: i, resources: ",
                           c.resources, "}]}}")),
                       false);
    REQUIRE(created.ok());
    CHECK((*created)->status()["qosClass"].AsString() == c.qos);
  }
}

TEST_CASE("a Secret is Opaque and folds stringData") {
  ServerBackend backend(100);
  kube::Object secret = kube::Object::Make({"", "v1", "Secret"}, {"default", "s"});
  secret.Set({"stringData", "password"}, "hunter2");
  const auto created = backend.Create(kSecrets, secret, false);
  REQUIRE(created.ok());
  CHECK((*created)->root()["type"].AsString() == "Opaque");
  CHECK((*created)->root()["data"]["password"].AsString() == "aHVudGVyMg==");
  CHECK_FALSE((*created)->root().Has("stringData"));
  secret.Set({"data", "raw"}, "not base64!");
  CHECK(ErrorOf(backend.Update(kSecrets, secret, "", false).status()).code == 400);
}

TEST_CASE("nulls and empty managedFields of built-in kinds are dropped") {
  ServerBackend backend(100);
  kube::Object o = ConfigMap("a");
  o.Set({"metadata", "creationTimestamp"}, nullptr);
  o.Set({"metadata", "managedFields"}, json::Value::Array({json::Value::Object()}));
  o.Set({"metadata", "labels"}, json::Value::Object());
  const auto created = backend.Create(kConfigMaps, o, false);
  REQUIRE(created.ok());
  CHECK((*created)->metadata()["managedFields"].size() == 1);
  CHECK((*created)->metadata()["managedFields"].At(0)["operation"].AsString() == "Update");
  CHECK_FALSE((*created)->metadata().Has("labels"));
}

TEST_CASE("a namespace lives, terminates and is finalized") {
  ServerBackend backend(100);
  const kube::Object wanted = kube::Object::Make({"", "v1", "Namespace"}, {"", "team"});
  const auto created = backend.Create(kNamespaces, wanted, false);
  REQUIRE(created.ok());
  CHECK((*created)->status()["phase"].AsString() == "Active");
  CHECK((*created)->spec()["finalizers"] == json::Value::Array({"kubernetes"}));
  CHECK((*created)->Label("kubernetes.io/metadata.name") == "team");

  const auto terminating = backend.Delete(kNamespaces, {"", "team"}, {});
  REQUIRE(terminating.ok());
  REQUIRE(*terminating != nullptr);
  CHECK((*terminating)->status()["phase"].AsString() == "Terminating");
  kube::Object late = ConfigMap("late");
  late.Set({"metadata", "namespace"}, "team");
  const auto refused = backend.Create(kConfigMaps, late, false);
  CHECK(ErrorOf(refused.status()).code == 403);
  CHECK(Message(refused.status()) ==
        "configmaps \"late\" is forbidden: unable to create new content in namespace team because "
        "it is being terminated");
  CHECK(ErrorOf(refused.status()).details["causes"].At(0)["reason"].AsString() ==
        "NamespaceTerminating");

  // spec.finalizers cannot be changed by an ordinary update.
  kube::Object ns = **terminating;
  ns.Set({"spec", "finalizers"}, json::Value::Array());
  REQUIRE(backend.Update(kNamespaces, ns, "", false).ok());
  REQUIRE(backend.Get(kNamespaces, {"", "team"}).ok());
  REQUIRE(backend.Update(kNamespaces, ns, "finalize", false).ok());
  CHECK(absl::IsNotFound(backend.Get(kNamespaces, {"", "team"}).status()));
}

TEST_CASE("the namespaces every cluster has cannot be deleted") {
  ServerBackend backend(100);
  const auto refused = backend.Delete(kNamespaces, {"", "kube-system"}, {});
  CHECK(ErrorOf(refused.status()).code == 403);
  CHECK(Message(refused.status()) ==
        "namespaces \"kube-system\" is forbidden: this namespace may not be deleted");
}

TEST_CASE("leases are created by PUT and demand a resourceVersion afterwards") {
  ServerBackend backend(100);
  const kube::Gvr leases{"coordination.k8s.io", "v1", "leases"};
  kube::Object lease =
      kube::Object::Make({"coordination.k8s.io", "v1", "Lease"}, {"default", "leader"});
  lease.Set({"spec", "holderIdentity"}, "me");
  REQUIRE(backend.Update(leases, lease, "", false).ok());
  const ApiError refused = ErrorOf(backend.Update(leases, lease, "", false).status());
  CHECK(refused.code == 422);
  CHECK(json::Write(refused.details) ==
        R"({"causes":[{"field":"metadata.resourceVersion",)"
        R"("message":"Invalid value: 0x0: must be specified for an update",)"
        R"("reason":"FieldValueInvalid"}],)"
        R"("group":"coordination.k8s.io","kind":"leases","name":"leader"})");
}

TEST_CASE("events of both groups are one and the same") {
  ServerBackend backend(100);
  kube::Object event = FromYaml(R"(
apiVersion: v1
kind: Event
metadata: {name: e, namespace: default}
message: hello
involvedObject: {kind: Pod, name: p}
reason: Test
)");
  REQUIRE(backend.Create({"", "v1", "events"}, event, false).ok());
  const auto seen = backend.Get({"events.k8s.io", "v1", "events"}, {"default", "e"});
  REQUIRE(seen.ok());
  CHECK((*seen)->api_version() == "events.k8s.io/v1");
  CHECK((*seen)->root()["note"].AsString() == "hello");
  CHECK((*seen)->root()["regarding"]["name"].AsString() == "p");
}

}  // namespace
}  // namespace sandbox
