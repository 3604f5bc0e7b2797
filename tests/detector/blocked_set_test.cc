#include "detector/blocked_set.h"

#include <catch2/catch.hpp>

namespace {

const kube::Gvk kConfigMap{"", "v1", "ConfigMap"};
const kube::Gvk kSecret{"", "v1", "Secret"};

TEST_CASE("a blocked template is kept with the policy that blocks it") {
  detector::BlockedSet set;
  const kube::Request x{.key = {"a", "x"}, .gvk = kConfigMap};
  const kube::Request secret{.key = {"a", "x"}, .gvk = kSecret};
  set.Add(x, {"a", "p"});
  set.Add(x, {"", "cluster"});
  set.Add(secret, {"a", "p"});
  REQUIRE(set.All().size() == 2);
  for (const detector::BlockedSet::Blocked& blocked : set.All()) {
    const bool is_secret = blocked.request.gvk == kSecret;
    CHECK(blocked.policy ==
          (is_secret ? kube::ObjectKey{"a", "p"} : kube::ObjectKey{"", "cluster"}));
  }
  set.Remove(x);
  CHECK(set.All().size() == 1);
  set.RemoveKind(kConfigMap);
  CHECK(set.All().size() == 1);
  set.RemoveKind(kSecret);
  CHECK(set.All().empty());
}

TEST_CASE("a blocked template is kept with the first reason of its requests") {
  detector::BlockedSet set;
  const kube::Request by_user{.key = {"a", "x"}, .gvk = kConfigMap};
  kube::Request by_karmada = by_user;
  by_karmada.reason = "by Karmada";
  const auto kept = [&] { return set.All().at(0).request; };
  set.Add(by_karmada, {"a", "p"});
  CHECK(kept() == by_karmada);
  set.Add(by_user, {"a", "p"});
  CHECK(kept() == by_user);
  set.Add(by_karmada, {"a", "other"});
  REQUIRE(set.All().size() == 1);
  CHECK(kept() == by_user);
  CHECK(set.All()[0].policy.name == "other");

  set.Remove(by_karmada);
  CHECK(kept() == by_user);
  SECTION("and goes with the request that it is kept for") { set.Remove(by_user); }
  SECTION("and is forgotten with its template") { set.Forget(by_karmada); }
  CHECK(set.All().empty());
}

TEST_CASE("a template that only a change by Karmada has blocked goes with any request") {
  detector::BlockedSet set;
  kube::Request request{.key = {"a", "x"}, .gvk = kConfigMap};
  request.reason = "by Karmada";
  set.Add(request, {"a", "p"});
  SECTION("the same") {}
  SECTION("a user's") { request.reason = {}; }
  set.Remove(request);
  CHECK(set.All().empty());
}

}  // namespace
