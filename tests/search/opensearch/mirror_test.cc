// What the documents are after events, comparisons, restarts and departures. Runs on a real
// OpenSearch, too ($OPENSEARCH_URL).
#include "search/opensearch/mirror.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "tests/search/opensearch/mirror_fixture.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

TEST_CASE_METHOD(MirrorFixture, "Listed objects become documents, events change and delete them",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  cache1_->Put("b", 6, Pod("b", 6));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(Document(pods1_, "a").Get({"_source", "cluster"}).AsString() == "member1");
  Put(pods1_, *cache1_, "a", 7);
  Put(pods1_, *cache1_, "c", 8);
  Erase(pods1_, *cache1_, "b", 9);
  Settle();
  CHECK(Version(pods1_, "a") == "7");
  CHECK(Version(pods1_, "b") == "");
  CHECK(Version(pods1_, "c") == "8");
  CHECK(mirror_->Status().written == 4);
  CHECK(mirror_->Status().deleted == 1);
  CHECK(mirror_->Status().connected);
}

TEST_CASE_METHOD(MirrorFixture, "What is not listed, compared or written yet is counted",
                 "[opensearch]") {
  mirror_->SetScope({pods1_, pods2_});
  mirror_->Synced(pods2_, cache2_);
  Settle();
  // Nothing of member1 was listed, although nothing is left to do.
  CHECK(mirror_->Status().unlisted == 1);
  CHECK(mirror_->Status().unreconciled_slices == 0);
  absl::Notification go_on;
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (request.path != "/_bulk") return std::nullopt;
    go_on.WaitForNotification();
    return base::HttpResponse{.code = 503, .body = "busy"};
  });
  cache1_->Put("a", 5, Pod("a", 5));
  cache1_->Put("b", 6, Pod("b", 6));
  mirror_->Synced(pods1_, cache1_);
  CHECK(mirror_->Status().unlisted == 0);
  // While it is under way, and after it has failed.
  CHECK(Eventually([&] { return server_.Requests("_bulk") > 0; }));
  CHECK(mirror_->Status().unreconciled_slices == 0);
  CHECK(mirror_->Status().unwritten == 2);
  go_on.Notify();
  CHECK(Eventually([&] { return server_.Requests("_bulk") > 1; }));
  CHECK(mirror_->Status().unwritten == 2);
  // An event does not make it another document.
  Put(pods1_, *cache1_, "a", 7);
  CHECK(mirror_->Status().unwritten == 2);
  server_.SetFault(nullptr);
  Settle();
  CHECK(mirror_->Status().unwritten == 0);
}

TEST_CASE_METHOD(MirrorFixture,
                 "A comparison under way does not count as done, a repeated one does",
                 "[opensearch]") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  absl::Notification go_on;
  server_.SetFault([&](const base::HttpRequest& request) {
    if (absl::EndsWith(request.path, "/_refresh")) go_on.WaitForNotification();
    return std::optional<base::HttpResponse>();
  });
  mirror_->Synced(pods2_, cache2_);
  CHECK(Eventually([&] { return server_.Requests("_refresh") > 1; }));
  CHECK(mirror_->Status().unreconciled_slices == 1);
  go_on.Notify();
  Settle();
  CHECK(mirror_->Status().unreconciled_slices == 0);
}

TEST_CASE_METHOD(MirrorFixture, "A missing document that cannot be written yet is not forgotten",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  // Its namespace was not wanted for a moment.
  Erase(pods1_, *cache1_, "a", 9);
  Settle();
  CHECK(mirror_->Status().unreconciled_slices == 0);
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "");
  CHECK(mirror_->Status().unreconciled_slices == 1);
}

TEST_CASE_METHOD(MirrorFixture, "Objects with the same uid in two clusters are two documents",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  cache2_->Put("a", 900, Pod("a", 900));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(Version(pods2_, "a") == "900");
}

TEST_CASE_METHOD(MirrorFixture, "A late event does not overwrite what another replica has written",
                 "[opensearch]") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  auto other = search::OpenSearchMirror::Create(options_, base::RealClock(), nullptr).value();
  const auto ahead = std::make_shared<FakeSlice>();
  ahead->Put("a", 9, Pod("a", 9));
  other->Synced(pods1_, ahead);
  REQUIRE(other->AwaitIdle(base::RealClock().SteadyNow() + absl::Seconds(60), {}).ok());
  Put(pods1_, *cache1_, "a", 7);
  Settle();
  CHECK(Version(pods1_, "a") == "9");
  CHECK(mirror_->Status().conflicts == 1);
  // Neither does its deletion of an older state.
  Erase(pods1_, *cache1_, "a", 8);
  Settle();
  CHECK(Version(pods1_, "a") == "9");
}

TEST_CASE_METHOD(MirrorFixture, "A restart with nothing to do writes nothing", "[opensearch]") {
  for (int i = 0; i < 20; ++i) {
    cache1_->Put(absl::StrCat("u", i), i + 1, Pod(absl::StrCat("u", i), i + 1));
  }
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(mirror_->Status().written == 20);
  options_.page_size = 7;
  Restart();
  const int before = server_.Requests("_bulk");
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(server_.Requests("_bulk") == before);
}

TEST_CASE_METHOD(MirrorFixture, "What happened while nobody mirrored is found after a restart",
                 "[opensearch]") {
  for (int i = 0; i < 20; ++i) {
    cache1_->Put(absl::StrCat("u", i), i + 1, Pod(absl::StrCat("u", i), i + 1));
  }
  mirror_->Synced(pods1_, cache1_);
  Settle();
  mirror_ = nullptr;
  cache1_->Erase("u3", 21);
  cache1_->Put("u4", 22, Pod("u4", 22));
  cache1_->Put("new", 23, Pod("new", 23));
  options_.page_size = 7;
  Start();
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "u3") == "");
  CHECK(Version(pods1_, "u4") == "22");
  CHECK(Version(pods1_, "new") == "23");
  CHECK(mirror_->Status().written == 2);
  CHECK(mirror_->Status().deleted == 1);
  CHECK(Count(pods1_) == 20);
}

TEST_CASE_METHOD(MirrorFixture, "A replica that lags does not delete what is newer than it knows",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  cache1_->Put("new", 50, Pod("new", 50));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  const auto lagging = std::make_shared<FakeSlice>();
  lagging->Put("a", 5, Pod("a", 5));
  lagging->SetServerVersion(50);
  Restart();
  mirror_->Synced(pods1_, lagging);
  Settle();
  CHECK(Version(pods1_, "new") == "50");
  CHECK(mirror_->Status().deleted == 0);
}

TEST_CASE_METHOD(MirrorFixture, "A member whose versions went back is mirrored all the same",
                 "[opensearch]") {
  cache1_->Put("a", 500, Pod("a", 500));
  cache1_->Put("b", 600, Pod("b", 600));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  // Its etcd was restored.
  const auto restored = std::make_shared<FakeSlice>();
  restored->Put("a", 40, Pod("a", 40));
  mirror_->Synced(pods1_, restored);
  Settle();
  CHECK(Version(pods1_, "a") == "40");
  CHECK(Version(pods1_, "b") == "");
  Put(pods1_, *restored, "a", 41);
  Settle();
  CHECK(Version(pods1_, "a") == "41");
  // The same after a restart: the epoch is in the documents.
  Restart();
  mirror_->Synced(pods1_, restored);
  Settle();
  CHECK(mirror_->Status().written == 0);
  Put(pods1_, *restored, "a", 42);
  Settle();
  CHECK(Version(pods1_, "a") == "42");
}

TEST_CASE_METHOD(MirrorFixture, "Events of a member whose versions went back lead to a comparison",
                 "[opensearch]") {
  options_.conflict_period = absl::ZeroDuration();
  Restart();
  cache1_->Put("a", 500, Pod("a", 500));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  cache1_->Clear();
  cache1_->SetKnownVersion(30);
  Put(pods1_, *cache1_, "a", 40);
  CHECK(Eventually([&] { return Version(pods1_, "a") == "40"; }));
  Settle();
}

TEST_CASE_METHOD(MirrorFixture, "The documents of a kind or cluster that leaves go, and come back",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  cache2_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  mirror_->Synced(deployments1_, cache1_);
  Settle();
  REQUIRE(Count(deployments1_) == 1);
  mirror_->KindLeft(deployments1_);
  Settle();
  CHECK(Count(deployments1_) == 0);
  CHECK(Count(pods1_) == 1);
  mirror_->KindLeft(pods1_);
  Settle();
  CHECK(Count(pods1_) == 0);
  CHECK(Count(pods2_) == 1);
  // Nothing was changed in the member meanwhile, so that the version is the same.
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(mirror_->Status().slices == 2);
}

TEST_CASE_METHOD(MirrorFixture, "Documents of slices that nobody knows any more are found",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache1_);
  mirror_->Synced(deployments1_, cache1_);
  Settle();
  Restart();
  mirror_->Synced(pods2_, cache1_);
  Settle();
  CHECK(Count(pods1_) == 1);  // Nobody has said what there should be.
  mirror_->SetScope({pods1_, pods2_});
  Settle();
  CHECK(Count(deployments1_) == 0);
  CHECK(Count(pods1_) == 1);  // Not listed yet.
  mirror_->KindLeft(pods1_);
  Settle();
  CHECK(Count(pods1_) == 0);
  CHECK(Count(pods2_) == 1);
}

TEST_CASE_METHOD(MirrorFixture, "A slice without a snapshot waits, and others do not",
                 "[opensearch]") {
  cache1_->SetError(absl::UnavailableError("not listed"));
  cache1_->Put("a", 5, Pod("a", 5));
  cache2_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  Put(pods2_, *cache2_, "b", 6);
  CHECK(Eventually([&] { return Version(pods2_, "b") == "6"; }));
  CHECK(Version(pods1_, "a") == "");
  REQUIRE(mirror_->Status().failing.size() == 1);
  CHECK(mirror_->Status().failing[0].slice == pods1_);
  CHECK(mirror_->Status().failing[0].error == "not listed");
  cache1_->SetError(absl::OkStatus());
  Settle();
  CHECK(mirror_->Status().failing.empty());
  CHECK(Version(pods1_, "a") == "5");
}

// Says that the mirror belongs to this control plane.
auto Plane(const char* name) {
  return [name](const base::StopToken&) -> absl::StatusOr<std::string> { return name; };
}

TEST_CASE_METHOD(MirrorFixture, "Another control plane's indices are left alone", "[opensearch]") {
  options_.owner = Plane("plane-1");
  Restart();
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  options_.owner = Plane("plane-2");
  Restart();
  mirror_->SetScope({});
  CHECK(Eventually([&] { return !mirror_->Status().last_error.empty(); }));
  CHECK(absl::StrContains(mirror_->Status().last_error, "belong to another control plane"));
  CHECK(Version(pods1_, "a") == "5");
  options_.owner = Plane("plane-1");
  Restart();
  mirror_->SetScope({});
  Settle();
  CHECK(Version(pods1_, "a") == "");
}

TEST_CASE_METHOD(MirrorFixture, "Nothing is written before the control plane is known") {
  std::atomic<bool> known = false;
  options_.owner = [&](const base::StopToken&) -> absl::StatusOr<std::string> {
    if (!known) return absl::UnavailableError("connection refused");
    return "plane-1";
  };
  Restart();
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] {
    return mirror_->Status().last_error == "the identity of the control plane: connection refused";
  }));
  CHECK(Version(pods1_, "a") == "");
  known = true;
  CHECK(Eventually([&] { return Version(pods1_, "a") == "5"; }));
}

TEST_CASE_METHOD(MirrorFixture, "Of two control planes that begin at once one gets the indices") {
  if (TestOpenSearch::IsReal()) return;
  mirror_ = nullptr;
  server_.Change([](MemoryOpenSearch& memory) { memory = MemoryOpenSearch(); });
  // The other one puts its template after this one has found none.
  std::atomic<bool> found_none = false;
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!absl::StrContains(request.path, "_index_template") || found_none.exchange(true)) {
      return std::nullopt;
    }
    server_.Ask("PUT", request.path,
                R"({"_meta":{"owner":"plane-2"},"index_patterns":["x"],"template":{}})");
    return ErrorAnswer(404, "resource_not_found_exception", "no template");
  });
  options_.owner = Plane("plane-1");
  Start();
  CHECK(Eventually([&] {
    return absl::StrContains(mirror_->Status().last_error, "belong to another control plane");
  }));
  const base::HttpResponse kept = server_.Ask("GET", "/_index_template/" + server_.prefix());
  CHECK(absl::StrContains(kept.body, "plane-2"));
}

TEST_CASE_METHOD(MirrorFixture, "Indices get a new mapping although the first attempt has failed") {
  if (TestOpenSearch::IsReal()) return;
  mirror_ = nullptr;
  server_.Change([](MemoryOpenSearch& memory) { memory = MemoryOpenSearch(); });
  server_.Ask("PUT", "/_index_template/" + server_.prefix(),
              R"({"_meta":{"contents":"of an earlier release"},"template":{}})");
  std::atomic<int> failures = 0, mappings = 0;
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!absl::StrContains(request.path, "_mapping")) return std::nullopt;
    if (failures.fetch_add(1) > 0) {
      ++mappings;
      return std::nullopt;
    }
    return ErrorAnswer(503, "timeout", "the first attempt fails");
  });
  Start();
  CHECK(Eventually([&] { return mappings > 0; }));
  CHECK(Eventually([&] {
    const std::string kept = server_.Ask("GET", "/_index_template/" + server_.prefix()).body;
    return absl::StrContains(kept, "contents") && !absl::StrContains(kept, "yet");
  }));
}

TEST_CASE_METHOD(MirrorFixture, "States without a number as version are written in their order",
                 "[opensearch]") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  for (const char* phase : {"Pending", "Running"}) {
    const std::string more = absl::StrCat(R"(,"status":{"phase":")", phase, R"("})");
    mirror_->Upsert(pods1_, FakeSlice::Mirrored("a", 0, Pod("a", 0, more)));
    Settle();
    CHECK(Document(pods1_, "a").Get({"_source", "summary", "phase"}).AsString() == phase);
  }
}

TEST_CASE_METHOD(MirrorFixture, "Objects without a uid are left out", "[opensearch]") {
  cache1_->Put("", 5, Pod("", 5));
  cache1_->Put("a", 6, Pod("other", 6));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  Put(pods1_, *cache1_, "", 7);
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Count(pods1_) == 1);
  CHECK(Document(pods1_, "a").Get({"_source", "uid"}).AsString() == "a");
}

TEST_CASE_METHOD(MirrorFixture, "Deleted indices are made again by the next comparison",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  server_.Ask("DELETE", "/" + Index(pods1_));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
}

}  // namespace
}  // namespace tests
