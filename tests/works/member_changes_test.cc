// Which changes of a member's objects are drift, by each of the two rules, and whose Works are
// queued then.
#include "works/member_changes.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/members_fixture.h"
#include "works/member_objects.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::kDeployments;
using works::ApplyResult;
using works::MemberChanges;
using works::Repairs;

// Returns the manifest of a Deployment whose Work has its name.
kube::Object Manifest(const std::string& name) {
  kube::Object object = kube::Object::Make(kDeployments.gvk, {"ns", name});
  object.SetLabel(api::kManagedLabel, api::kManagedValue);
  object.SetAnnotation(api::kWorkNamespaceAnnotation, "karmada-es-m1");
  object.SetAnnotation(api::kWorkNameAnnotation, name);
  object.Set({"metadata", "generation"}, 1);
  object.Set({"spec"}, Json(R"({"replicas": 1})"));
  return object;
}

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  kube::WorkQueue queue{{.name = "execution"}, clock};

  explicit Fixture(Repairs repairs) : MembersFixture(repairs) { objects.QueueRepairsInto(queue); }
  // The members' handlers use the queue, so they are removed first.
  ~Fixture() override { members.Remove("m1"); }

  void Apply(const std::string& name) {
    REQUIRE(objects.InformerFor("m1", kDeployments.gvk, {})
                .value()
                ->WaitForSync(base::SteadyTime::InfiniteFuture(), {})
                .ok());
    REQUIRE(objects.Apply("m1", Manifest(name), {}).ok());
  }
  // Changes the object as a client in the member would.
  void Change(const std::string& name, json::Path path, json::Value value) {
    kube::Object object = m1.Find(kDeployments, {"ns", name});
    object.Set(path, std::move(value));
    m1.Put(kDeployments, object);
  }
  // Returns the names of the Works in the queue, when it has come to what was done until now.
  std::string Queued() {
    static int fences = 0;
    const std::string fence = "fence" + std::to_string(++fences);
    Apply(fence);
    m1.Erase(kDeployments, {"ns", fence});
    std::string names;
    for (;;) {
      if (!Eventually([&] { return queue.size() > 0; })) return "nothing";
      const auto taken = queue.Get();
      queue.Done(taken->request);
      CHECK(taken->request == kube::Request{.key = {"karmada-es-m1", taken->request.key.name}});
      if (taken->request.key.name == fence) return names;
      names += taken->request.key.name + " ";
    }
  }
};
struct ByWork : Fixture {
  ByWork() : Fixture(Repairs::kByWork) {}
};
struct ByObject : Fixture {
  ByObject() : Fixture(Repairs::kByObject) {}
};

TEST_CASE_METHOD(ByWork, "a Work is queued when somebody changes the content of its object") {
  Apply("a");
  CHECK(Queued() == "");  // What we have written ourselves is no reason.
  SECTION("a field") { Change("a", {"spec", "replicas"}, 7); }
  SECTION("a label") { Change("a", {"metadata", "labels", "theirs"}, "x"); }
  SECTION("an annotation") { Change("a", {"metadata", "annotations", "theirs"}, "x"); }
  SECTION("the annotation that names the Work") {
    Change("a", {"metadata", "annotations", api::kWorkNameAnnotation}, "other");
  }
  CHECK(Queued() == "a ");
}

TEST_CASE_METHOD(ByWork, "what no manifest has is not compared") {
  Apply("a");
  SECTION("status") { Change("a", {"status", "replicas"}, 1); }
  SECTION("generation") { Change("a", {"metadata", "generation"}, 2); }
  SECTION("revision") {
    Change("a", {"metadata", "annotations", "deployment.kubernetes.io/revision"}, "2");
  }
  SECTION("finalizers") { Change("a", {"metadata", "finalizers"}, Json(R"(["example.com/f"])")); }
  CHECK(Queued() == "");
}

TEST_CASE_METHOD(ByWork, "what we put back ourselves is not queued again") {
  Apply("a");
  Change("a", {"spec", "replicas"}, 7);
  CHECK(Queued() == "a ");
  REQUIRE(objects.Apply("m1", Manifest("a"), {}).value() == ApplyResult::kUpdated);
  CHECK(Queued() == "");
}

TEST_CASE_METHOD(ByWork, "nothing is queued before the first pass over an object") {
  m1.Put(kDeployments, Manifest("a"));
  Apply("other");
  Change("a", {"spec", "replicas"}, 7);
  CHECK(Queued() == "");
  Apply("a");
  Change("a", {"spec", "replicas"}, 8);
  CHECK(Queued() == "a ");
}

TEST_CASE_METHOD(ByWork, "an object that is deleted or loses its label has its Work queued") {
  Apply("a");
  SECTION("deleted") { m1.Erase(kDeployments, {"ns", "a"}); }
  SECTION("without its label") {
    kube::Object object = m1.Find(kDeployments, {"ns", "a"});
    object.EraseLabel(api::kManagedLabel);
    m1.Put(kDeployments, object);
  }
  CHECK(Queued() == "a ");
}

TEST_CASE_METHOD(ByWork, "objects of another cluster's Work are left alone") {
  kube::Object object = Manifest("a");
  object.SetAnnotation(api::kWorkNamespaceAnnotation, "karmada-es-m2");
  m1.Put(kDeployments, object);
  Apply("other");
  m1.Erase(kDeployments, {"ns", "a"});
  CHECK(Queued() == "");
}

TEST_CASE_METHOD(ByWork, "what has drifted is told until it has been put back") {
  Apply("a");
  CHECK(objects.FindDrifted("m1", Manifest("a"), {}) == nullptr);
  Change("a", {"spec", "replicas"}, 7);
  CHECK(Queued() == "a ");
  m1.FailNext("PATCH", 409, "Conflict");
  CHECK(absl::IsAborted(objects.Apply("m1", Manifest("a"), {}).status()));
  const kube::ObjectPtr drifted = objects.FindDrifted("m1", Manifest("a"), {});
  REQUIRE(drifted != nullptr);
  CHECK(drifted->spec()["replicas"].AsInt() == 7);
  REQUIRE(objects.Apply("m1", Manifest("a"), {}).value() == ApplyResult::kUpdated);
  CHECK(objects.FindDrifted("m1", Manifest("a"), {}) == nullptr);
}

TEST_CASE_METHOD(ByWork, "an informer of a member that is connected again is followed, too") {
  Apply("a");
  members.Remove("m1");
  Apply("a");
  m1.Erase(kDeployments, {"ns", "a"});
  CHECK(Queued() == "a ");
}

TEST_CASE_METHOD(ByObject, "no Work is queued where the work-status loop repairs") {
  Apply("a");
  Change("a", {"spec", "replicas"}, 7);
  const auto replicas = [&] {
    const auto found = objects.Find("m1", Manifest("a"), {});
    return found.ok() && *found != nullptr ? (*found)->spec()["replicas"].AsInt() : 0;
  };
  REQUIRE(Eventually([&] { return replicas() == 7; }));
  m1.Erase(kDeployments, {"ns", "a"});
  REQUIRE(Eventually([&] { return replicas() == 0; }));
  CHECK(queue.size() == 0);
  CHECK(objects.FindDrifted("m1", Manifest("a"), {}) == nullptr);
}

// The events of an informer, one by one.
struct Attempts : ByWork {
  MemberChanges changes{Repairs::kByWork};
  std::shared_ptr<kube::Informer> informer =
      objects.InformerFor("m1", kDeployments.gvk, {}).value();
  const MemberChanges::Object object{"m1", kDeployments.gvk, {"ns", "a"}};

  Attempts() {
    changes.QueueWorksInto(queue);
    changes.Follow("m1", informer);
  }
  // Puts it into the member, and waits until the handlers have been told.
  kube::ObjectPtr Put(int replicas, const char* status) {
    kube::Object changed = Manifest("a");
    changed.Set({"spec", "replicas"}, replicas);
    changed.Set({"status", "text"}, status);
    const kube::ObjectPtr stored = kube::Share(m1.Put(kDeployments, changed));
    REQUIRE(Eventually([&] {
      const kube::ObjectPtr held = informer->store().Find(stored->key());
      return held != nullptr && held->resource_version() == stored->resource_version();
    }));
    informer->RemoveHandler(informer->AddHandler({}));
    return stored;
  }
};

TEST_CASE_METHOD(Attempts, "what others change during our write is noticed at its end") {
  {
    const MemberChanges::Attempt attempt(changes, object);
    const kube::ObjectPtr written = Put(1, "");
    const int change = GENERATE(0, 1, 2);
    if (change == 1) Put(1, "running");
    if (change == 2) Put(7, "running");
    CHECK(queue.size() == 0);
    {
      const MemberChanges::Attempt another(changes, object);
      changes.Record("m1", written);
    }
    CHECK(queue.size() == 0);  // The first one is under way.
    if (change != 2) return;
  }
  CHECK(queue.size() == 1);
  CHECK(changes.HasDrifted(object));
}

TEST_CASE_METHOD(Attempts, "an attempt without a write is the queue's to repeat") {
  {
    const MemberChanges::Attempt attempt(changes, object);
    Put(7, "");
  }
  CHECK(queue.size() == 0);
}

}  // namespace
