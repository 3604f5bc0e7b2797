#include <catch2/catch.hpp>

#include "interpreter/interpreter.h"

namespace {

std::string Pruned(const char* text) {
  kube::Object manifest(json::Parse(text).value());
  interpreter::Prune(manifest);
  return json::Write(manifest.root());
}

}  // namespace

TEST_CASE("what a server fills in is pruned from any kind") {
  CHECK(Pruned(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"v"},"metadata":{
        "name":"c","namespace":"ns","labels":{"a":"b"},"annotations":{"x":"y"},
        "creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds":0,"generation":2,"managedFields":[],"resourceVersion":"7",
        "selfLink":"/x","uid":"u","ownerReferences":[],"finalizers":["f"]},"status":{"a":1}})") ==
        R"({"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"annotations":)"
        R"({"x":"y"},"labels":{"a":"b"},"name":"c","namespace":"ns"}})");
}

TEST_CASE("what a cluster decides is pruned per kind") {
  struct Case {
    const char *before, *after;
  };
  const Case cases[] = {
      {R"({"kind":"Deployment","metadata":{"annotations":{"deployment.kubernetes.io/revision":"1",
           "deployment.kubernetes.io/revision-history":"1","keep":"me"}}})",
       R"({"kind":"Deployment","metadata":{"annotations":{"keep":"me"}}})"},
      {R"({"kind":"Service","spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"type":"x"}})",
       R"({"kind":"Service","spec":{"type":"x"}})"},
      {R"({"kind":"Service","spec":{"clusterIP":"None","clusterIPs":["None"]}})",
       R"({"kind":"Service","spec":{"clusterIP":"None","clusterIPs":["None"]}})"},
      {R"({"kind":"Secret","type":"Opaque","data":{"k":"dg=="}})",
       R"({"data":{"k":"dg=="},"kind":"Secret","type":"Opaque"})"},
      {R"({"kind":"Secret","type":"kubernetes.io/service-account-token","data":{"token":"dg=="},
           "metadata":{"annotations":{"kubernetes.io/service-account.uid":"u","a":"b"}}})",
       R"({"data":null,"kind":"Secret","metadata":{"annotations":{"a":"b"}},)"
       R"("type":"kubernetes.io/service-account-token"})"},
      {R"({"kind":"ServiceAccount","metadata":{"name":"sa"},
           "secrets":[{"name":"sa-token-a"},{"name":"sa-token-b"},{"name":"mine"}]})",
       R"({"kind":"ServiceAccount","metadata":{"name":"sa"},"secrets":[{"name":"mine"}]})"},
      {R"({"kind":"PersistentVolumeClaim","metadata":{"annotations":{
           "volume.kubernetes.io/selected-node":"n","a":"b"}}})",
       R"({"kind":"PersistentVolumeClaim","metadata":{"annotations":{"a":"b"}}})"},
      {R"({"kind":"Job","spec":{"ttlSecondsAfterFinished":1,"completions":2,
           "selector":{"matchLabels":{"controller-uid":"u",
                                     "batch.kubernetes.io/controller-uid":"u"}},
           "template":{"metadata":{"labels":{"job-name":"j","batch.kubernetes.io/job-name":"j",
             "controller-uid":"u","batch.kubernetes.io/controller-uid":"u","app":"x"}}}}})",
       R"({"kind":"Job","spec":{"completions":2,"selector":{"matchLabels":{}},)"
       R"("template":{"metadata":{"labels":{"app":"x"}}}}})"},
      {R"({"kind":"Job","spec":{"ttlSecondsAfterFinished":1,"manualSelector":true,
           "selector":{"matchLabels":{"controller-uid":"u"}}}})",
       R"({"kind":"Job","spec":{"manualSelector":true,)"
       R"("selector":{"matchLabels":{"controller-uid":"u"}}}})"},
  };
  for (const Case& c : cases) {
    INFO(c.before);
    CHECK(Pruned(c.before) == c.after);
  }
}

TEST_CASE("pruning changes no copy of the manifest") {
  const kube::Object before(json::Parse(R"({"kind":"A","metadata":{"uid":"u"}})").value());
  kube::Object copy = before;
  interpreter::Prune(copy);
  CHECK(before.uid() == "u");
  CHECK(copy.uid().empty());
}

TEST_CASE("what lets a member delete a finished object is pruned, from these kinds alone") {
  CHECK(Pruned(R"({"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow",
                   "spec":{"entrypoint":"m","ttlStrategy":{"secondsAfterCompletion":9}}})") ==
        R"({"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","spec":{"entrypoint":"m"}})");
  CHECK(
      Pruned(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",
                   "spec":{"runPolicy":{"suspend":true,"ttlSecondsAfterFinished":9}}})") ==
      R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","spec":{"runPolicy":{"suspend":true}}})");
  CHECK(
      Pruned(R"({"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication",
                   "spec":{"timeToLiveSeconds":9,"type":"Scala"}})") ==
      R"({"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","spec":{"type":"Scala"}})");
  const char kOther[] =
      R"({"apiVersion":"example.io/v1","kind":"Workflow","spec":{"ttlStrategy":{"x":1}}})";
  CHECK(Pruned(kOther) == kOther);
}
