#include "config/served/served_release.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/transport.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/fake_clock.h"

namespace config {
namespace {

// The document of a server whose target clusters have these properties.
std::string Document(const std::string& properties) {
  return absl::StrReplaceAll(R"({"components": {"schemas": {
    "io.karmada.work.v1alpha2.ClusterResourceBinding": {"type": "object",
      "x-kubernetes-group-version-kind": [{"kind": "ClusterResourceBinding"}]},
    "any.name": {
      "x-kubernetes-group-version-kind": [{"group": "work.karmada.io", "version": "v1alpha2",
                                           "kind": "ResourceBinding"}],
      "properties": {"spec": {"properties": {"clusters": {"items": {"properties": $P}}}}}}}}})",
                             {{"$P", properties}});
}
const std::string kOld = Document(R"({"name": {}, "replicas": {}})");
const std::string kNew = Document(R"({"name": {}, "replicas": {}, "components": {}})");

// An API server publishes one definition after the other.
constexpr char kWithoutTheKind[] = R"({"components": {"schemas": {"any.name": {
  "x-kubernetes-group-version-kind": [{"group": "work.karmada.io", "version": "v1alpha2",
                                       "kind": "ClusterResourceBinding"}]}}}})";

// Answers with its scripted answers, in order; the last one is repeated.
class Server : public kube::Transport {
 public:
  void Answer(kube::HttpResponse answer) {
    absl::MutexLock lock(&mu_);
    answers_.push_back(std::move(answer));
  }
  std::vector<kube::HttpRequest> requests() {
    absl::MutexLock lock(&mu_);
    return requests_;
  }
  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    absl::MutexLock lock(&mu_);
    requests_.push_back(request);
    const kube::HttpResponse answer = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    return answer;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }

 private:
  absl::Mutex mu_;
  std::deque<kube::HttpResponse> answers_;
  std::vector<kube::HttpRequest> requests_;
};

struct Fixture {
  tests::FakeClock clock;
  const std::shared_ptr<Server> server = std::make_shared<Server>();
  kube::Client client{server, {.name = "control plane", .host = "host:443"}, clock, nullptr};
  base::StopSource stop;

  absl::StatusOr<Release> Await(std::optional<Release> wanted, absl::Status on_wait = {}) {
    absl::StatusOr<Release> release = absl::UnknownError("not asked");
    std::atomic<bool> over = false;
    std::thread waiting([&] {
      release = AwaitRelease(wanted, client, {absl::Minutes(2), [&] { return on_wait; }},
                             stop.get_token());
      over = true;
    });
    while (!over) {
      if (clock.waiters() > 0) clock.AdvanceAndAwait(absl::Seconds(2));
    }
    waiting.join();
    return release;
  }
};

}  // namespace

TEST_CASE("the release is read from the fields of a binding's clusters") {
  CHECK(ReleaseOf(json::Parse(kOld).value()).value() == Release::kV1_18);
  CHECK(ReleaseOf(json::Parse(kNew).value()).value() == Release::kV1_19);
  CHECK(absl::IsNotFound(ReleaseOf(json::Value()).status()));
  CHECK(absl::IsNotFound(ReleaseOf(json::Parse(kWithoutTheKind).value()).status()));
}

TEST_CASE_METHOD(Fixture, "a server whose document has not changed is not read again") {
  server->Answer({200, {{"etag", "\"1\""}}, kOld});
  server->Answer({304, {}, ""});
  server->Answer({200, {{"etag", "\"2\""}}, kNew});
  ServedRelease served(client);
  CHECK(served.Ask({}).value() == Release::kV1_18);
  CHECK(served.Ask({}).value() == Release::kV1_18);
  CHECK(served.Ask({}).value() == Release::kV1_19);
  const std::vector<kube::HttpRequest> requests = server->requests();
  CHECK(requests.at(0).path == "/openapi/v3/apis/work.karmada.io/v1alpha2");
  CHECK(requests.at(0).if_none_match.empty());
  CHECK(requests.at(1).if_none_match == "\"1\"");
}

TEST_CASE_METHOD(Fixture, "an answer that is not a document is an error, and asks nothing less") {
  server->Answer({200, {{"etag", "\"1\""}}, "<html>"});
  server->Answer({200, {{"etag", "\"1\""}}, kNew});
  ServedRelease served(client);
  CHECK_FALSE(served.Ask({}).ok());
  CHECK(served.Ask({}).value() == Release::kV1_19);
  CHECK(server->requests().at(1).if_none_match.empty());
}

TEST_CASE_METHOD(Fixture, "the release that the user wants is not asked for") {
  CHECK(Await(Release::kV1_19).value() == Release::kV1_19);
  CHECK(server->requests().empty());
}

TEST_CASE_METHOD(Fixture, "a server that cannot be asked yet is waited for") {
  server->Answer({503, {}, "not yet"});
  server->Answer({200, {}, kNew});
  CHECK(Await(std::nullopt).value() == Release::kV1_19);
}

TEST_CASE_METHOD(Fixture, "a server that can never be asked ends the wait with its error") {
  server->Answer({503, {}, "not yet"});
  const absl::Status ended = Await(std::nullopt).status();
  CHECK(absl::IsUnavailable(ended));
  CHECK_THAT(std::string(ended.message()),
             Catch::Matchers::Contains("finding out the release of Karmada") &&
                 Catch::Matchers::Contains("not yet"));
  CHECK(absl::IsAborted(Await(std::nullopt, absl::AbortedError("no port")).status()));
}

TEST_CASE_METHOD(Fixture, "a server that refuses its definitions is of the oldest release") {
  server->Answer({GENERATE(401, 403), {}, "no"});
  tests::CapturedStderr log;
  CHECK(Await(std::nullopt).value() == Release::kV1_18);
  CHECK(server->requests().size() == 1);
  CHECK_THAT(log.Text(), Catch::Matchers::Contains("let this program's user read"));
}

TEST_CASE_METHOD(Fixture, "a server that does not show the kind yet is asked again") {
  server->Answer({404, {}, "404 page not found"});
  server->Answer({200, {{"etag", "\"1\""}}, kWithoutTheKind});
  server->Answer({200, {{"etag", "\"2\""}}, kNew});
  CHECK(Await(std::nullopt).value() == Release::kV1_19);
  CHECK(server->requests().back().if_none_match.empty());
}

TEST_CASE_METHOD(Fixture, "a server that never shows the kind is of the oldest release") {
  server->Answer({404, {}, "404 page not found"});
  tests::CapturedStderr log;
  CHECK(Await(std::nullopt).value() == Release::kV1_18);
  CHECK(server->requests().size() > 10);
  CHECK_THAT(log.Text(), Catch::Matchers::Contains("install Karmada's definitions") &&
                             !Catch::Matchers::Contains("let this program's user"));
}

TEST_CASE_METHOD(Fixture, "a stop ends the wait") {
  server->Answer({503, {}, "not yet"});
  stop.request_stop();
  CHECK(absl::IsCancelled(Await(std::nullopt).status()));
}

}  // namespace config
