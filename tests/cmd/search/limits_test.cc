// Which requests are refused unread, and how long a request may take.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/search_paths.h"
#include "cmd/search/api_router.h"
#include "cmd/search/http_options.h"

namespace cmd {
namespace {

using kube::aggregation::RequestLength;

TEST_CASE("a client without credentials may send a short body only") {
  base::HttpRequest head;
  head.headers["content-length"] = "100";
  CHECK_FALSE(CheckHead(head).has_value());
  head.headers["content-length"] = "1000000";
  REQUIRE(CheckHead(head).has_value());
  CHECK(CheckHead(head)->code == 401);
  head.headers["authorization"] = "Bearer x";
  CHECK_FALSE(CheckHead(head).has_value());
  head.headers.clear();
  head.headers["transfer-encoding"] = "chunked";
  CHECK(CheckHead(head).has_value());
}

class FakeAuthenticator : public kube::aggregation::Authenticator {
 public:
  void Authenticate(const base::HttpRequest&, Done done) override {
    ++asked;
    done(answer);
  }
  int asked = 0;
  absl::StatusOr<kube::aggregation::UserInfo> answer = absl::UnauthenticatedError("who?");
};

TEST_CASE("a long body is read when its sender is known") {
  FakeAuthenticator authenticator;
  const base::HttpHeadReview review = ReviewOfLongBodies(authenticator);
  base::HttpRequest head;
  head.headers["authorization"] = "Bearer invented";
  int code = 0;
  std::string owner;
  bool privileged = false;
  const auto is_reviewed = [&] {
    code = 0;
    return review(head, [&](const base::HttpHeadVerdict& verdict) {
      code = verdict.refusal ? verdict.refusal->code : 200;
      owner = verdict.owner;
      privileged = verdict.privileged;
    });
  };
  head.headers["content-length"] = "1000";
  CHECK_FALSE(is_reviewed());
  CHECK(authenticator.asked == 0);
  head.headers["content-length"] = "1000000";
  CHECK(is_reviewed());
  CHECK(code == 401);
  authenticator.answer = absl::ResourceExhaustedError("too many");
  CHECK(is_reviewed());
  CHECK(code == 429);
  authenticator.answer = absl::UnavailableError("10.0.0.1: refused");
  CHECK(is_reviewed());
  CHECK(code == 503);
  authenticator.answer = kube::aggregation::UserInfo{.name = "bob"};
  CHECK(is_reviewed());
  CHECK(code == 200);
  CHECK(owner == "bob");
  CHECK_FALSE(privileged);
  authenticator.answer->groups = {kube::aggregation::kMasters};
  CHECK(is_reviewed());
  CHECK(owner.empty());
  CHECK(privileged);
  head.headers.erase("content-length");
  head.headers["transfer-encoding"] = "chunked";
  CHECK(is_reviewed());
  CHECK(code == 200);
  CHECK(authenticator.asked == 6);
  // A header of another form than a token makes nobody known.
  authenticator.answer = kube::aggregation::UserInfo{.name = kube::aggregation::kAnonymous};
  CHECK(is_reviewed());
  CHECK(code == 401);
}

TEST_CASE("only lists that are passed on may take as long as they need") {
  const auto length = [](const std::string& path, bool watch = false) {
    base::HttpRequest request;
    request.method = "GET";
    request.path = path;
    if (watch) request.query = {{"watch", "1"}};
    return LengthOf(kube::server::ReadRequest(request), request,
                    [](const kube::Gvr& gvr) { return gvr.resource == "pods"; });
  };
  const std::string proxy = absl::StrCat(api::kProxyingPath, "/karmada/proxy");
  CHECK(length(absl::StrCat(proxy, "/api/v1/secrets")) == RequestLength::kPatient);
  CHECK(length(absl::StrCat(proxy, "/api/v1/pods")) == RequestLength::kBounded);
  CHECK(length(absl::StrCat(proxy, "/api/v1/namespaces/a/secrets/x")) == RequestLength::kBounded);
  CHECK(length(absl::StrCat(proxy, "/api/v1/pods"), true) == RequestLength::kLongRunning);
  CHECK(length(absl::StrCat(proxy, "/api/v1/namespaces/a/pods/x/exec")) ==
        RequestLength::kLongRunning);
  CHECK(length(absl::StrCat(api::kSearchPath, "/cache/api/v1/pods")) == RequestLength::kBounded);
}

}  // namespace
}  // namespace cmd
