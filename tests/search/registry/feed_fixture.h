// A feed over a fake etcd, running on a thread, and a subscriber that records.
#ifndef TESTS_SEARCH_REGISTRY_FEED_FIXTURE_H_
#define TESTS_SEARCH_REGISTRY_FEED_FIXTURE_H_

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "search/registry/feed.h"
#include "tests/search/registry/etcd_fixture.h"
#include "tests/support/fake_clock.h"

namespace search {

inline std::string Key(absl::string_view name) { return absl::StrCat(kFolder, name); }
inline std::string Text(absl::string_view name, absl::string_view kind = "Pod") {
  return json::Write(Registry(name, kind).root());
}

// A store whose lists arrive late: `on_listed` runs between a list and its return.
class LateLists : public RegistryStore {
 public:
  explicit LateLists(std::unique_ptr<RegistryStore> inner) : inner_(std::move(inner)) {}

  absl::StatusOr<Listing> List(const ListQuery& query, const base::StopToken& stop) override {
    auto listing = inner_->List(query, stop);
    if (on_listed) on_listed();
    return listing;
  }
  absl::StatusOr<kube::ObjectPtr> Get(absl::string_view name,
                                      const base::StopToken& stop) override {
    return inner_->Get(name, stop);
  }
  absl::StatusOr<kube::ObjectPtr> Create(const kube::Object& object,
                                         const base::StopToken& stop) override {
    return inner_->Create(object, stop);
  }
  absl::StatusOr<kube::ObjectPtr> Update(const kube::Object& object,
                                         const base::StopToken& stop) override {
    return inner_->Update(object, stop);
  }
  absl::StatusOr<int64_t> Delete(const kube::Object& object, const base::StopToken& stop) override {
    return inner_->Delete(object, stop);
  }
  std::unique_ptr<RegistryWatch> Watch(int64_t revision, RegistryWatchHandler& handler) override {
    return inner_->Watch(revision, handler);
  }
  absl::StatusOr<int64_t> Progress(const base::StopToken& stop) override {
    return inner_->Progress(stop);
  }
  absl::Status Health(const base::StopToken& stop) override { return inner_->Health(stop); }

  std::function<void()> on_listed;  // Set it before the feed runs.

 private:
  const std::unique_ptr<RegistryStore> inner_;
};

struct RunningFeed {
  explicit RunningFeed(RegistryFeed::Options options = {},
                       const base::Clock& clock = base::RealClock())
      : store(std::make_unique<LateLists>(StoreOn({etcd.url()}))), feed(*store, clock, options) {}
  ~RunningFeed() {
    stop.request_stop();
    if (thread.joinable()) thread.join();
  }
  // Waits for the first list unless the etcd refuses it.
  void Start() {
    thread = std::thread([this] { feed.Run(stop.get_token()); });
    REQUIRE(tests::Eventually([&] { return feed.HasSynced() || etcd.requests() > 2; }));
  }

  tests::FakeEtcd etcd;
  std::unique_ptr<LateLists> store;
  RegistryFeed feed;
  base::StopSource stop;
  std::thread thread;
};

class Subscription {
 public:
  Subscription(RegistryFeed& feed, const RegistryFeed::Start& start) : feed_(feed) {
    const auto id = feed.Subscribe(start, [this](const FeedEvent& event) {
      absl::MutexLock lock(&mu_);
      events_.push_back(event);
    });
    REQUIRE(id.ok());
    id_ = *id;
  }
  ~Subscription() { feed_.Unsubscribe(id_); }

  FeedEvent At(size_t i) const {
    absl::MutexLock lock(&mu_);
    return events_.at(i);
  }
  // "+a" for an addition, "~a" for a modification, "-a" for a deletion, "." for a bookmark.
  std::vector<std::string> Events(bool bookmarks) const {
    absl::MutexLock lock(&mu_);
    std::vector<std::string> out;
    for (const FeedEvent& e : events_) {
      if (e.type == FeedEvent::Type::kBookmark) {
        if (bookmarks) out.emplace_back(".");
        continue;
      }
      const char* sign = e.type == FeedEvent::Type::kAdded      ? "+"
                         : e.type == FeedEvent::Type::kModified ? "~"
                                                                : "-";
      out.push_back(absl::StrCat(sign, e.object->name()));
    }
    return out;
  }
  bool Await(const std::vector<std::string>& wanted) const { return Reached(wanted, true); }
  bool AwaitChanges(const std::vector<std::string>& wanted) const { return Reached(wanted, false); }

 private:
  bool Reached(const std::vector<std::string>& wanted, bool bookmarks) const {
    tests::Eventually([&] { return Events(bookmarks).size() >= wanted.size(); });
    const std::vector<std::string> events = Events(bookmarks);
    CHECK(events == wanted);
    return events == wanted;
  }

  RegistryFeed& feed_;
  int64_t id_ = 0;
  mutable absl::Mutex mu_;
  std::vector<FeedEvent> events_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // TESTS_SEARCH_REGISTRY_FEED_FIXTURE_H_
