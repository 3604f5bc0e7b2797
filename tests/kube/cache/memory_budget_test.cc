// A server whose objects take more memory than they may.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "kube/cache/informer.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
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
  bool PassTimeUntil(const std::function<bool()>& done) {
    return Eventually([&] {
      if (!done()) clock.AdvanceAndAwait(absl::Seconds(31));
      return done();
    });
  }
};

constexpr char kError[] =
    "v1/pods of member1: what is kept of the objects of member1 takes more than 1 MiB; they are "
    "not followed further";

TEST_CASE_METHOD(Fixture, "a watch that brings too much ends, and is resumed when there is room") {
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  REQUIRE(server->AwaitWatches(1));
  for (const char* name : {"a", "b"}) server->Put(kPods, LargePod(name));
  REQUIRE(Eventually([&] { return informer->store().size() == 2; }));
  CHECK(budget->used() > 800 << 10);
  CHECK(reports == 0);

  server->Put(kPods, LargePod("c"));
  CHECK(Eventually([&] { return server->watches() == 0; }));
  CHECK(Eventually([&] { return reports > 0; }));
  CHECK(informer->last_error().message() == kError);

  // Further objects are not stored, whatever the number of lists.
  for (int i = 0; i < 20; ++i) server->Put(kPods, LargePod(absl::StrCat("d", i)));
  const int before = reports;
  CHECK(PassTimeUntil([&] { return reports >= before + 3; }));
  CHECK(budget->used() <= budget->limit());
  CHECK(informer->store().size() == 2);

  for (int i = 0; i < 20; ++i) server->Erase(kPods, {"ns", absl::StrCat("d", i)});
  server->Erase(kPods, {"ns", "c"});
  CHECK(PassTimeUntil([&] { return server->watches() == 1; }));
  CHECK(informer->store().size() == 2);
  CHECK(Eventually([&] { return informer->last_error().ok(); }));
}

TEST_CASE_METHOD(Fixture, "a list that brings too much is given up") {
  for (int i = 0; i < 600; ++i) {
    Object pod = Pod(absl::StrCat("p", i));
    pod.SetAnnotation("text", std::string(4 << 10, 'x'));
    server->Put(kPods, pod);
  }
  const std::shared_ptr<Informer> informer = informers.Get(kPods);
  CHECK(Eventually([&] { return !informer->last_error().ok(); }));
  CHECK(informer->last_error().message() == kError);
  CHECK_FALSE(informer->HasSynced());
  CHECK(server->Requests("GET").size() == 1);
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
  CHECK(Eventually([&] { return server->watches() == 0; }));
  CHECK(Eventually([&] { return !informer->last_error().ok(); }));
  CHECK(informer->last_error().message() == kError);
  CHECK(informer->store().size() == 2);
  CHECK(budget->used() <= budget->limit());

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
  CHECK(Eventually([&] { return budget->used() == 0; }));
  CHECK(reports == 0);
}

}  // namespace
}  // namespace kube
