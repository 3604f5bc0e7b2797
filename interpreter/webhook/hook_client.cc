// The deadline of a call is set first; finding the address, connecting, waiting and repeating all
// use up the same time. The address (URL or Service), the name to verify and the CA choose a
// transport that is kept for the next calls; the least recently used one makes room for a new one.
// After an answer 429 or 5xx with Retry-After the call is repeated if the pause ends before the
// deadline; any other answer is final. Each error carries a FailureReason, which the circuit
// breaker and the metrics use.

#include "interpreter/webhook/hook_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "interpreter/webhook/failure.h"
#include "kube/http/http_transport.h"

namespace interpreter::webhook {

namespace {

// The same number as upstream's.
constexpr size_t kMaxTransports = 200;
// kube-apiserver's limit for the answer of a webhook.
constexpr size_t kMaxAnswerBytes = 3 << 20;
// Bytes of an answer with its head, the TLS records and the handshake.
constexpr size_t kMaxReceivedBytes = 4 << 20;
// The same number as client-go's.
constexpr int kMaxRetries = 10;
// How much of a failing server's body is quoted in errors.
constexpr size_t kMaxQuotedBytes = 256;

absl::Status CallFailed(const absl::Status& why, FailureReason reason) {
  return WithReason(base::Annotate(why, "failed to call webhook"), reason);
}

absl::Status TransportFailed(const absl::Status& why, const Hook& hook) {
  if (absl::IsCancelled(why)) return CallFailed(why, FailureReason::kStopped);
  if (absl::IsResourceExhausted(why)) return CallFailed(why, FailureReason::kUnreadable);
  if (!absl::IsDeadlineExceeded(why)) return CallFailed(why, FailureReason::kConnection);
  return CallFailed(
      absl::DeadlineExceededError(absl::StrCat(why.message(), " (the webhook has ",
                                               absl::FormatDuration(hook.timeout), ")")),
      FailureReason::kTimeout);
}

kube::HttpRequest RequestTo(const Hook& hook, const std::string& body, absl::Duration left) {
  kube::HttpRequest request;
  request.method = "POST";
  request.path = absl::StrCat(
      hook.client.path, "?timeout=", absl::ToInt64Seconds(absl::Ceil(left, absl::Seconds(1))), "s");
  request.accept = "application/json, */*";
  request.content_type = "application/json";
  request.body = body;
  request.timeout = left;
  request.user_agent = "kube-apiserver-admission";  // The same as upstream's client.
  request.max_answer_bytes = kMaxAnswerBytes;
  return request;
}

bool IsSuccess(int code) { return code >= 200 && code <= 206; }
bool IsServerError(int code) { return code == 429 || code >= 500; }

// Returns how long the server asks us to wait before the call is repeated; negative when it does
// not ask.
absl::Duration RetryPause(const kube::HttpResponse& response) {
  constexpr absl::Duration kNoRetry = -absl::Seconds(1);
  if (!IsServerError(response.code)) return kNoRetry;
  const auto header = response.headers.find("retry-after");
  int seconds = 0;
  if (header == response.headers.end() || !absl::SimpleAtoi(header->second, &seconds) ||
      seconds < 0) {
    return kNoRetry;
  }
  return absl::Seconds(seconds);
}

std::string Quoted(absl::string_view body) {
  std::string text(absl::StripAsciiWhitespace(body.substr(0, kMaxQuotedBytes)));
  for (char& c : text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return json::Write(text);
}

// Returns client-go's text for the code (NewGenericServerResponse) if there is one.
std::string WordsFor(const kube::HttpResponse& response) {
  switch (response.code) {
    case 401:
      return "the server has asked for the client to provide credentials";
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be "
             "processing the request";
    default:
      break;
  }
  if (response.code >= 500) {
    return absl::StrCat("an error on the server (", Quoted(response.body),
                        ") has prevented the request from succeeding");
  }
  if (response.code >= 300 && response.code < 400) {
    return absl::StrCat("the server answered with code ", response.code,
                        ", and redirects are not followed");
  }
  return absl::StrCat("the server answered with code ", response.code, ": ", Quoted(response.body));
}

absl::Status CodeFailed(const kube::HttpResponse& response) {
  const std::string words = WordsFor(response);
  return IsServerError(response.code)
             ? CallFailed(absl::UnavailableError(words), FailureReason::kServerError)
             : CallFailed(absl::FailedPreconditionError(words), FailureReason::kHttpStatus);
}

absl::StatusOr<std::string> BodyOf(kube::HttpResponse response) {
  if (!IsSuccess(response.code)) return CodeFailed(response);
  if (!response.body.empty()) return std::move(response.body);
  return CallFailed(
      absl::InternalError(absl::StrCat("0-length response with status code: ", response.code,
                                       " and content type: ", response.headers["content-type"])),
      FailureReason::kUnreadable);
}

HookClientOptions WithDefaults(HookClientOptions options) {
  if (!options.transport) options.transport = &kube::NewCpprestTransport;
  return options;
}

}  // namespace

HookClient::HookClient(HookClientOptions options, const base::Clock& clock)
    : options_(WithDefaults(std::move(options))), clock_(clock) {}

absl::StatusOr<std::string> HookClient::Call(const Hook& hook, const std::string& body,
                                             const base::StopToken& stop) {
  // Steps before the connection use up the hook's timeout as well.
  const base::SteadyTime deadline = clock_.SteadyNow() + hook.timeout;
  absl::StatusOr<kube::ConnectionConfig> config = ConnectionTo(hook.client, options_.services);
  if (!config.ok()) return CallFailed(config.status(), ReasonOf(config.status()));
  config->max_answer_bytes = kMaxReceivedBytes;
  const auto transport = TransportTo(*config);
  if (!transport.ok()) {
    return WithReason(base::Annotate(transport.status(), "could not get REST client"),
                      FailureReason::kConfiguration);
  }
  ASSIGN_OR_RETURN(kube::HttpResponse response,
                   SendUntil(**transport, {hook, body, deadline}, stop));
  return BodyOf(std::move(response));
}

absl::StatusOr<kube::HttpResponse> HookClient::SendUntil(kube::Transport& transport,
                                                         const Errand& errand,
                                                         const base::StopToken& stop) {
  const auto& [hook, body, deadline] = errand;
  for (int retries = 0;; ++retries) {
    const absl::Duration left = deadline - clock_.SteadyNow();
    if (left <= absl::ZeroDuration()) {
      return TransportFailed(absl::DeadlineExceededError("no answer in time"), hook);
    }
    auto response = transport.Send(RequestTo(hook, body, left), stop);
    if (!response.ok()) return TransportFailed(response.status(), hook);
    const absl::Duration pause = RetryPause(*response);
    // An answer that cannot be repeated in time is returned as it is.
    const bool repeat = pause >= absl::ZeroDuration() && retries < kMaxRetries &&
                        clock_.SteadyNow() + pause < deadline;
    if (!repeat) return response;
    if (!clock_.SleepFor(pause, stop)) {
      return TransportFailed(absl::CancelledError("stopped before the call was repeated"), hook);
    }
  }
}

absl::StatusOr<std::shared_ptr<kube::Transport>> HookClient::TransportTo(
    const kube::ConnectionConfig& config) {
  const Key key{config.server, config.tls_server_name, config.ca_pem};
  absl::MutexLock lock(&mu_);
  auto it = kept_.find(key);
  if (it == kept_.end()) {
    ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, options_.transport(config));
    if (kept_.size() >= kMaxTransports) DropOldest();
    it = kept_.emplace(key, Kept{.transport = std::move(transport)}).first;
  }
  it->second.used = ++calls_;
  return it->second.transport;
}

void HookClient::DropOldest() {
  kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
    return a.second.used < b.second.used;
  }));
}

}  // namespace interpreter::webhook
