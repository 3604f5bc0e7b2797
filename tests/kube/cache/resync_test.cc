#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/informer.h"
#include "tests/support/eventually.h"
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
  absl::Mutex mu;
  // What the handlers were called with: on this thread, or on that of the informer while it is at
  // work.
  std::vector<std::string> seen ABSL_GUARDED_BY(mu);

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
      absl::MutexLock lock(&mu);
      seen.push_back(who + " " + std::string(object->name()));
    };
    return handler;
  }
  // Waits until there are so many calls; returns them in order, since objects come in any.
  std::vector<std::string> Seen(size_t calls) {
    std::vector<std::string> now;
    CHECK(tests::Eventually([&] {
      absl::MutexLock lock(&mu);
      now = seen;
      return now.size() >= calls;
    }));
    std::sort(now.begin(), now.end());
    return now;
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
  CHECK(Seen(4) == std::vector<std::string>{"x a", "x b", "y a", "y b"});
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
  std::vector<std::string> calls = Seen(3);
  REQUIRE(calls.size() == 3);
  calls.erase(calls.begin());  // Of x, whichever object it was.
  CHECK(calls == std::vector<std::string>{"y a", "y b"});
  informers.Stop();
  informer.Resync();
  CHECK(Seen(3).size() == 3);
}

}  // namespace
}  // namespace kube
