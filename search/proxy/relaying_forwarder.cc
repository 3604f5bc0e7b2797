#include "search/proxy/relaying_forwarder.h"

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "kube/http/transport.h"
#include "kube/relay/relay.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"

namespace search {
namespace {

// A member that cannot be reached must not cost the client the whole of its patience.
constexpr absl::Duration kConnectTimeout = absl::Seconds(10);

// What the error says about addresses, certificates and programs that make credentials is for the
// log, not for users.
absl::Status ApiErrorOf(absl::string_view name, const absl::Status& error) {
  const auto trying = [name](absl::string_view what) {
    return absl::StrCat("error trying to reach ", name, ": ", what);
  };
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return kube::server::Timeout(trying("it did not answer in time"), absl::Seconds(1));
    case absl::StatusCode::kInvalidArgument:
      return kube::server::BadRequest(error.message());
    case absl::StatusCode::kInternal:
      return kube::server::PlainError(error.message());
    case absl::StatusCode::kCancelled:
      return kube::server::ServiceUnavailable(
          "the server is shutting down, or the resource has moved to the cache; please try again",
          absl::Seconds(1));
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kube::server::ServiceUnavailable(
          trying("it does not accept the credentials of this server, or there are none"));
    default:
      return kube::server::ServiceUnavailable(trying(
          kube::WasNotProcessed(error)
              ? "no connection can be made, so nothing was done; the log of this server has the "
                "reason"
              : "the connection broke before the answer; the log of this server has the reason"));
  }
}

void Log(const std::string& name, const absl::Status& error, base::RepeatedErrors& errors) {
  if (absl::IsCancelled(error) || absl::IsInvalidArgument(error)) return;
  const auto verdict =
      errors.Note(base::KindOfMessage(error.message(), ""), base::RealClock().SteadyNow());
  if (!verdict.log) return;
  base::LogWarning("a request could not be passed on",
                   {{"to", name}, {"error", error}, {"more", verdict.More()}});
}

}  // namespace

void RelayingForwarder::Forward(ForwardedRequest request,
                                std::shared_ptr<base::HttpResponder> responder,
                                OnForbidden on_forbidden) {
  kube::RelayOptions options;
  options.path = std::move(request.target);
  options.set_headers = std::move(request.identity);
  options.connect_timeout = kConnectTimeout;
  options.head_timeout = request.head_timeout;
  options.stop = std::move(request.stop);
  options.own_credentials = !request.of_application;
  options.on_error = [name = name_, errors = errors_,
                      held = std::move(request.held)](const absl::Status& error) {
    Log(name, error, *errors);
    return kube::server::ErrorAnswer(ApiErrorOf(name, error));
  };
  options.on_forbidden = std::move(on_forbidden);
  kube::Relay(request.request, std::move(responder), *forwarder_, std::move(options));
}

}  // namespace search
