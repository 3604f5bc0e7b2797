#include "detector/unserved_kinds.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace {

using detector::UnservedKinds;
using Finding = UnservedKinds::Finding;

const kube::Gvk kDeployment{"apps", "v1", "Deployment"};
const kube::Gvk kMisspelt{"apps", "v1", "Deploymnt"};
const kube::ObjectKey kPolicy{"ns", "p"}, kOther{"", "q"};

struct Fixture {
  UnservedKinds kinds;
  base::SteadyTime now;

  std::vector<Finding> After(absl::Duration time, const std::set<kube::Gvk>& served) {
    now = now + time;
    return kinds.SetServed({.kinds = served}, now);
  }
};

TEST_CASE_METHOD(Fixture, "a kind that stays missing is reported once for each policy") {
  kinds.SetSelected(kPolicy, {kDeployment, kMisspelt}, false);
  kinds.SetSelected(kOther, {kMisspelt}, true);
  CHECK(After(absl::ZeroDuration(), {kDeployment}).empty());
  CHECK(After(absl::Milliseconds(500), {kDeployment}).empty());
  CHECK(After(absl::Milliseconds(600), {kDeployment}) ==
        std::vector<Finding>{{kOther, kMisspelt, true}, {kPolicy, kMisspelt, false}});
  kinds.SetSelected(kPolicy, {kDeployment, kMisspelt}, false);
  CHECK(After(absl::Minutes(1), {kDeployment}).empty());
}

TEST_CASE_METHOD(Fixture, "a policy with thousands of unknown kinds is reported bit by bit") {
  std::set<kube::Gvk> many;
  for (int i = 0; i < 50; ++i) many.insert({"apps", "v1", absl::StrCat("Kind", i)});
  kinds.SetSelected(kPolicy, many, false);
  kinds.SetSelected(kOther, {kMisspelt}, false);
  CHECK(After(absl::ZeroDuration(), {}).empty());
  CHECK(After(absl::Seconds(1), {}).size() == UnservedKinds::kMostOfPolicy + 1);
  CHECK(After(absl::Seconds(1), {}).size() == UnservedKinds::kMostOfPolicy);
  CHECK(After(absl::Seconds(1), {}).size() == 10);
  CHECK(After(absl::Seconds(1), {}).empty());
}

TEST_CASE_METHOD(Fixture, "a kind that is served a moment later is not reported") {
  kinds.SetSelected(kPolicy, {kDeployment}, false);
  CHECK(After(absl::ZeroDuration(), {}).empty());
  CHECK(After(absl::Seconds(1), {kDeployment}).empty());
  CHECK(After(absl::Seconds(1), {kDeployment}).empty());
}

TEST_CASE_METHOD(Fixture, "a kind whose group cannot be read is not reported until it can") {
  kinds.SetSelected(kPolicy, {kMisspelt}, false);
  const auto after = [&](const std::string& failed) {
    now = now + absl::Seconds(2);
    return kinds.SetServed({.kinds = {}, .failed_groups = {failed}}, now);
  };
  for (int i = 0; i < 3; ++i) CHECK(after(i == 1 ? "/apis" : "apps/v1").empty());
  CHECK(after("other.io/v1").empty());  // This is the first round without the kind.
  CHECK(after("/api").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a policy that is mended or gone is not reported") {
  After(absl::ZeroDuration(), {kDeployment});
  kinds.SetSelected(kPolicy, {kMisspelt}, false);
  kinds.SetSelected(kOther, {kMisspelt}, false);
  CHECK(After(absl::Seconds(1), {kDeployment}).empty());
  kinds.SetSelected(kPolicy, {kDeployment}, false);
  kinds.SetSelected(kOther, {}, false);
  CHECK(After(absl::Seconds(5), {kDeployment}).empty());
}

TEST_CASE_METHOD(Fixture,
                 "a kind that is not served any more is reported for the policies that name it") {
  After(absl::ZeroDuration(), {kDeployment});
  kinds.SetSelected(kPolicy, {kDeployment}, false);
  CHECK(After(absl::Seconds(30), {}).empty());
  kinds.SetSelected(kPolicy, {kDeployment}, false);
  CHECK(After(absl::Seconds(1), {}).empty());
  CHECK(After(absl::Seconds(1), {}) == std::vector<Finding>{{kPolicy, kDeployment, false}});
}

}  // namespace
