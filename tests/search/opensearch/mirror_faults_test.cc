// What becomes of writes when OpenSearch fails, slows down or refuses. Runs on a real OpenSearch,
// too, but for what only the one in memory can be told to do.
#include <atomic>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "search/opensearch/mirror.h"
#include "tests/search/opensearch/mirror_fixture.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

bool IsBulk(const base::HttpRequest& request) { return request.path == "/_bulk"; }

TEST_CASE_METHOD(MirrorFixture, "Nothing is lost while OpenSearch is down under churn",
                 "[opensearch]") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  server_.SetDown(true);
  int64_t version = 1;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) Put(pods1_, *cache1_, absl::StrCat("u", i), version++);
  }
  for (int i = 0; i < 5; ++i) Erase(pods1_, *cache1_, absl::StrCat("u", i), version++);
  Put(pods1_, *cache1_, "u0", version++);
  CHECK(Eventually([&] { return !mirror_->Status().connected; }));
  // One entry for each object, not for each event.
  CHECK(mirror_->Status().pending <= 20);
  CHECK(mirror_->Status().last_error != "");
  server_.SetDown(false);
  Settle();
  CHECK(Count(pods1_) == 16);
  CHECK(Version(pods1_, "u0") == absl::StrCat(version - 1));
  CHECK(Version(pods1_, "u19") == "1000");
  CHECK(mirror_->Status().last_error == "");
}

TEST_CASE_METHOD(MirrorFixture, "Objects that come and go during an outage do not fill the memory",
                 "[opensearch]") {
  cache1_->Put("stays", 1, Pod("stays", 1));
  cache1_->Put("goes", 2, Pod("goes", 2));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  server_.SetDown(true);
  Erase(pods1_, *cache1_, "goes", 3);
  size_t most = 0;
  for (int64_t version = 10; version < 100'000; version += 2) {
    const std::string uid = absl::StrCat("u", version);
    Put(pods1_, *cache1_, uid, version);
    Erase(pods1_, *cache1_, uid, version + 1);
    most = std::max(most, mirror_->Status().pending);
  }
  Put(pods1_, *cache1_, "new", 200'000);
  // The writes of a request that has failed wait again, beside the deletions.
  CHECK(most <= options_.max_deletions + options_.bulk_writes + 1);
  server_.SetDown(false);
  Settle();
  CHECK(Count(pods1_) == 2);
  CHECK(Version(pods1_, "stays") == "1");
  CHECK(Version(pods1_, "new") == "200000");
  // And events count again.
  Put(pods1_, *cache1_, "new", 200'001);
  Settle();
  CHECK(Version(pods1_, "new") == "200001");
}

TEST_CASE_METHOD(MirrorFixture, "An answer that is lost, garbage or an error is followed by a try",
                 "[opensearch]") {
  const auto answer =
      GENERATE(as<base::HttpResponse>(), base::HttpResponse{.code = 429},
               base::HttpResponse{.code = 503, .body = "busy"},
               base::HttpResponse{.code = 200, .body = "<html>"},
               base::HttpResponse{.code = 200, .body = "{}"},
               base::HttpResponse{.code = 200, .body = R"({"items":[{"index":{}}]})"},
               base::HttpResponse{.code = 401, .body = "Unauthorized"});
  std::atomic<int> left = 3;
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!IsBulk(request) || left-- <= 0) return std::nullopt;
    return answer;
  });
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(mirror_->Status().retries == 3);
  CHECK(mirror_->Status().dead_letters == 0);
}

TEST_CASE_METHOD(MirrorFixture, "A mirror with nothing to write notices what its server answers",
                 "[opensearch]") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(mirror_->Status().connected);
  server_.SetDown(true);
  CHECK(Eventually([&] { return !mirror_->Status().connected; }));
  CHECK(mirror_->Status().last_error != "");
  server_.SetDown(false);
  CHECK(Eventually([&] { return mirror_->Status().connected; }));
  CHECK(mirror_->Status().last_error == "");
  server_.SetFault([](const base::HttpRequest&) -> std::optional<base::HttpResponse> {
    return base::HttpResponse{.code = 401, .body = "Unauthorized"};
  });
  CHECK(Eventually([&] { return absl::StrContains(mirror_->Status().last_error, "401"); }));
  server_.SetFault(nullptr);
  CHECK(Eventually([&] { return mirror_->Status().connected; }));
}

TEST_CASE_METHOD(MirrorFixture, "The error of writes stays while the server answers all else",
                 "[opensearch]") {
  server_.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!IsBulk(request)) return std::nullopt;
    return base::HttpResponse{.code = 503, .body = "busy"};
  });
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] { return !mirror_->Status().last_error.empty(); }));
  bool always = true;
  CHECK(Eventually([&] {
    always = always && !mirror_->Status().last_error.empty();
    return server_.Requests("_bulk") >= 6;
  }));
  CHECK(always);
  server_.SetFault(nullptr);
  Settle();
  CHECK(mirror_->Status().last_error == "");
}

TEST_CASE_METHOD(MirrorFixture, "A write without an answer shows before its time is over") {
  if (TestOpenSearch::IsReal()) return;
  options_.slow_answer = absl::ZeroDuration();
  Restart();
  absl::Notification go_on;
  server_.SetFault([&](const base::HttpRequest& request) {
    if (IsBulk(request)) go_on.WaitForNotification();
    return std::optional<base::HttpResponse>();
  });
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] {
    return absl::StartsWith(mirror_->Status().last_error, "OpenSearch has not answered a write");
  }));
  go_on.Notify();
  Settle();
  CHECK(mirror_->Status().last_error == "");
}

TEST_CASE_METHOD(MirrorFixture, "Writes that are refused alone show, and overload slows all down") {
  if (TestOpenSearch::IsReal()) return;
  std::atomic<int> status = 403;
  server_.Change([&](MemoryOpenSearch& memory) {
    memory.refuse = [&](absl::string_view id) -> std::optional<std::pair<int, std::string>> {
      if (id != "member1/a" || status == 200) return std::nullopt;
      return {{status.load(), status == 403 ? "security_exception" : "rejected_execution"}};
    };
  });
  cache1_->Put("a", 5, Pod("a", 5));
  cache1_->Put("b", 6, Pod("b", 6));
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] {
    const search::MirrorStatus now = mirror_->Status();
    return now.retrying == 1 && absl::StartsWith(now.retry_reason, "security_exception");
  }));
  CHECK(Version(pods1_, "b") == "6");
  CHECK(mirror_->Status().last_error == "");
  status = 429;
  CHECK(Eventually(
      [&] { return absl::StartsWith(mirror_->Status().last_error, "rejected_execution"); }));
  status = 200;
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(mirror_->Status().retrying == 0);
}

TEST_CASE_METHOD(MirrorFixture, "Overload stops the deletion of a slice that has left") {
  if (TestOpenSearch::IsReal()) return;
  options_.bulk_writes = 1;
  Restart();
  for (const char* uid : {"a", "b", "c"}) cache1_->Put(uid, 5, Pod(uid, 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  std::atomic<bool> overloaded = true;
  server_.Change([&](MemoryOpenSearch& memory) {
    memory.refuse = [&](absl::string_view) -> std::optional<std::pair<int, std::string>> {
      if (!overloaded) return std::nullopt;
      return {{429, "rejected_execution"}};
    };
  });
  const int bulks = server_.Requests("_bulk");
  const int attempts = server_.Requests("_refresh");
  mirror_->KindLeft(pods1_);
  CHECK(Eventually(
      [&] { return absl::StartsWith(mirror_->Status().last_error, "rejected_execution"); }));
  // Each attempt reads the documents, and ends with the first deletion that is refused.
  const int further_bulks = server_.Requests("_bulk") - bulks;
  CHECK(further_bulks <= server_.Requests("_refresh") - attempts);
  overloaded = false;
  Settle();
  CHECK(Version(pods1_, "a") == "");
}

TEST_CASE_METHOD(MirrorFixture, "What waits is forgotten when the scope of its slice changes") {
  mirror_->Synced(pods1_, cache1_);
  Settle();
  server_.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!IsBulk(request)) return std::nullopt;
    return base::HttpResponse{.code = 503, .body = "busy"};
  });
  Put(pods1_, *cache1_, "a", 5);
  CHECK(Eventually([&] { return !mirror_->Status().last_error.empty(); }));
  // The new scope has another namespace only.
  mirror_->Synced(pods1_, cache2_);
  server_.SetFault(nullptr);
  Settle();
  CHECK(Version(pods1_, "a") == "");
}

TEST_CASE_METHOD(MirrorFixture, "Waits grow while writes fail, although the server answers") {
  server_.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!IsBulk(request)) return std::nullopt;
    return base::HttpResponse{.code = 503, .body = "busy"};
  });
  cache1_->Put("a", 5, Pod("a", 5));
  const absl::Time begin = absl::Now();
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] { return server_.Requests("_bulk") >= 9; }));
  // 10, 20, 40, 80 and four times 100 ms, and the jitter.
  CHECK(absl::Now() - begin >= absl::Milliseconds(550));
}

TEST_CASE_METHOD(MirrorFixture, "Requests that are too large are halved, single ones given up",
                 "[opensearch]") {
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (request.body.size() < 4000 || !IsBulk(request)) return std::nullopt;
    return ErrorAnswer(413, "request_entity_too_large", "too large");
  });
  for (int i = 0; i < 30; ++i) {
    cache1_->Put(absl::StrCat("u", i), i + 1, Pod(absl::StrCat("u", i), i + 1));
  }
  const std::string huge = absl::StrCat(R"(,"data":{"x":")", std::string(5000, 'x'), R"("})");
  cache1_->Put("huge", 40, Pod("huge", 40, huge));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Count(pods1_) == 30);
  const search::MirrorStatus status = mirror_->Status();
  REQUIRE(status.samples.size() == 1);
  CHECK(status.samples[0].uid == "huge");
  CHECK(status.samples[0].slice == pods1_);
  CHECK(absl::StrContains(status.samples[0].reason, "413"));
  // A smaller state of it is written.
  Put(pods1_, *cache1_, "huge", 41);
  Settle();
  CHECK(Version(pods1_, "huge") == "41");
  CHECK(mirror_->Status().dead_letters == 0);
}

TEST_CASE_METHOD(MirrorFixture, "Of a bulk request only what failed is sent again") {
  if (TestOpenSearch::IsReal()) return;
  std::atomic<int> busy = 2;
  const auto refuse = [&](absl::string_view id) -> std::optional<std::pair<int, std::string>> {
    if (id == "member1/busy" && busy-- > 0) return {{429, "rejected_execution_exception"}};
    if (id == "member1/bad") return {{400, "mapper_parsing_exception"}};
    return std::nullopt;
  };
  server_.Change([&](MemoryOpenSearch& memory) { memory.refuse = refuse; });
  cache1_->Put("busy", 1, Pod("busy", 1));
  cache1_->Put("bad", 2, Pod("bad", 2));
  cache1_->Put("good", 3, Pod("good", 3));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "busy") == "1");
  CHECK(Version(pods1_, "good") == "3");
  search::MirrorStatus status = mirror_->Status();
  CHECK(status.retries == 2);
  CHECK(status.written == 2);
  REQUIRE(status.dead_letters == 1);
  CHECK(status.samples[0].reason == "mapper_parsing_exception: refused by the test");
  CHECK(absl::StrContains(metrics_.Expose(), "karmada_search_opensearch_dead_letters 1"));
  // The next comparison tries again.
  server_.Change([](MemoryOpenSearch& memory) { memory.refuse = nullptr; });
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "bad") == "2");
  CHECK(mirror_->Status().dead_letters == 0);
}

TEST_CASE_METHOD(MirrorFixture, "A server that repeats a page of places is not asked for ever") {
  if (TestOpenSearch::IsReal()) return;
  server_.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!absl::StrContains(request.body, "\"aggs\"")) return std::nullopt;
    return base::HttpResponse{
        .code = 200,
        .body = R"({"aggregations":{"places":{"buckets":[],"after_key":{"cluster":"c"}}}})"};
  });
  mirror_->SetScope({pods1_});
  CHECK(Eventually(
      [&] { return absl::StrContains(mirror_->Status().last_error, "do not advance"); }));
}

TEST_CASE_METHOD(MirrorFixture, "Any number of documents may be refused, and some are shown why") {
  constexpr int kDocuments = 1200;
  for (int i = 0; i < kDocuments; ++i) cache1_->Put(absl::StrCat("u", i), i + 1, "{");
  mirror_->Synced(pods1_, cache1_);
  Settle();
  const search::MirrorStatus status = mirror_->Status();
  CHECK(status.dead_letters == kDocuments);
  REQUIRE(status.samples.size() == 5);
  for (const auto& sample : status.samples) CHECK(sample.reason != "");
}

TEST_CASE_METHOD(MirrorFixture, "An object that is not JSON is a dead letter", "[opensearch]") {
  cache1_->Put("bad", 1, "{");
  cache1_->Put("good", 2, Pod("good", 2));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "good") == "2");
  CHECK(mirror_->Status().dead_letters == 1);
}

TEST_CASE_METHOD(MirrorFixture, "An index that is refused keeps no other from being written",
                 "[opensearch]") {
  const std::string refused = "/" + Index(deployments1_);
  server_.SetFault([=](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (request.path != refused) return std::nullopt;
    return ErrorAnswer(400, "validation_exception", "too many shards");
  });
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(deployments1_, cache1_);
  mirror_->Synced(pods1_, cache1_);
  CHECK(Eventually([&] { return Version(pods1_, "a") == "5"; }));
  const search::MirrorStatus status = mirror_->Status();
  REQUIRE(status.failing.size() == 1);
  CHECK(absl::StrContains(status.failing[0].error, "too many shards"));
  CHECK(status.connected);
  server_.SetFault(nullptr);
  Settle();
  CHECK(Version(deployments1_, "a") == "5");
}

TEST_CASE_METHOD(MirrorFixture, "A template that is lost is put again, and everything is compared",
                 "[opensearch]") {
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  // The server was replaced by an empty one.
  server_.SetDown(true);
  server_.Ask("DELETE", "/" + Index(pods1_));
  if (TestOpenSearch::IsReal()) server_.Ask("DELETE", "/_index_template/" + server_.prefix());
  if (!TestOpenSearch::IsReal()) {
    server_.Change([](MemoryOpenSearch& memory) { memory = MemoryOpenSearch(); });
  }
  Put(pods1_, *cache1_, "b", 6);
  CHECK(Eventually([&] { return !mirror_->Status().connected; }));
  server_.SetDown(false);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  CHECK(Version(pods1_, "b") == "6");
}

TEST_CASE_METHOD(MirrorFixture, "A server that is no OpenSearch is named, and nothing is written") {
  if (TestOpenSearch::IsReal()) return;
  server_.Change([](MemoryOpenSearch& memory) { memory.distribution = "elasticsearch"; });
  Restart();
  mirror_->Synced(pods1_, cache1_);
  Put(pods1_, *cache1_, "a", 5);
  // It may be any server, so that nothing of what it says is repeated.
  CHECK(Eventually(
      [&] { return absl::StrContains(mirror_->Status().last_error, "is not an OpenSearch; "); }));
  CHECK(server_.Requests("_bulk") == 0);
}

TEST_CASE_METHOD(MirrorFixture,
                 "Credentials are read again when they are refused, and not logged") {
  if (TestOpenSearch::IsReal()) return;
  const CapturedStderr log;
  std::atomic<int> read = 0;
  options_.credentials = [&]() -> absl::StatusOr<search::OpenSearchCredentials> {
    search::OpenSearchCredentials c;
    c.username = "mirror";
    c.password = read++ == 0 ? "old-s3cret" : "new-s3cret";
    return c;
  };
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    // base64 of mirror:new-s3cret.
    if (request.Header("authorization") == "Basic bWlycm9yOm5ldy1zM2NyZXQ=") return std::nullopt;
    return base::HttpResponse{.code = 401, .content_type = "text/plain", .body = "Unauthorized"};
  });
  Restart();
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  CHECK(Version(pods1_, "a") == "5");
  mirror_ = nullptr;
  CHECK(absl::StrContains(log.Text(), "401"));
  CHECK_FALSE(absl::StrContains(log.Text(), "s3cret"));
}

TEST_CASE_METHOD(MirrorFixture, "A mirror with a slow OpenSearch ends at once") {
  if (TestOpenSearch::IsReal()) return;
  const auto end = std::make_shared<absl::Notification>();
  server_.SetFault([end](const base::HttpRequest&) -> std::optional<base::HttpResponse> {
    end->WaitForNotification();
    return std::nullopt;
  });
  cache1_->Put("a", 5, Pod("a", 5));
  mirror_->Synced(pods1_, cache1_);
  const absl::Time begin = absl::Now();
  mirror_ = nullptr;
  end->Notify();
  CHECK(absl::Now() - begin < absl::Seconds(30));  // A request waits for a minute.
}

}  // namespace
}  // namespace tests
