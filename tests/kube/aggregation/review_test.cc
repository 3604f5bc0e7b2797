// Asking the control plane: retries, deadlines, answers that are kept, questions that are shared.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "kube/aggregation/review_cache.h"
#include "kube/aggregation/review_client.h"
#include "tests/kube/aggregation/review_server.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube::aggregation {
namespace {

using Answers = std::vector<absl::StatusOr<json::Value>>;

// Collects what reviews end with.
class Results {
 public:
  ReviewClient::Done Next() {
    return [this](absl::StatusOr<json::Value> answer) {
      absl::MutexLock lock(&mu_);
      answers_.push_back(std::move(answer));
    };
  }
  bool Await(size_t n) {
    return tests::Eventually([&] {
      absl::MutexLock lock(&mu_);
      return answers_.size() >= n;
    });
  }
  absl::StatusOr<json::Value> At(size_t i) {
    absl::MutexLock lock(&mu_);
    return answers_.at(i);
  }

 private:
  absl::Mutex mu_;
  Answers answers_ ABSL_GUARDED_BY(mu_);
};

json::Value Review() {
  return *json::Parse(
      R"({"spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods"}}})");
}

struct Fixture {
  std::shared_ptr<tests::ReviewServer> server = std::make_shared<tests::ReviewServer>();
  metrics::Registry registry;
  tests::FakeClock clock;
  Results results;
  std::unique_ptr<ReviewClient> client;

  explicit Fixture(int threads = 2, size_t max_waiting = 2) {
    ReviewClient::Options options;
    options.threads = threads;
    options.max_waiting = max_waiting;
    options.metric_prefix = "reviews";
    client = std::make_unique<ReviewClient>(options, server, clock, &registry);
  }
};

TEST_CASE("a review that fails for a passing reason is repeated after a pause") {
  Fixture f;
  f.server->FailNext({0, 500, 429});
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  for (int attempt = 1; attempt <= 3; ++attempt) {
    f.clock.AwaitWaiters(1);
    CHECK(f.server->count() == static_cast<size_t>(attempt));
    // The longest pause: 500 ms, half as much again each time, and a fifth of jitter.
    f.clock.AdvanceAndAwait(absl::Milliseconds(1400));
  }
  REQUIRE(f.results.Await(1));
  CHECK(f.results.At(0).ok());
  CHECK(f.server->last_timeout() == absl::Seconds(10) - absl::Milliseconds(4200));
  CHECK(f.registry.GetCounter("reviews_request_total", "", {{"code", "<error>"}}).Value() == 1);
  CHECK(f.registry.GetCounter("reviews_request_total", "", {{"code", "201"}}).Value() == 1);
}

TEST_CASE("a review that is refused is not repeated") {
  Fixture f;
  f.server->FailNext({403});
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  REQUIRE(f.results.Await(1));
  CHECK(absl::IsInternal(f.results.At(0).status()));
  CHECK(f.server->count() == 1);
}

TEST_CASE("no review is repeated beyond its deadline") {
  Fixture f;
  f.server->FailNext({0, 0, 0, 0, 0});
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  f.clock.AwaitWaiters(1);
  // The next attempt would begin when the ten seconds are over.
  f.clock.Advance(absl::Milliseconds(9700));
  REQUIRE(f.results.Await(1));
  CHECK(absl::IsUnavailable(f.results.At(0).status()));
  CHECK(f.server->count() == 2);
}

TEST_CASE("reviews beyond what may wait are refused at once, and stopping drops the others") {
  Fixture f(/*threads=*/1, /*max_waiting=*/2);
  f.server->Block(true);
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  REQUIRE(tests::Eventually([&] { return f.server->count() == 1; }));
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  REQUIRE(f.results.Await(1));
  CHECK(absl::IsResourceExhausted(f.results.At(0).status()));
  CHECK(
      f.registry.GetCounter("karmada_refused_requests_total", "", {{"cause", "reviews"}}).Value() ==
      1);
  f.client->Stop();
  CHECK(f.server->count() == 1);
}

TEST_CASE("a review whose time is over in the queue is not sent") {
  Fixture f(/*threads=*/1, /*max_waiting=*/2);
  f.server->Block(true);
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  REQUIRE(tests::Eventually([&] { return f.server->count() == 1; }));
  f.client->Start({"/reviews", Review(), ""}, f.results.Next());
  f.clock.Advance(absl::Seconds(11));
  f.server->Block(false);
  REQUIRE(f.results.Await(2));
  CHECK(absl::IsDeadlineExceeded(f.results.At(1).status()));
  CHECK(f.server->count() == 1);
}

using Cache = ReviewCache<std::string>;

// Asks a cache; counts the questions, and answers them when the test says so.
struct Asking {
  tests::FakeClock clock;
  Cache cache{2, [](const std::string&) { return absl::Seconds(10); },
              [](const std::string& answer) { return answer != "no"; }, clock};
  std::vector<Cache::Done> open;
  int questions = 0;
  std::vector<std::string> got;

  void Get(const std::string& key, bool keep = true) {
    cache.Get(
        key, keep,
        [this](Cache::Done done) {
          ++questions;
          open.push_back(std::move(done));
        },
        [this](const absl::StatusOr<std::string>& answer) {
          got.push_back(answer.ok() ? *answer : "error");
        });
  }
  void Answer(const absl::StatusOr<std::string>& answer) {
    for (const Cache::Done& done : std::exchange(open, {})) done(answer);
  }
};

TEST_CASE("equal questions at the same time are asked once") {
  Asking a;
  a.Get("x");
  a.Get("x");
  a.Get("x");
  CHECK(a.questions == 1);
  CHECK(a.got.empty());
  a.Answer(std::string("yes"));
  CHECK(a.got == std::vector<std::string>{"yes", "yes", "yes"});
  a.Get("x");
  CHECK(a.got.size() == 4);
  CHECK(a.questions == 1);
}

TEST_CASE("answers are forgotten after their time, and the oldest when there are too many") {
  Asking a;
  a.Get("x");
  a.Answer(std::string("1"));
  a.clock.Advance(absl::Seconds(10));
  a.Get("x");
  CHECK(a.questions == 2);
  a.Answer(std::string("2"));
  for (const char* key : {"y", "x", "z"}) {
    a.Get(key);
    a.Answer(std::string(key));
  }
  CHECK(a.cache.size() == 2);
  a.Get("x");  // Was used after y.
  CHECK(a.questions == 4);
  a.Get("y");
  CHECK(a.questions == 5);
}

TEST_CASE("answers that count are kept whatever others are, and remembered after their time") {
  Asking a;
  a.Get("x");
  a.Answer(std::string("yes"));
  for (const char* key : {"p", "q", "r"}) {
    a.Get(key);
    a.Answer(std::string("no"));
  }
  CHECK(a.cache.size() == 3);
  CHECK(a.cache.Known("x") != nullptr);
  a.clock.Advance(absl::Seconds(10));
  CHECK(a.cache.Known("x") == nullptr);
  REQUIRE(a.cache.Former("x") != nullptr);
  CHECK(*a.cache.Former("x") == "yes");
  CHECK(a.cache.Former("r") == nullptr);
  a.Get("x");
  a.Answer(std::string("no"));
  CHECK(a.cache.Former("x") == nullptr);
}

TEST_CASE("errors are not kept, nor what must not be") {
  Asking a;
  a.Get("x");
  a.Answer(absl::UnavailableError("down"));
  CHECK(a.got == std::vector<std::string>{"error"});
  a.Get("x");
  CHECK(a.questions == 2);
  a.Answer(std::string("yes"));
  a.Get("huge", /*keep=*/false);
  a.Answer(std::string("yes"));
  a.Get("huge", /*keep=*/false);
  CHECK(a.questions == 4);
}

}  // namespace
}  // namespace kube::aggregation
