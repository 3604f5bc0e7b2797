#include "controllers/context/seen_deletions.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "tests/support/loops_fixture.h"

namespace {

using Absence = controllers::SeenDeletions::Absence;
const kube::ObjectKey kTeam = {"shop", "team"};

TEST_CASE("of many deletions the last ones are remembered") {
  controllers::SeenDeletions seen;
  seen.Note(kTeam);
  CHECK(seen.Has(kTeam));
  for (size_t i = 1; i < controllers::SeenDeletions::kRemembered; ++i) {
    seen.Note({"shop", absl::StrCat("other-", i)});
  }
  CHECK(seen.Has(kTeam));
  seen.Note({"shop", "one-too-many"});
  CHECK_FALSE(seen.Has(kTeam));
  CHECK(seen.Has({"shop", "one-too-many"}));
  seen.Forget({"shop", "one-too-many"});
  CHECK_FALSE(seen.Has({"shop", "one-too-many"}));
}

TEST_CASE_METHOD(tests::LoopsFixture, "an object that is missing is judged by the server") {
  Sync({api::FederatedResourceQuotas()});
  Make();
  controllers::SeenDeletions seen;
  const auto judge = [&] { return seen.Judge(cluster, api::FederatedResourceQuotas(), kTeam, {}); };
  CHECK(*judge() == Absence::kUnseen);
  seen.Note(kTeam);
  CHECK(*judge() == Absence::kSeen);
  server->Put(api::FederatedResourceQuotas(),
              kube::Object::Make(api::FederatedResourceQuotas().gvk, kTeam));
  CHECK(*judge() == Absence::kOfCache);
  server->FailNext("GET", 403, "Forbidden");
  CHECK_FALSE(judge().ok());
}

TEST_CASE("an object is noted before its request is queued") {
  const auto seen = std::make_shared<controllers::SeenDeletions>();
  const kube::Enqueue enqueue = controllers::OnDeletion(seen);
  const kube::Object quota = kube::Object::Make(api::FederatedResourceQuotas().gvk, kTeam);
  CHECK_FALSE(enqueue.when.add(quota));
  CHECK_FALSE(enqueue.when.update(quota, quota));
  const std::vector<kube::Request> requests = enqueue.map(quota);
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].key == kTeam);
  CHECK(seen->Has(kTeam));
}

}  // namespace
