// A kube::WatchCache on an API server in memory.
#ifndef TESTS_KUBE_CACHE_WATCH_CACHE_FIXTURE_H_
#define TESTS_KUBE_CACHE_WATCH_CACHE_FIXTURE_H_

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/cache/watch_cache.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {

using tests::Eventually;
using tests::kPods;

inline Object PodIn(const std::string& ns, const std::string& name) {
  Object pod = Object::Make(kPods.gvk, {ns, name});
  pod.Set({"spec", "nodeName"}, "n1");
  return pod;
}

inline std::string Names(const std::vector<ObjectPtr>& objects) {
  return absl::StrJoin(objects, " ", [](std::string* out, const ObjectPtr& o) {
    absl::StrAppend(out, o->ns(), "/", o->name());
  });
}

// A watch cache of the pods of one server.
struct WatchCacheFixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  InformerSet informers{client, clock};
  std::vector<std::string> seen;  // Written by on_event.
  WatchCache::Options options;
  std::unique_ptr<WatchCache> cache;

  ~WatchCacheFixture() {
    if (cache != nullptr) cache->Detach();
  }

  std::shared_ptr<Informer> Informing(std::vector<std::string> namespaces = {}) {
    InformerOptions informer_options;
    informer_options.keep_text = true;
    informer_options.namespaces = std::move(namespaces);
    informers.Remove(kPods);
    informers.SetDefaultOptions(kPods, informer_options);
    return informers.Get(kPods);
  }
  void Start() {
    cache = std::make_unique<WatchCache>(clock, options);
    cache->Attach(Informing());
    REQUIRE(cache->AwaitSynced(base::SteadyTime::InfiniteFuture()));
    REQUIRE(server->AwaitWatches(1));
  }
  int64_t Put(const std::string& ns, const std::string& name) {
    const int64_t version = ResourceVersionOf(server->Put(kPods, PodIn(ns, name)));
    if (cache != nullptr) CHECK(Eventually([&] { return cache->progress().version >= version; }));
    return version;
  }
  // The watch breaks, and a list shows all at once what `changes` does on the server meanwhile.
  void ChangeUnwatched(const std::function<void()>& changes) {
    const int64_t before = cache->progress().version;
    server->Compact();
    server->Block("GET");
    server->EndWatches(absl::OutOfRangeError("gone"));
    changes();
    server->Unblock();
    CHECK(Eventually([&] {
      clock.AdvanceAndAwait(absl::Seconds(31));
      return cache->progress().version > before;
    }));
  }
  // Everything that has happened after this version, which the history has to have.
  std::vector<WatchCache::Event> EventsAfter(int64_t version) {
    std::vector<WatchCache::Event> events;
    int64_t complete = -1;
    auto position = cache->PositionAfter(version);
    REQUIRE(position.ok());
    REQUIRE(cache->ReadEvents(*position, 1000, events, complete).ok());
    return events;
  }
  std::string Listed(const WatchCache::Range& range) {
    const auto read = cache->Read(range);
    return read.ok() ? Names(*read->objects) : std::string(read.status().message());
  }
};

inline std::string Show(const std::vector<WatchCache::Event>& events) {
  return absl::StrJoin(events, " ", [](std::string* out, const WatchCache::Event& e) {
    const Object& state = e.after != nullptr ? *e.after : *e.before;
    absl::StrAppend(out, e.before == nullptr ? "+" : e.after == nullptr ? "-" : "=", state.name());
  });
}

}  // namespace kube

#endif  // TESTS_KUBE_CACHE_WATCH_CACHE_FIXTURE_H_
