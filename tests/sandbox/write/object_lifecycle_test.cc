// Creation, update and deletion, which are the same for every kind.
#include <catch2/catch.hpp>

#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

TEST_CASE("a created object gets its identity from the server") {
  ServerBackend backend(100);
  kube::Object wanted = Deployment("web");
  wanted.Set({"metadata", "uid"}, "mine");
  wanted.Set({"metadata", "generation"}, 7);
  const auto created = backend.Create(kDeployments, wanted, false);
  REQUIRE(created.ok());
  CHECK((*created)->uid().size() == 36);
  CHECK((*created)->generation() == 1);
  CHECK_FALSE((*created)->resource_version().empty());
  CHECK_FALSE((*created)->metadata()["creationTimestamp"].AsString().empty());
}

TEST_CASE("kinds without generations do not get one") {
  ServerBackend backend(100);
  const auto created = backend.Create(kConfigMaps, ConfigMap("a"), false);
  REQUIRE(created.ok());
  CHECK_FALSE((*created)->metadata().Has("generation"));
}

TEST_CASE("resourceVersions grow over all resources of a server") {
  ServerBackend backend(100);
  const auto a = backend.Create(kConfigMaps, ConfigMap("a"), false);
  const auto b = backend.Create(kDeployments, Deployment("b"), false);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(kube::ResourceVersionOf(**b) == kube::ResourceVersionOf(**a) + 1);
}

TEST_CASE("generateName gives different names with the prefix") {
  ServerBackend backend(100);
  kube::Object o = ConfigMap("");
  o.Erase({"metadata", "name"});
  o.Set({"metadata", "generateName"}, "run-");
  const auto a = backend.Create(kConfigMaps, o, false);
  const auto b = backend.Create(kConfigMaps, o, false);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK((*a)->name().substr(0, 4) == "run-");
  CHECK((*a)->name().size() == 9);
  CHECK((*a)->name() != (*b)->name());
}

TEST_CASE("errors of writes have the words of a kube-apiserver") {
  ServerBackend backend(100);
  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());

  const auto again = backend.Create(kDeployments, Deployment("web"), false);
  CHECK(ErrorOf(again.status()).code == 409);
  CHECK(ErrorOf(again.status()).reason == "AlreadyExists");
  CHECK(Message(again.status()) == "deployments.apps \"web\" already exists");

  const auto missing = backend.Get(kDeployments, {"default", "nope"});
  CHECK(ErrorOf(missing.status()).code == 404);
  CHECK(Message(missing.status()) == "deployments.apps \"nope\" not found");
  CHECK(ErrorOf(missing.status()).details["kind"].AsString() == "deployments");

  const auto nowhere = backend.Get({"nobody.io", "v1", "things"}, {"", "x"});
  CHECK(ErrorOf(nowhere.status()).code == 404);
  CHECK(Message(nowhere.status()) == "the server could not find the requested resource");

  kube::Object other_ns = ConfigMap("x");
  other_ns.Set({"metadata", "namespace"}, "elsewhere");
  const auto no_namespace = backend.Create(kConfigMaps, other_ns, false);
  CHECK(ErrorOf(no_namespace.status()).code == 404);
  CHECK(Message(no_namespace.status()) == "namespaces \"elsewhere\" not found");

  kube::Object with_version = ConfigMap("y");
  with_version.Set({"metadata", "resourceVersion"}, "5");
  CHECK(Message(backend.Create(kConfigMaps, with_version, false).status()) ==
        "resourceVersion should not be set on objects to be created");
}

TEST_CASE("a write with an old resourceVersion conflicts") {
  ServerBackend backend(100);
  const auto first = backend.Create(kDeployments, Deployment("web"), false);
  REQUIRE(first.ok());
  kube::Object changed = **first;
  changed.Set({"spec", "replicas"}, 2);
  REQUIRE(backend.Update(kDeployments, changed, "", false).ok());
  changed.Set({"spec", "replicas"}, 3);
  const auto stale = backend.Update(kDeployments, changed, "", false);
  CHECK(ErrorOf(stale.status()).reason == "Conflict");
  CHECK(Message(stale.status()) ==
        "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; "
        "please apply your changes to the latest version and try again");
  changed.Erase({"metadata", "resourceVersion"});
  CHECK(backend.Update(kDeployments, changed, "", false).ok());
}

TEST_CASE("generation follows the spec, not metadata or status") {
  ServerBackend backend(100);
  kube::Object o = **backend.Create(kDeployments, Deployment("web"), false);
  o.SetLabel("a", "b");
  o = **backend.Update(kDeployments, o, "", false);
  CHECK(o.generation() == 1);
  o.Set({"spec", "replicas"}, 4);
  o = **backend.Update(kDeployments, o, "", false);
  CHECK(o.generation() == 2);
  o.Set({"status", "replicas"}, 4);
  o = **backend.Update(kDeployments, o, "status", false);
  CHECK(o.generation() == 2);
  CHECK(o.status()["replicas"].AsInt() == 4);
}

TEST_CASE("a write that changes nothing keeps the resourceVersion and notifies nobody") {
  ServerBackend backend(100);
  const auto created = backend.Create(kDeployments, Deployment("web"), false);
  REQUIRE(created.ok());
  int events = 0;
  const int64_t id = backend.Subscribe(kDeployments, [&](const Event&) { ++events; });
  CHECK(events == 1);
  // The object has no defaults and no resourceVersion, as kubectl replace sends it.
  const auto same = backend.Update(kDeployments, Deployment("web"), "", false);
  REQUIRE(same.ok());
  CHECK((*same)->resource_version() == (*created)->resource_version());
  CHECK(events == 1);
  backend.Unsubscribe(id);
}

TEST_CASE("metadata that belongs to the server cannot be changed") {
  ServerBackend backend(100);
  const kube::Object created = **backend.Create(kConfigMaps, ConfigMap("a"), false);
  kube::Object o = created;
  o.Set({"metadata", "creationTimestamp"}, "2001-01-01T00:00:00Z");
  o.Set({"metadata", "generation"}, 9);
  o.Set({"data", "key"}, "2");
  const auto updated = backend.Update(kConfigMaps, o, "", false);
  REQUIRE(updated.ok());
  CHECK((*updated)->metadata()["creationTimestamp"] == created.metadata()["creationTimestamp"]);
  CHECK_FALSE((*updated)->metadata().Has("generation"));

  o = **updated;
  o.Set({"metadata", "uid"}, "other");
  const auto refused = backend.Update(kConfigMaps, o, "", false);
  CHECK(ErrorOf(refused.status()).code == 409);
  CHECK(Message(refused.status()).find("Precondition failed: UID in precondition: other") !=
        std::string::npos);
}

TEST_CASE("a deleted object stays until its last finalizer is gone") {
  ServerBackend backend(100);
  kube::Object o = Deployment("web");
  o.AddFinalizer("example.com/guard");
  REQUIRE(backend.Create(kDeployments, o, false).ok());
  const auto waiting = backend.Delete(kDeployments, {"default", "web"}, {});
  REQUIRE(waiting.ok());
  REQUIRE(*waiting != nullptr);
  CHECK((*waiting)->IsDeleting());
  CHECK((*waiting)->metadata()["deletionGracePeriodSeconds"] == json::Value(0));
  CHECK((*waiting)->generation() == 2);

  kube::Object more = **waiting;
  more.AddFinalizer("example.com/late");
  const auto refused = backend.Update(kDeployments, more, "", false);
  CHECK(ErrorOf(refused.status()).code == 422);
  CHECK(Message(refused.status())
            .find("no new finalizers can be added if the object is being "
                  "deleted, found new finalizers []string{\"example.com/late\"}") !=
        std::string::npos);

  // A second deletion changes nothing.
  const auto again = backend.Delete(kDeployments, {"default", "web"}, {});
  REQUIRE(again.ok());
  CHECK((*again)->resource_version() == (*waiting)->resource_version());

  kube::Object free = **waiting;
  free.RemoveFinalizer("example.com/guard");
  REQUIRE(backend.Update(kDeployments, free, "", false).ok());
  CHECK(absl::IsNotFound(backend.Get(kDeployments, {"default", "web"}).status()));
}

TEST_CASE("propagation policies become finalizers for the garbage collector") {
  ServerBackend backend(100);
  struct Case {
    const char* policy;
    const char* finalizer;
  };
  for (const Case& c : {Case{"Orphan", "orphan"}, Case{"Foreground", "foregroundDeletion"}}) {
    REQUIRE(backend
                .Create(kDeployments, Deployment(c.finalizer == std::string("orphan") ? "a" : "b"),
                        false)
                .ok());
    const std::string name = c.finalizer == std::string("orphan") ? "a" : "b";
    const auto left = backend.Delete(kDeployments, {"default", name}, {.propagation = c.policy});
    REQUIRE(left.ok());
    REQUIRE(*left != nullptr);
    CHECK((*left)->HasFinalizer(c.finalizer));
  }
}

TEST_CASE("deletion honours preconditions") {
  ServerBackend backend(100);
  const auto created = backend.Create(kConfigMaps, ConfigMap("a"), false);
  REQUIRE(created.ok());
  const kube::ObjectKey key{"default", "a"};
  CHECK(ErrorOf(backend.Delete(kConfigMaps, key, {.uid = "x"}).status()).reason == "Conflict");
  CHECK(ErrorOf(backend.Delete(kConfigMaps, key, {.resource_version = "1"}).status()).reason ==
        "Conflict");
  const auto gone = backend.Delete(kConfigMaps, key, {.uid = std::string((*created)->uid())});
  REQUIRE(gone.ok());
  CHECK(*gone == nullptr);
}

TEST_CASE("dry runs answer as if and change nothing") {
  ServerBackend backend(100);
  const auto tried = backend.Create(kDeployments, Deployment("web"), true);
  REQUIRE(tried.ok());
  CHECK((*tried)->spec()["revisionHistoryLimit"].AsInt() == 10);
  CHECK(absl::IsNotFound(backend.Get(kDeployments, {"default", "web"}).status()));

  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());
  CHECK(ErrorOf(backend.Create(kDeployments, Deployment("web"), true).status()).reason ==
        "AlreadyExists");
  const auto updated = backend.Update(kDeployments, Deployment("web", 5), "", true);
  REQUIRE(updated.ok());
  CHECK((*updated)->spec()["replicas"].AsInt() == 5);
  CHECK((*backend.Get(kDeployments, {"default", "web"}))->spec()["replicas"].AsInt() == 1);
  REQUIRE(backend.Delete(kDeployments, {"default", "web"}, {.dry_run = true}).ok());
  CHECK(backend.Get(kDeployments, {"default", "web"}).ok());
}

TEST_CASE("admission may change an object or refuse it") {
  ServerBackend backend(100);
  backend.AddAdmission([](const AdmissionRequest& request, kube::Object& object) {
    if (request.resource.gvk.kind != "ConfigMap") return absl::OkStatus();
    if (object.name() == "bad") return ToStatus({403, "Forbidden", "not this one", {}});
    object.SetLabel("seen", request.verb);
    return absl::OkStatus();
  });
  const auto created = backend.Create(kConfigMaps, ConfigMap("a"), false);
  REQUIRE(created.ok());
  CHECK((*created)->Label("seen") == "CREATE");
  CHECK(Message(backend.Create(kConfigMaps, ConfigMap("bad"), false).status()) == "not this one");
}

TEST_CASE("bad names, labels and owners are refused with their field") {
  ServerBackend backend(100);
  struct Case {
    const char* change;
    const char* field;
  };
  const Case cases[] = {
      {R"({"metadata":{"name":"Bad_Name"}})", "metadata.name"},
      {R"({"metadata":{"labels":{"a b":"c"}}})", "metadata.labels"},
      {R"({"metadata":{"labels":{"a":"c d"}}})", "metadata.labels"},
      {R"({"metadata":{"annotations":{"a b":"c"}}})", "metadata.annotations"},
      {R"({"metadata":{"ownerReferences":[{"kind":"X","name":"x","uid":"1"}]}})",
       "metadata.ownerReferences[0].apiVersion"},
      {R"({"data":{"bad key":"1"}})", "data[bad key]"},
  };
  for (const Case& c : cases) {
    const kube::Object merged(
        kube::ApplyMergePatch(ConfigMap("good").root(), *json::Parse(c.change)));
    const auto refused = backend.Create(kConfigMaps, merged, false);
    INFO(c.change);
    CHECK(ErrorOf(refused.status()).code == 422);
    CHECK(ErrorOf(refused.status()).details["causes"].At(0)["field"].AsString() == c.field);
  }
}

}  // namespace
}  // namespace sandbox
