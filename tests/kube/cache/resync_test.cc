#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kube/cache/informer.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::kPods;
using tests::Pod;

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  InformerSet informers{client, clock};
  std::vector<std::string> seen;  // What the handlers were called with; all on this thread.

  Informer& Synced() {
    server->Put(kPods, Pod("a"));
    server->Put(kPods, Pod("b"));
    const std::shared_ptr<Informer> informer = informers.Get(kPods);
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    return *informer;
  }
  EventHandler Noting(const std::string& who) {
    EventHandler handler;
    handler.on_resync = [this, who](const ObjectPtr& object) {
      seen.push_back(who + " " + std::string(object->name()));
    };
    return handler;
  }
};

TEST_CASE_METHOD(Fixture,
                 "a resync shows each object to each handler that wants it, and is no change") {
  Informer& informer = Synced();
  EventHandler without;
  int changes = 0;
  without.on_update = [&](const ObjectPtr&, const ObjectPtr&) { ++changes; };
  without.on_delete = [&](const ObjectPtr&) { ++changes; };
  informer.AddHandler(without);
  informer.AddHandler(Noting("x"));
  informer.AddHandler(Noting("y"));
  const size_t calls = server->Calls();
  informers.Resync();
  std::sort(seen.begin(), seen.end());  // The objects come in any order.
  CHECK(seen == std::vector<std::string>{"x a", "x b", "y a", "y b"});
  CHECK(changes == 0);
  CHECK(server->Calls() == calls);
}

TEST_CASE_METHOD(Fixture, "a handler that is removed during a resync gets no more of it") {
  Informer& informer = Synced();
  int64_t id = 0;
  EventHandler handler = Noting("x");
  handler.on_resync = [&, note = handler.on_resync](const ObjectPtr& object) {
    note(object);
    informer.RemoveHandler(id);
  };
  id = informer.AddHandler(handler);
  informer.AddHandler(Noting("y"));
  informer.Resync();
  std::sort(seen.begin(), seen.end());
  CHECK(seen.size() == 3);
  CHECK(std::vector<std::string>(seen.begin() + 1, seen.end()) ==
        std::vector<std::string>{"y a", "y b"});
  informers.Stop();
  informer.Resync();
  CHECK(seen.size() == 3);
}

}  // namespace
}  // namespace kube
