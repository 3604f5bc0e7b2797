// The agents of a process start, end and begin again; the agents themselves are only said to be
// there.
#include "cmd/agent/fleet.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/runtime/leader_fence.h"
#include "tests/support/eventually.h"

namespace cmd {
namespace {

using tests::Eventually;

// Stands for all agents. Thread-safe.
class FakeAgents {
 public:
  StartAgentFn Fn() {
    return [this](config::AgentOptions, AgentConnections, const AgentPlace&,
                  RunningAgent::Calls calls) { return Start(calls); };
  }
  void StartWith(absl::Status result) {
    absl::MutexLock lock(&mu_);
    start_ = std::move(result);
  }
  void EndWith(absl::Status result) {
    absl::MutexLock lock(&mu_);
    end_ = std::move(result);
  }
  // Starts do not end by themselves from now on.
  void HoldStarts() {
    absl::MutexLock lock(&mu_);
    holds_ = true;
  }
  void LetGo() {
    absl::MutexLock lock(&mu_);
    holds_ = false;
  }
  int starts() const {
    absl::MutexLock lock(&mu_);
    return static_cast<int>(calls_.size());
  }
  int ends() const {
    absl::MutexLock lock(&mu_);
    return ends_;
  }
  // The agent that was started last cannot go on.
  void Fail() {
    std::function<void()> on_failure;
    {
      absl::MutexLock lock(&mu_);
      on_failure = calls_.back().on_failure;
    }
    on_failure();
  }

 private:
  absl::StatusOr<StartedAgent> Start(const RunningAgent::Calls& calls) {
    absl::MutexLock lock(&mu_);
    calls_.push_back(calls);
    const auto may_go_on = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !holds_ || calls.stop.stop_requested();
    };
    while (!may_go_on()) mu_.AwaitWithTimeout(absl::Condition(&may_go_on), absl::Milliseconds(10));
    if (calls.stop.stop_requested()) return absl::CancelledError("stopped");
    if (!start_.ok()) return start_;
    const auto end = [this] {
      absl::MutexLock end_lock(&mu_);
      ++ends_;
      return end_;
    };
    return StartedAgent{end, [] { return "# HELP busy Busy.\n# TYPE busy gauge\nbusy 3\n"; }};
  }

  mutable absl::Mutex mu_;
  std::vector<RunningAgent::Calls> calls_ ABSL_GUARDED_BY(mu_);
  absl::Status start_ ABSL_GUARDED_BY(mu_), end_ ABSL_GUARDED_BY(mu_);
  bool holds_ ABSL_GUARDED_BY(mu_) = false;
  int ends_ ABSL_GUARDED_BY(mu_) = 0;
};

std::string Kubeconfig(const std::string& server, const std::string& token) {
  return absl::StrCat("apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n",
                      "- {name: c, cluster: {server: \"", server, "\"}}\nusers:\n",
                      "- {name: u, user: {token: \"", token, "\"}}\ncontexts:\n",
                      "- {name: x, context: {cluster: c, user: u}}\n");
}

ClusterPairs PairOf(const std::string& token, const std::string& server = "https://127.0.0.1:1") {
  return {{"edge1", {Kubeconfig(server, token), Kubeconfig("https://127.0.0.1:2", "m"), {}}}};
}

struct Fixture {
  // An agent that is stuck refers to it, and to the fleet's member, as long as the process lives.
  FakeAgents& agents = *new FakeAgents;
  std::unique_ptr<Fleet> fleet = std::make_unique<Fleet>(
      config::AgentOptions{}, std::make_shared<kube::LeaderFence>(base::RealClock()), agents.Fn());

  Fixture() { Kept().push_back(&agents); }
  static std::vector<FakeAgents*>& Kept() {
    static auto& kept = *new std::vector<FakeAgents*>;
    return kept;
  }
  // Follows until the condition is true.
  bool Follow(const ClusterPairs& pairs, const std::function<bool()>& condition) {
    return Eventually([&] {
      fleet->Follow(pairs);
      return condition();
    });
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an agent that has failed and does not end is not started again") {
  REQUIRE(Follow(PairOf("a"), [&] { return agents.starts() == 1; }));
  agents.EndWith(absl::DeadlineExceededError("still running"));
  agents.Fail();
  REQUIRE(Eventually([&] { return fleet->HasEnded(); }));
  fleet->Follow(PairOf("a"));
  CHECK(fleet->IsStuck());
  // Its cluster is not given to another process.
  CHECK(fleet->Serving().contains("edge1"));
  CHECK(agents.starts() == 1);
  fleet.reset();
  agents.Fail();  // Its threads go on.
}

TEST_CASE_METHOD(Fixture, "a cluster keeps its place while its agent does not end") {
  REQUIRE(Follow(PairOf("a"), [&] { return agents.starts() == 1; }));
  agents.EndWith(absl::DeadlineExceededError("still running"));
  REQUIRE(Follow({}, [&] { return fleet->HasEnded(); }));
  fleet->Follow({});
  CHECK(fleet->IsStuck());
  CHECK(fleet->Serving().contains("edge1"));
  fleet->Follow(PairOf("a"));
  CHECK(agents.starts() == 1);
}

TEST_CASE_METHOD(Fixture, "an agent that fails and ends begins again") {
  REQUIRE(Follow(PairOf("a"), [&] { return agents.starts() == 1; }));
  agents.EndWith(absl::AbortedError("the lease is lost"));
  agents.Fail();
  REQUIRE(Follow(PairOf("a"), [&] { return agents.starts() == 2; }));
  CHECK_FALSE(fleet->IsStuck());
}

TEST_CASE_METHOD(Fixture, "another kubeconfig ends a start that waits, and begins the next one") {
  agents.HoldStarts();
  REQUIRE(Follow(PairOf("bad"), [&] { return agents.starts() == 1; }));
  REQUIRE(Follow(PairOf("worse"), [&] { return agents.starts() == 2; }));
  agents.LetGo();
  CHECK(Follow(PairOf("good"), [&] { return agents.starts() >= 2; }));
  fleet->RequestEnd();
  CHECK(Eventually([&] { return fleet->HasEnded(); }));
}

TEST_CASE_METHOD(Fixture, "another kubeconfig ends the pause after a start that failed") {
  agents.StartWith(absl::UnauthenticatedError("refused"));
  // Pauses would grow to a minute.
  for (int i = 1; i <= 8; ++i) {
    REQUIRE(Follow(PairOf(absl::StrCat("bad", i)), [&] { return agents.starts() == i; }));
  }
}

TEST_CASE_METHOD(Fixture, "a kubeconfig of another control plane begins another agent") {
  REQUIRE(Follow(PairOf("a"), [&] { return agents.starts() == 1; }));
  fleet->Follow(PairOf("b"));
  CHECK(agents.ends() == 0);  // The agent reads it by itself.
  REQUIRE(Follow(PairOf("b", "https://127.0.0.1:3"), [&] { return agents.starts() == 2; }));
  CHECK(agents.ends() == 1);
}

TEST_CASE_METHOD(Fixture, "the metrics of an agent are shown while it runs") {
  constexpr char kLine[] = "busy{member_cluster=\"edge1\"} 3";
  REQUIRE(Follow(PairOf("a"), [&] { return absl::StrContains(fleet->Metrics(), kLine); }));
  REQUIRE(Follow({}, [&] { return agents.ends() == 1; }));
  CHECK_FALSE(absl::StrContains(fleet->Metrics(), kLine));
}

}  // namespace cmd
