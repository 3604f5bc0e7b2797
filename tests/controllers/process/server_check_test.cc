// Errors for a kubeconfig that leads to the wrong server.
#include "controllers/process/server_check.h"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "config/support.h"
#include "kube/http/transport.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/fake_clock.h"

namespace controllers {
namespace {

using Catch::Matchers::Contains;

constexpr char kVersion[] = R"({"gitVersion": "v1.31.0"})";
constexpr char kPlain[] = R"({"kind": "APIGroupList", "groups": [
    {"name": "apps", "versions": [{"groupVersion": "apps/v1"}]}]})";
constexpr char kKarmada[] = R"({"kind": "APIGroupList", "groups": [
    {"versions": [{"groupVersion": "apps.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "autoscaling.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "cluster.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "config.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "multicluster.x-k8s.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "networking.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "policy.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "remedy.karmada.io/v1alpha1"}]},
    {"versions": [{"groupVersion": "work.karmada.io/v1alpha1"},
                  {"groupVersion": "work.karmada.io/v1alpha2"}]}]})";

// Answers each path with its scripted answers, in order; the last one is repeated.
class Server : public kube::Transport {
 public:
  void Answer(const std::string& path, int code, const std::string& body) {
    answers_[path].push_back({code, {}, body});
  }
  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    absl::MutexLock lock(&mu_);
    std::deque<kube::HttpResponse>& answers = answers_.at(request.path);
    const kube::HttpResponse answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }

 private:
  absl::Mutex mu_;
  std::map<std::string, std::deque<kube::HttpResponse>> answers_;
};

struct Fixture {
  absl::Status Check(absl::Duration patience = absl::ZeroDuration()) {
    const auto note_wait = [this] {
      ++waits;
      return on_wait;
    };
    return CheckServer(
        client, {.host = "10.0.0.1:6443", .patience = patience, .on_wait = note_wait}, clock, {});
  }

  int waits = 0;
  absl::Status on_wait;

  tests::FakeClock clock;
  std::shared_ptr<Server> server = std::make_shared<Server>();
  kube::Client client{server, {.name = "test"}, clock, nullptr};
};

TEST_CASE_METHOD(Fixture, "a Karmada API server is fine") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, kKarmada);
  CHECK(Check().ok());
  CHECK(waits == 0);
}

TEST_CASE_METHOD(Fixture, "a server that is not a Kubernetes API server is named with its answer") {
  SECTION("it has no such page") { server->Answer("/version", 404, "<html>\nno such page"); }
  SECTION("it has that page for everything") { server->Answer("/version", 200, "<html>\nwelcome"); }
  const absl::Status refused = Check();
  CHECK(absl::IsInvalidArgument(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("10.0.0.1:6443 is not a Kubernetes API server") && Contains("\"<html> ") &&
                 Contains("--kubeconfig has to lead to the Karmada API server"));
}

TEST_CASE_METHOD(Fixture, "a server that refuses the credentials is named with their flag") {
  server->Answer("/version", 401, R"({"kind": "Status", "reason": "Unauthorized"})");
  const absl::Status refused = Check();
  CHECK(absl::IsUnauthenticated(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("10.0.0.1:6443 refuses the credentials of --kubeconfig (401 Unauthorized)") &&
                 !Contains("{"));
}

TEST_CASE_METHOD(Fixture, "a cluster without Karmada's APIs is named with the missing ones") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, kPlain);
  const absl::Status refused = Check();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("10.0.0.1:6443 is a Kubernetes v1.31.0 API server without the APIs of a ") &&
                 Contains("policy.karmada.io/v1alpha1") && Contains("a member for example"));
}

TEST_CASE_METHOD(Fixture, "a member with the APIs of services across clusters is a member") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, R"({"kind": "APIGroupList", "groups": [
      {"versions": [{"groupVersion": "multicluster.x-k8s.io/v1alpha1"}]}]})");
  const absl::Status refused = Check();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("work.karmada.io/v1alpha2") && !Contains("multicluster.x-k8s.io"));
}

TEST_CASE_METHOD(Fixture, "the APIs that are waited for are those of the kinds that are here") {
  std::set<std::string> apis;
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.state != config::State::kHere) continue;
    apis.insert(absl::StrCat(kind.group, "/", kind.version));
  }
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, kPlain);
  CHECK_THAT(std::string(Check().message()),
             Contains(absl::StrCat("(", absl::StrJoin(apis, ", "), ")")));
}

TEST_CASE_METHOD(Fixture, "Karmada's APIs are waited for while they are installed") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, kPlain);
  server->Answer("/apis", 200, kKarmada);
  absl::Status checked = absl::UnknownError("");
  std::thread checking([&] { checked = Check(absl::Minutes(1)); });
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(2));
  checking.join();
  CHECK(checked.ok());
  CHECK(waits == 1);
}

TEST_CASE_METHOD(Fixture, "the check fails if probes cannot be answered during the wait") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200, kPlain);
  on_wait = absl::UnavailableError("cannot bind :10357");
  CHECK(Check(absl::Minutes(1)) == on_wait);
}

TEST_CASE_METHOD(Fixture, "some of Karmada's APIs are missing: they are named, and when it ends") {
  const tests::CapturedStderr log;
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 200,
                 absl::StrReplaceAll(kKarmada, {{"remedy.karmada.io/v1alpha1", "other/v1"}}));
  CHECK(Check(absl::Minutes(2)).ok());
  CHECK(waits == 0);
  CHECK_THAT(log.Text(),
             Contains("the process ends when one has waited for --cluster-cache-sync-timeout") &&
                 Contains("missing=remedy.karmada.io/v1alpha1 timeout=2m"));
}

TEST_CASE_METHOD(Fixture, "a server without a list of its API groups is accepted") {
  server->Answer("/version", 200, kVersion);
  server->Answer("/apis", 403, "");
  CHECK(Check().ok());
}

}  // namespace
}  // namespace controllers
