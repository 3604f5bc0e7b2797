// What becomes of tokens that count while others send tokens that mean nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kube/aggregation/authenticator.h"
#include "tests/kube/aggregation/review_server.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube::aggregation {
namespace {

// An authenticator, and what it has said of each request.
class Asking {
 public:
  explicit Asking(DelegatedAuthenticator::Options options = {})
      : authenticator_(
            options, [] { return std::make_shared<const AuthenticationConfig>(); }, &client_,
            clock) {
    server->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  }
  ~Asking() { client_.Stop(); }

  // Sends a token from an address; the outcome gets a name.
  void Ask(const std::string& name, const std::string& token,
           const std::string& address = "10.0.0.1:1") {
    base::HttpRequest request;
    request.target = "/";
    request.fields = {{"Authorization", "Bearer " + token}};
    request.headers = {{"authorization", "Bearer " + token}};
    request.remote_address = address;
    authenticator_.Authenticate(request, [this, name](const absl::StatusOr<UserInfo>& user) {
      absl::MutexLock lock(&mu_);
      outcomes_[name] = user.ok() ? user->name : absl::StatusCodeToString(user.status().code());
    });
  }
  // Returns "" while there is none.
  std::string Outcome(const std::string& name) const {
    absl::MutexLock lock(&mu_);
    const auto outcome = outcomes_.find(name);
    return outcome == outcomes_.end() ? "" : outcome->second;
  }
  bool Becomes(const std::string& name, const std::string& outcome) const {
    return tests::Eventually([&] { return Outcome(name) == outcome; });
  }
  int Reviews(const std::string& token) const {
    const auto reviews = server->reviews();
    return static_cast<int>(std::count(reviews.begin(), reviews.end(), "token " + token));
  }

  tests::FakeClock clock;
  std::shared_ptr<tests::ReviewServer> server = std::make_shared<tests::ReviewServer>();

 private:
  static ReviewClient::Options FewReviews() {
    ReviewClient::Options options;
    options.threads = 1;
    options.max_waiting = 2;
    options.stranger_threads = 1;
    options.max_waiting_strangers = 4;
    return options;
  }

  mutable absl::Mutex mu_;
  std::map<std::string, std::string> outcomes_ ABSL_GUARDED_BY(mu_);
  ReviewClient client_{FewReviews(), server, clock, nullptr};
  DelegatedAuthenticator authenticator_;
};

constexpr char kRefused[] = "RESOURCE_EXHAUSTED";

TEST_CASE("a token that has counted before is reviewed whatever strangers send") {
  Asking asking;
  asking.Ask("first", "secret");
  REQUIRE(asking.Becomes("first", "carol"));
  asking.clock.Advance(absl::Seconds(11));
  asking.server->Block(true);
  asking.Ask("at work", "bad-0");
  REQUIRE(tests::Eventually([&] { return asking.Reviews("bad-0") == 1; }));
  for (int i = 1; i <= 3; ++i) asking.Ask(absl::StrCat("waits ", i), absl::StrCat("bad-", i));
  // One network leaves as many places as it has; another one finds one.
  CHECK(asking.Outcome("waits 2") == "");
  CHECK(asking.Outcome("waits 3") == kRefused);
  asking.Ask("elsewhere", "bad-4", "10.0.0.2:1");
  CHECK(asking.Outcome("elsewhere") == "");
  // Several fill what strangers have.
  asking.Ask("third", "bad-5", "10.0.0.3:1");
  asking.Ask("fourth", "bad-6", "10.0.0.4:1");
  CHECK(asking.Outcome("fourth") == kRefused);
  asking.Ask("again", "secret");
  CHECK(tests::Eventually([&] { return asking.Reviews("secret") == 2; }));
  asking.server->Block(false);
  CHECK(asking.Becomes("again", "carol"));
  CHECK(asking.Becomes("elsewhere", "UNAUTHENTICATED"));
}

TEST_CASE("a token that does not count any more is a stranger's") {
  Asking asking;
  asking.Ask("first", "secret");
  REQUIRE(asking.Becomes("first", "carol"));
  asking.clock.Advance(absl::Seconds(11));
  asking.server->RevokeToken("secret");
  asking.Ask("revoked", "secret");
  REQUIRE(asking.Becomes("revoked", "UNAUTHENTICATED"));
  asking.clock.Advance(absl::Seconds(11));
  asking.server->Block(true);
  asking.Ask("at work", "bad-0");
  REQUIRE(tests::Eventually([&] { return asking.Reviews("bad-0") == 1; }));
  for (int i = 1; i <= 2; ++i) asking.Ask(absl::StrCat("waits ", i), absl::StrCat("bad-", i));
  asking.Ask("with strangers", "secret");
  CHECK(asking.Outcome("with strangers") == kRefused);
}

TEST_CASE("what waits for reviews of strangers' tokens is bounded, and shared by networks") {
  // Each request has 26 bytes.
  Asking asking({.max_stranger_bytes = 120});
  asking.server->Block(true);
  auto is_refused = [&, n = 0](const std::string& address) mutable {
    const std::string name = absl::StrCat("request ", ++n);
    // Equal tokens are one question, so that no place in the queue is missing.
    asking.Ask(name, "equal", address);
    return asking.Outcome(name) == kRefused;
  };
  CHECK_FALSE(is_refused("10.0.0.1:1"));
  CHECK_FALSE(is_refused("10.0.0.1:2"));
  CHECK(is_refused("10.0.0.1:3"));
  // One host may have any number of addresses in its network of IPv6.
  CHECK_FALSE(is_refused("[2001:db8::1]:1"));
  CHECK(is_refused("[2001:db8::2:1]:1"));
  CHECK_FALSE(is_refused("[2001:db8:0:1::1]:1"));
}

}  // namespace
}  // namespace kube::aggregation
