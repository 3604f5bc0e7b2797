// When karmada-search knows its members.
#include "cmd/search/member_access.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "api/resources.h"
#include "kube/cache/informer.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

class AccessFixture {
 protected:
  AccessFixture() {
    thread_ = std::thread([this] {
      access_.Run({.changed = [this](const std::string& cluster) { OnChanged(cluster); },
                   .left = [](const std::string&) {},
                   .other_secret = [](const kube::ObjectKey&) {}},
                  stop_.get_token());
    });
  }
  ~AccessFixture() {
    stop_.request_stop();
    thread_.join();
  }

  // The first cluster that can be connected is held until it is released.
  void OnChanged(const std::string& cluster) {
    if (!access_.ConfigFor(cluster).ok()) return;
    {
      absl::MutexLock lock(&mu_);
      connected_.insert(cluster);
    }
    if (reported_.HasBeenNotified()) return;
    reported_.Notify();
    released_.WaitForNotification();
  }

  SearchPlane plane_;
  kube::InformerSet informers_{plane_.cluster("karmada"), base::RealClock()};
  cmd::MemberAccess access_{
      {*informers_.Get(api::Clusters()), plane_.cluster("karmada"), nullptr, base::RealClock()}};
  absl::Notification reported_, released_;
  absl::Mutex mu_;
  std::set<std::string> connected_;
  base::StopSource stop_;
  std::thread thread_;
};

TEST_CASE_METHOD(AccessFixture, "it is synced when each member was reported with its Secret") {
  reported_.WaitForNotification();
  // The Secrets have been read, but the caches of the members do not know it yet.
  CHECK_FALSE(access_.HasSynced());
  released_.Notify();
  REQUIRE(Eventually([&] { return access_.HasSynced(); }));
  absl::MutexLock lock(&mu_);
  CHECK(connected_ == std::set<std::string>{"member1", "member2"});
}

}  // namespace
}  // namespace tests
