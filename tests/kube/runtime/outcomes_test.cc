#include "kube/runtime/outcomes.h"

#include <catch2/catch.hpp>

namespace kube {
namespace {

constexpr Reason kDeleted("deleted");

struct Fixture {
  Outcomes outcomes;
  const Request a{.key = {"ns", "a"}}, b{.key = {"ns", "b"}};
  const absl::Status conflict = absl::AbortedError("denied");

  void MeetSilentConflicts(const Request& of, absl::string_view part = "") {
    for (int i = 0; i < Outcomes::kSilentConflicts; ++i) {
      CHECK(absl::IsAborted(outcomes.Judge(of, part, conflict)));
    }
  }
  // Returns whether the part is remembered as failed, and forgets it.
  bool HadFailed(const Request& of, absl::string_view part = "") {
    return outcomes.Recovered(of, part, true);
  }
  void Fail(const Request& of, absl::string_view part = "") {
    CHECK_FALSE(outcomes.Recovered(of, part, false));
  }
};

TEST_CASE_METHOD(Fixture, "a few conflicts in a row are silent, then they count as a failure") {
  MeetSilentConflicts(a);
  CHECK(absl::IsAborted(outcomes.Judge(b, "", conflict)));      // Each request has its own count.
  CHECK(absl::IsAborted(outcomes.Judge(a, "part", conflict)));  // And so has each part.
  const absl::Status failure = outcomes.Judge(a, "", conflict);
  CHECK(absl::IsFailedPrecondition(failure));
  // A message that stays the same is written to conditions and events only once.
  CHECK(failure.message() == "denied");
  CHECK(outcomes.Judge(a, "", conflict) == failure);
}

TEST_CASE_METHOD(Fixture, "another outcome ends the row of conflicts") {
  const absl::Status between = GENERATE(absl::OkStatus(), absl::UnavailableError("down"));
  MeetSilentConflicts(a);
  CHECK(outcomes.Judge(a, "", between) == between);
  CHECK(absl::IsAborted(outcomes.Judge(a, "", conflict)));
}

TEST_CASE_METHOD(Fixture, "a stop does not end the row of conflicts") {
  MeetSilentConflicts(a);
  CHECK(absl::IsCancelled(outcomes.Judge(a, "", absl::CancelledError("stop"))));
  CHECK_FALSE(absl::IsAborted(outcomes.Judge(a, "", conflict)));
}

TEST_CASE_METHOD(Fixture, "the success that ends a failure is told once") {
  CHECK_FALSE(HadFailed(a));
  Fail(a, "part");
  Fail(a, "part");
  CHECK_FALSE(HadFailed(a));
  CHECK_FALSE(HadFailed(b, "part"));
  CHECK(HadFailed(a, "part"));
  CHECK_FALSE(HadFailed(a, "part"));
}

TEST_CASE_METHOD(Fixture, "a failure and conflicts of one part are remembered beside each other") {
  MeetSilentConflicts(a);
  Fail(a);
  CHECK(HadFailed(a));
  CHECK_FALSE(absl::IsAborted(outcomes.Judge(a, "", conflict)));
}

TEST_CASE_METHOD(Fixture, "all parts of a request are forgotten together, and no other's") {
  const Request longer{.key = {"ns", "aa"}};
  Fail(a);
  Fail(a, "part");
  Fail(b);
  Fail(longer);
  MeetSilentConflicts(a);
  outcomes.Forget(a);
  CHECK(absl::IsAborted(outcomes.Judge(a, "", conflict)));
  CHECK_FALSE(HadFailed(a));
  CHECK_FALSE(HadFailed(a, "part"));
  CHECK(HadFailed(b));
  CHECK(HadFailed(longer));
}

TEST_CASE_METHOD(Fixture, "requests that differ in their reason only have the same outcomes") {
  Fail({.key = a.key, .reason = kDeleted});
  CHECK(HadFailed(a));
  Fail(a);
  outcomes.Forget({.key = a.key, .reason = kDeleted});
  CHECK_FALSE(HadFailed(a));
}

TEST_CASE_METHOD(Fixture, "one part, a cluster and a kind are forgotten each by itself") {
  const Gvk foo{"example.io", "v1", "Foo"}, food{"example.io", "v1", "Food"};
  const Request in_m1{.key = a.key, .cluster = "m1"}, in_m11{.key = a.key, .cluster = "m11"};
  const Request of_foo{.key = a.key, .gvk = foo}, of_food{.key = a.key, .gvk = food};
  for (const Request& request : {a, in_m1, in_m11, of_foo, of_food}) Fail(request, "part");
  Fail(a);
  outcomes.Forget(a, "part");
  outcomes.ForgetCluster("m1");
  outcomes.ForgetKind(foo);
  CHECK(HadFailed(a));
  CHECK_FALSE(HadFailed(a, "part"));
  CHECK_FALSE(HadFailed(in_m1, "part"));
  CHECK(HadFailed(in_m11, "part"));
  CHECK_FALSE(HadFailed(of_foo, "part"));
  CHECK(HadFailed(of_food, "part"));
}

}  // namespace
}  // namespace kube
