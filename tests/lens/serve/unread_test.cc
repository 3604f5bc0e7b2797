// What the server says when the control plane shows only a part of what there is.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/http_transport.h"
#include "lens/serve/server.h"
#include "tests/base/raw_client.h"
#include "tests/lens/serve/served_plane.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

using Catch::Contains;

constexpr char kPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: idle, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: wbe}]
)";

// A server whose control plane refuses what has a part of this in its path, and does not answer
// what has a part of that.
struct Partly : tests::ServedPlane {
  std::unique_ptr<tests::PlaneGate> gate;
  std::unique_ptr<Server> server;

  Partly() : ServedPlane(1) {
    CreateAll(kPolicy);
    gate = std::make_unique<tests::PlaneGate>(
        plane, [this](const auto& request, const auto& to) { return Answer(request, to); });
    ServeOptions options;
    options.plane = gate->Address();
    server = *Server::Start(std::move(options));
  }
  ~Partly() {
    server.reset();
    Keep("");
  }

  void Refuse(const std::string& part) {
    absl::MutexLock lock(&mu_);
    refused_ = part;
  }
  // From now on the control plane is as if it had gone as soon as somebody asks for the part.
  void Keep(const std::string& part) {
    std::vector<std::shared_ptr<base::HttpResponder>> kept;
    {
      absl::MutexLock lock(&mu_);
      kept_part_ = part;
      has_gone_ = false;
      kept.swap(kept_);
    }
    for (const auto& responder : kept) responder->Abort();
  }
  bool HasGone() {
    absl::MutexLock lock(&mu_);
    return has_gone_;
  }

  tests::RawResponse Get(const std::string& path) {
    tests::RawClient client(server->port());
    client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    return client.ReadResponse();
  }
  json::Value Json(const std::string& path) {
    const tests::RawResponse answer = Get(path);
    INFO(path << " " << answer.body);
    CHECK(answer.code == 200);
    return json::Parse(answer.body).value();
  }

 private:
  bool Answer(const base::HttpRequest& request,
              const std::shared_ptr<base::HttpResponder>& responder) {
    absl::MutexLock lock(&mu_);
    if (!refused_.empty() && absl::StrContains(request.path, refused_)) {
      responder->Send({.code = 403, .body = tests::Refusal("you cannot list these", "bindings")});
      return true;
    }
    has_gone_ = has_gone_ || (!kept_part_.empty() && absl::StrContains(request.path, kept_part_));
    if (!has_gone_) return false;
    kept_.push_back(responder);
    return true;
  }

  absl::Mutex mu_;
  std::string refused_ ABSL_GUARDED_BY(mu_), kept_part_ ABSL_GUARDED_BY(mu_);
  bool has_gone_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<base::HttpResponder>> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

TEST_CASE_METHOD(Partly,
                 "Serve: without the bindings nothing is counted, and nothing is concluded") {
  CHECK(Json("/api/clusters")["clusters"].At(0)["templates"] == json::Value(0));
  CHECK(Json("/api/policies")["policies"].At(0)["claims"] == json::Value(0));
  Refuse("resourcebindings");
  // What was answered just before is still shown for a second.
  const auto is_partial = [&](const std::string& path) { return !Json(path)["unread"].empty(); };
  CHECK(tests::Eventually([&] { return is_partial("/api/clusters"); }));
  CHECK(tests::Eventually([&] { return is_partial("/api/policies"); }));
  const json::Value clusters = Json("/api/clusters");
  const json::Value& cluster = clusters["clusters"].At(0);
  CHECK(cluster["templates"].is_null());
  CHECK(cluster["evicting"].is_null());
  CHECK(clusters["unread"].size() == 2);
  const json::Value policies = Json("/api/policies");
  const json::Value& policy = policies["policies"].At(0);
  CHECK(policy["claims"].is_null());
  CHECK(policy["selectors"].At(0)["selectsNothing"].is_null());
  CHECK(policy["headline"].is_null());
  // What a PropagationPolicy claims has a namespace.
  Refuse("clusterresourcebindings");
  CHECK(tests::Eventually(
      [&] { return Json("/api/policies")["policies"].At(0)["claims"] == json::Value(0); }));
}

TEST_CASE_METHOD(Partly,
                 "Serve: a reading that was cut short is an error, and what was read stays") {
  CHECK(Json("/api/fleet")["templates"] == json::Value(1));
  tests::RawClient follower(server->port());
  follower.Send("GET /api/updates HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(follower.ReadUntil("readAt"), Contains("1 of 1 template is not fine"));
  // It goes after the bindings have been read.
  Keep("/works");
  CHECK(tests::Eventually([&] { return HasGone(); }));
  // Who asks now waits for that reading.
  const tests::RawResponse answer = Get("/api/fleet");
  CHECK(answer.code == 503);
  CHECK_THAT(answer.body, Contains("does not answer"));
  CHECK_THAT(follower.ReadUntil("does not answer"), Contains("event: fleet"));
  Keep("");
  CHECK_THAT(follower.ReadUntil("1 of 1 template is not fine"), Contains("\"error\":\"\""));
}

}  // namespace lens::serve
