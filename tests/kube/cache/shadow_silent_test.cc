// A shadow over members of which some swallow every request.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/kube/cache/shadow_fixture.h"

namespace kube {
namespace {

// Never answers: each request ends by its time-out.
class BlackHole : public Transport {
 public:
  BlackHole(std::string name, std::vector<std::string>& asked, tests::FakeClock& clock)
      : name_(std::move(name)), asked_(asked), clock_(clock) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request, const base::StopToken&) override {
    asked_.push_back(name_);
    if (on_request) on_request();
    if (server != nullptr) return server->Send(request, {});
    clock_.Advance(request.timeout);
    return absl::DeadlineExceededError("no answer");
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest&, StreamCallbacks) override { return nullptr; }
  std::function<void()> on_request;
  std::shared_ptr<Transport> server;  // Answers, once the member is back.

 private:
  const std::string name_;
  std::vector<std::string>& asked_;
  tests::FakeClock& clock_;
};

struct SilentFixture : ShadowFixture {
  static constexpr int kHoles = 5;
  std::vector<std::string> asked;
  std::vector<std::shared_ptr<BlackHole>> holes;

  SilentFixture() {
    for (int i = 0; i < kHoles; ++i) {
      // Before and after member1 by name.
      const std::string name = absl::StrCat(i % 2 == 0 ? "hole" : "zone", i);
      holes.push_back(std::make_shared<BlackHole>(name, asked, clock));
      const auto member = shadow->Over(name, holes.back());
      for (const char* map : {"a", "b"}) {
        CHECK_FALSE(member->Send(Patch(map), stop).ok());
      }
    }
    asked.clear();
  }
  static HttpRequest Patch(const std::string& map) {
    return {.method = "PATCH",
            .path = "/api/v1/namespaces/ns/configmaps/" + map,
            .content_type = "application/merge-patch+json",
            .body = R"({"data":{"k":"b"}})"};
  }
  absl::Duration JudgeOnce() {
    const base::SteadyTime begin = clock.SteadyNow();
    shadow->Judge(stop);
    return clock.SteadyNow() - begin;
  }
};

TEST_CASE_METHOD(SilentFixture, "Members that never answer cost one time-out together") {
  for (int i = 0; i < 3; ++i) CHECK(JudgeOnce() == HttpRequest().timeout);
}

TEST_CASE_METHOD(SilentFixture, "Members that answer are judged before those that do not") {
  CHECK(SetMap(PutMap("there", "a"), "b").ok());
  REQUIRE(Count("held") == 1);
  PutMap("there", "b");
  for (const auto& hole : holes) hole->on_request = [&] { CHECK(Count("held") == 0); };
  shadow->Judge(stop);
  CHECK(asked.size() == 1);
  CHECK(Count("unanswered") == 2 * kHoles);
}

TEST_CASE_METHOD(SilentFixture, "Each member that does not answer has its turn") {
  for (int i = 0; i < 2 * kHoles; ++i) shadow->Judge(stop);
  std::map<std::string, int> times;
  for (const std::string& name : asked) ++times[name];
  REQUIRE(times.size() == kHoles);
  for (const auto& [name, count] : times) CHECK(count == 2);
}

TEST_CASE_METHOD(SilentFixture, "A member that answers again is judged when its turn comes") {
  PutMap("a", "b");
  PutMap("b", "a");
  for (const auto& hole : holes) hole->server = server;
  for (int i = 0; i < kHoles; ++i) CHECK(JudgeOnce() == absl::ZeroDuration());
  CHECK(Count("unanswered") == 0);
  CHECK(Count("held") == kHoles);
}

}  // namespace
}  // namespace kube
