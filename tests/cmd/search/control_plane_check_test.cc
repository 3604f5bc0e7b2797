#include "cmd/search/control_plane_check.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"

namespace cmd {
namespace {

// Gives every request the same answer.
class OneAnswer : public kube::Transport {
 public:
  explicit OneAnswer(absl::StatusOr<kube::HttpResponse> answer) : answer_(std::move(answer)) {}
  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    path = request.path;
    return answer_;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }

  std::string path;

 private:
  const absl::StatusOr<kube::HttpResponse> answer_;
};

absl::Status Check(absl::StatusOr<kube::HttpResponse> answer) {
  OneAnswer transport(std::move(answer));
  const absl::Status checked = CheckControlPlane(transport, "https://karmada:5443", {});
  CHECK(transport.path == "/apis/cluster.karmada.io/v1alpha1");
  return checked;
}

TEST_CASE("a first look at the control plane says what is wrong with it") {
  CHECK(Check(kube::HttpResponse{.code = 200}).ok());
  const absl::Status member = Check(kube::HttpResponse{.code = 404});
  CHECK(absl::IsNotFound(member));
  CHECK(absl::StrContains(member.message(), "https://karmada:5443"));
  CHECK(absl::StrContains(member.message(), "it is a member cluster"));
  const absl::Status away = Check(absl::UnavailableError("connection refused"));
  CHECK(absl::IsUnavailable(away));
  CHECK(absl::StrContains(away.message(), "does not answer"));
  CHECK(absl::StrContains(away.message(), "connection refused"));
  CHECK(absl::IsPermissionDenied(Check(kube::HttpResponse{.code = 401})));
  // It may pass by itself.
  CHECK(Check(kube::HttpResponse{.code = 503}).ok());
}

}  // namespace
}  // namespace cmd
