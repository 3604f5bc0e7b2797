// A server whose objects take more memory than they may.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "base/random.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/encoded_object.h"
#include "kube/cache/informer.h"
#include "kube/cache/watch_cache.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/passing_time.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;

Object LargePod(const std::string& name) {
  Object pod = Pod(name);
  pod.SetAnnotation("text", std::string(400 << 10, 'x'));
  return pod;
}

Object Labelled(const std::string& name) {
  Object pod = LargePod(name);
  pod.SetLabel("new", "yes");
  return pod;
}

bool IsNew(const Informer& informer, const std::string& name) {
  const ObjectPtr held = informer.store().Find({"ns", name});
  return held != nullptr && held->Label("new") == "yes";
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  std::shared_ptr<base::ByteBudget> budget = std::make_shared<base::ByteBudget>(1 << 20);
  std::atomic<int> reports = 0;

  Fixture() {
    informers.SetBudget(budget, [this] { ++reports; });
  }
  ~Fixture() { informers.Stop(); }
  void PutMany(int count, size_t kib) {
    for (int i = 0; i < count; ++i) {
      Object pod = Pod(absl::StrCat("p", i));
      pod.SetAnnotation("text", std::string(kib << 10, 'x'));
      server->Put(kPods, pod);
    }
  }
  // Advances the clock, so that retries become due, until `done`.
  bool PassTimeUntil(const std::function<bool()>& done) {
    return tests::PassTimeUntil(clock, absl::Seconds(31), done);
  }
};

constexpr char kLeavesOut[] =
    "v1/pods of member1: the objects of member1 take more than the 1 MiB of memory that it may "
    "take; objects without room are left out";
constexpr char kNoRoom[] =
    "v1/pods of member1: the objects of member1 take more than the 1 MiB of memory that it may "
    "take; there is no room for those of this kind";

TEST_CASE_METHOD(Fixture, "a watch that brings too much goes on and leaves out what has no room") {
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "b"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->store().size() == 2; }));
  CHECK(budget->used() > 800 << 10);
  CHECK(reports == 0);
  CHECK_FALSE(informer->LeavesOut());

  server->Put(kPods, LargePod("c"));
  CHECK(Eventually([&] { return reports > 0; }));
  CHECK(informer->LeavesOut());
  CHECK_FALSE(informer->HoldsAll());
  CHECK(informer->HasSynced());
  CHECK(informer->last_error().message() == kLeavesOut);

  // Further objects are not stored, whatever the number of lists; changes are.
  for (int i = 0; i < 20; ++i) server->Put(kPods, LargePod(absl::StrCat("d", i)));
  server->Put(kPods, Labelled("b"));
  CHECK(Eventually([&] { return IsNew(*informer, "b"); }));
  const int before = reports;
  CHECK(PassTimeUntil([&] { return reports >= before + 3; }));
  // What is being read counts, too, until it is left out.
  CHECK(Eventually([&] { return budget->used() <= budget->limit(); }));
  CHECK(informer->store().size() == 2);
  CHECK(informer->last_error().message() == kLeavesOut);

  for (int i = 0; i < 20; ++i) server->Erase(kPods, {"ns", absl::StrCat("d", i)});
  server->Erase(kPods, {"ns", "a"});
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
  CHECK_FALSE(informer->LeavesOut());
  CHECK(informer->store().size() == 2);
  CHECK(informer->store().Find({"ns", "c"}) != nullptr);
}

TEST_CASE_METHOD(Fixture, "a list over the budget drops what is gone and adds what has room then") {
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "b"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->store().size() == 2; }));

  // Nothing of this is seen by a watch.
  server->Block("GET");
  server->EndWatches(absl::OutOfRangeError("too old"));
  for (const char* name : {"a", "b"}) server->Erase(kPods, {"ns", name});
  for (const char* name : {"new1", "new2", "new3"}) server->Put(kPods, LargePod(name));
  server->Unblock();
  CHECK(PassTimeUntil([&] { return informer->store().Find({"ns", "a"}) == nullptr; }));
  CHECK(PassTimeUntil([&] { return informer->store().size() == 2; }));
  CHECK(informer->store().Find({"ns", "b"}) == nullptr);
  CHECK(informer->LeavesOut());
  server->Erase(kPods, {"ns", "new3"});
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
}

TEST_CASE_METHOD(Fixture, "objects behind one that has no room are updated by a list, too") {
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "z"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->store().size() == 2; }));
  server->Block("GET");
  server->EndWatches(absl::OutOfRangeError("too old"));
  server->Put(kPods, LargePod("m"));
  for (const char* name : {"a", "z"}) server->Put(kPods, Labelled(name));
  server->Unblock();
  CHECK(PassTimeUntil([&] { return IsNew(*informer, "a") && IsNew(*informer, "z"); }));
  CHECK(informer->store().Find({"ns", "m"}) == nullptr);
  CHECK(informer->last_error().message() == kLeavesOut);
}

TEST_CASE_METHOD(Fixture, "a kind whose first list does not fit gives back what it has taken") {
  PutMany(600, 4);
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  int held = 0;
  EventHandler handler;
  handler.on_add = [&](const ObjectPtr&, bool) { ++held; };
  handler.on_delete = [&](const ObjectPtr&) { --held; };
  informer->AddHandler(std::move(handler));
  CHECK(Eventually([&] { return reports > 0; }));
  CHECK(informer->last_error().message() == kNoRoom);
  CHECK_FALSE(informer->HasSynced());
  CHECK(server->Requests("GET").size() == 1);
  CHECK(Eventually([&] { return budget->used() == 0; }));
  CHECK(informer->store().size() == 0);
  CHECK(Eventually([&] { return held == 0; }));

  // Further lists do not take the room of others, not even for a moment.
  std::atomic<int64_t> most = 0;
  const int before = reports;
  CHECK(PassTimeUntil([&] {
    most = std::max<int64_t>(most, budget->used());
    return reports >= before + 3;
  }));
  CHECK(most < 400 << 10);
  for (int i = 0; i < 500; ++i) server->Erase(kPods, {"ns", absl::StrCat("p", i)});
  CHECK(PassTimeUntil([&] { return informer->HasSynced(); }));
  CHECK(informer->store().size() == 100);
  CHECK(informer->last_error().ok());
}

TEST_CASE_METHOD(Fixture,
                 "a kind that does not fit does not hold up the other kinds of its server") {
  const Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  const Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  for (int i = 0; i < 3; ++i) {
    Object deployment = Object::Make(deployments.gvk, {"ns", absl::StrCat("d", i)});
    deployment.SetAnnotation("text", std::string(30 << 10, 'x'));
    server->Put(deployments, deployment);
  }
  const std::shared_ptr<Informer> synced = informers.Get(secrets);
  REQUIRE(server->AwaitWatches(1));
  PutMany(600, 4);
  InformerSet filtered(client, clock);
  filtered.SetBudget(budget, [] {});
  const std::shared_ptr<Informer> large = informers.Get(kPods);
  const std::shared_ptr<Informer> first = filtered.Get(deployments);
  CHECK(PassTimeUntil([&] { return first->HasSynced() && reports > 0; }));
  CHECK(first->last_error().ok());
  for (int i = 0; i < 40; ++i) {
    Object secret = Object::Make(secrets.gvk, {"ns", absl::StrCat("s", i)});
    secret.SetAnnotation("text", std::string(4 << 10, 'x'));
    server->Put(secrets, secret);
  }
  CHECK(PassTimeUntil([&] { return synced->store().size() == 40 && synced->last_error().ok(); }));
  CHECK_FALSE(large->HasSynced());
  filtered.Stop();
}

TEST_CASE_METHOD(Fixture, "a set with a share leaves the rest of the budget to the others") {
  const Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  informers.SetBudget(
      budget, [this] { ++reports; }, 0.75);
  InformerSet filtered(client, clock);
  filtered.SetBudget(budget, [] {});
  const std::shared_ptr<Informer> pods = informers.Get(kPods);
  const std::shared_ptr<Informer> workloads = filtered.Get(deployments);
  REQUIRE(server->AwaitWatches(2));
  PutMany(20, 40);
  CHECK(PassTimeUntil([&] { return pods->LeavesOut(); }));
  CHECK(budget->used() <= budget->limit() * 3 / 4);
  Object deployment = Object::Make(deployments.gvk, {"ns", "d"});
  deployment.SetAnnotation("text", std::string(200 << 10, 'x'));
  server->Put(deployments, deployment);
  CHECK(PassTimeUntil([&] { return workloads->store().size() == 1; }));
  CHECK_FALSE(workloads->LeavesOut());
  filtered.Stop();
}

TEST_CASE_METHOD(Fixture, "a read of an object that was left out asks the server") {
  RestMapper mapper(client, clock);
  ClusterClient reader(client, mapper, informers);
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "b", "c"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->LeavesOut(); }));
  CHECK(informer->store().Find({"ns", "c"}) == nullptr);
  CHECK(reader.Get(kPods, {"ns", "c"}, {}).ok());
  CHECK(absl::IsNotFound(reader.Get(kPods, {"ns", "d"}, {}).status()));
}

TEST_CASE_METHOD(Fixture, "objects whose text is kept are charged as long as they are held") {
  InformerOptions options;
  options.keep_text = true;
  informers.SetDefaultOptions(kPods, options);
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "b"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->store().size() == 2; }));
  CHECK(budget->used() > 800 << 10);
  CHECK(reports == 0);

  server->Put(kPods, LargePod("c"));
  CHECK(Eventually([&] { return !informer->last_error().ok(); }));
  CHECK(informer->last_error().message() == kLeavesOut);
  CHECK(informer->store().size() == 2);
  CHECK(Eventually([&] { return budget->used() <= budget->limit(); }));

  // A smaller object in the place of one that is held has room.
  server->Erase(kPods, {"ns", "c"});
  server->Erase(kPods, {"ns", "b"});
  server->Put(kPods, Pod("a"));
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
  CHECK(Eventually([&] { return informer->store().size() == 1; }));
  CHECK(Eventually([&] { return budget->used() < 400 << 10; }));
}

TEST_CASE_METHOD(Fixture, "all kinds of a server share its budget, and objects that go give back") {
  const Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  const std::shared_ptr<Informer> pods = informers.Get(kPods);
  const std::shared_ptr<Informer> others = informers.Get(secrets);
  REQUIRE(server->AwaitWatches(2));
  server->Put(kPods, LargePod("a"));
  server->Put(secrets, LargePod("b"));
  REQUIRE(Eventually([&] { return pods->store().size() + others->store().size() == 2; }));
  CHECK(budget->used() > 800 << 10);
  server->Erase(kPods, {"ns", "a"});
  server->Erase(secrets, {"ns", "b"});
  // It is remembered for a while that they were deleted.
  CHECK(Eventually([&] { return budget->used() < 1 << 10; }));
  CHECK(reports == 0);
}

// Of a text that has nothing in common with others.
Object UniquePod(const std::string& name, size_t kib) {
  Object pod = Pod(name);
  std::string text;
  while (text.size() < kib << 10) text += base::NewUuid();
  pod.SetAnnotation("text", text);
  return pod;
}

TEST_CASE_METHOD(Fixture,
                 "other namespaces of a kind of more than half of the budget take effect") {
  WatchCache cache(clock, {});
  InformerOptions options;
  options.keep_text = true;
  options.namespaces = {"ns"};
  options.held = [&](const ObjectKey& key) { return cache.Find(key); };
  informers.SetDefaultOptions(kPods, options);
  cache.Attach(informers.Get(kPods));
  REQUIRE(server->AwaitWatches(1));
  for (int i = 0; i < 40; ++i) server->Put(kPods, UniquePod(absl::StrCat("p", i), 17));
  REQUIRE(Eventually([&] { return cache.size() == 40; }));
  const int64_t used = budget->used();
  CHECK(used > budget->limit() / 2);

  server->Put(kPods, Object::Make(kPods.gvk, {"ns2", "x"}));
  cache.Detach();
  informers.Remove(kPods);
  Object changed = UniquePod("p7", 17);
  changed.SetLabel("new", "yes");
  server->Put(kPods, changed);
  options.namespaces = {"ns", "ns2"};
  informers.SetDefaultOptions(kPods, options);
  cache.Attach(informers.Get(kPods));
  CHECK(PassTimeUntil([&] { return cache.size() == 41; }));
  CHECK(cache.last_error().ok());
  CHECK(absl::StrContains(Encoded(*cache.Find({"ns", "p7"})).text(), R"("new":"yes")"));
  CHECK(Eventually([&] { return budget->used() < used + (40 << 10); }));
  cache.Detach();
}

TEST_CASE_METHOD(Fixture, "a replacement that does not fit gives back all it has taken") {
  WatchCache cache(clock, {});
  InformerOptions options;
  options.keep_text = true;
  informers.SetDefaultOptions(kPods, options);
  cache.Attach(informers.Get(kPods));
  REQUIRE(server->AwaitWatches(1));
  for (int i = 0; i < 40; ++i) server->Put(kPods, UniquePod(absl::StrCat("p", i), 17));
  REQUIRE(Eventually([&] { return cache.size() == 40; }));
  const int64_t used = budget->used();
  cache.Detach();
  informers.Remove(kPods);
  cache.Attach(informers.Get(kPods));  // Without InformerOptions::held.
  CHECK(Eventually([&] { return !cache.last_error().ok(); }));
  CHECK(cache.last_error().message() == kNoRoom);
  CHECK(Eventually([&] { return budget->used() <= used; }));
  CHECK(cache.size() == 40);
  for (int i = 0; i < 30; ++i) server->Erase(kPods, {"ns", absl::StrCat("p", i)});
  CHECK(PassTimeUntil([&] { return cache.size() == 10; }));
  CHECK(Eventually([&] { return cache.last_error().ok(); }));
  cache.Detach();
}

}  // namespace
}  // namespace kube
