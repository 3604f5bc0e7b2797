// What the cache does when the memory is short.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "search/cache/multi_cluster_cache.h"
#include "tests/search/cache/members.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Names;
using Fixture = tests::SearchMembers;

TEST_CASE_METHOD(Fixture, "without memory no cache begins, and what is cached stays") {
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  REQUIRE(Cache({"m1"}));
  is_full = true;
  cache().SetScope(Scope({"m1", "m2"}));
  ListRequest request;
  request.gvr = kPods.gvr();
  const auto answer = cache().List(request);
  REQUIRE(answer.ok());
  CHECK(Names(*answer) == "m1:n/a");
  REQUIRE(answer->missing.size() == 1);
  CHECK(answer->missing[0].cluster == "m2");
  CHECK_FALSE(answer->missing[0].being_read);
  CHECK(cache().States().back().error.message() == "memory is full");
  // What has been read goes on.
  CHECK(Put("m1", "n", "c") > 0);
  is_full = false;
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(10));
    return cache().Find("m2", kPods.gvr())->HasSynced();
  }));
}

TEST_CASE_METHOD(Fixture, "a first list under way is broken off, and one that has ended is not") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  Server("m2").Block("GET");
  cache().SetScope(Scope({"m1", "m2"}));
  is_full = true;
  cache().RefuseUnread(absl::ResourceExhaustedError("memory is full"));
  CHECK(Put("m1", "n", "b") > 0);
  CHECK(cache().States().back().error.message() == "memory is full");
  Server("m2").Unblock();
  is_full = false;
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(10));
    return cache().Find("m2", kPods.gvr())->HasSynced();
  }));
}

TEST_CASE_METHOD(Fixture,
                 "what has not fitted is read one after the other, and not in vain first") {
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  is_full = true;
  Server("m1").Block("GET");
  Server("m2").Block("GET");
  cache().SetScope(Scope({"m1", "m2"}));
  is_full = false;
  const auto is_begun = [&](const std::string& cluster) {
    const auto states = cache().States();
    return std::any_of(states.begin(), states.end(), [&](const CacheState& state) {
      return state.cluster == cluster && state.error.ok();
    });
  };
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(10));
    return is_begun("m1");
  }));
  for (int i = 0; i < 3; ++i) clock.AdvanceAndAwait(absl::Seconds(10));
  CHECK_FALSE(is_begun("m2"));
  // The first one does not fit: the next time the other one comes first.
  cache().RefuseUnread(absl::ResourceExhaustedError("memory is full"));
  Server("m2").Unblock();
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(10));
    return cache().Find("m2", kPods.gvr())->HasSynced();
  }));
  Server("m1").Unblock();
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(10));
    return cache().Find("m1", kPods.gvr())->HasSynced();
  }));
}

TEST_CASE_METHOD(Fixture, "what fits is read one right after the other, after something has not") {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back(absl::StrCat("m", i));
  for (const std::string& name : names) {
    Put(name, "n", "a");
    Server(name).Block("GET");
  }
  cache().SetScope(Scope(names));
  cache().RefuseUnread(absl::ResourceExhaustedError("memory is full"));
  for (const std::string& name : names) Server(name).Unblock();
  // The pause of those that were broken off is over after ten seconds, and then nobody waits: one
  // after the other with such pauses they would need five minutes.
  absl::Duration passed;
  CHECK(Eventually([&] {
    if (passed < absl::Seconds(20)) {
      clock.AdvanceAndAwait(absl::Milliseconds(500));
      passed += absl::Milliseconds(500);
    }
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return cache().Find(name, kPods.gvr())->HasSynced();
    });
  }));
}

TEST_CASE_METHOD(Fixture,
                 "what another kind has not fitted does not hide why a cluster is not read") {
  const auto error = [&](const std::string& cluster) {
    for (const CacheState& state : cache().States()) {
      if (state.cluster == cluster) return state.error;
    }
    return absl::OkStatus();
  };
  Put("m1", "n", "a");
  Lock("m1");
  Server("m2").Block("GET");
  cache().SetScope(Scope({"m1", "m2"}));
  for (int i = 0; i < 8; ++i) {
    REQUIRE(Eventually([&] {
      if (error("m2").ok()) return true;
      clock.AdvanceAndAwait(absl::Seconds(10));
      return false;
    }));
    cache().RefuseUnread(absl::ResourceExhaustedError("memory is full"));
    CHECK(error("m1").message() == "cluster m1 does not have a secret");
  }
  CHECK(absl::StrContains(error("m2").message(), "memory is full"));
  // The other one has minutes to wait; this one has not.
  Unlock("m1");
  cache().Retry("m1");
  CHECK(Eventually([&] { return cache().Find("m1", kPods.gvr())->HasSynced(); }));
  CHECK_FALSE(error("m2").ok());
  Server("m2").Unblock();
}

}  // namespace
}  // namespace search
