// Sets the limits of the HTTP server. They bound the memory that strangers can take: before a
// client is known it may open connections, and send a head and 16 KiB of body on each. Longer
// bodies are received only for clients whose credentials have been verified, within one budget for
// all (ReviewOfLongBodies), and what is to be sent has a budget, too. Below the constants stands
// what they were computed from; units are bytes unless a name says otherwise.

#include "cmd/search/http_options.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/pem_files.h"
#include "base/status.h"
#include "kube/aggregation/user_info.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"

namespace cmd {
namespace {

// The limit that kube-apiserver has.
constexpr size_t kMaxBodyBytes = 3 << 20;
// How long a client may leave what was sent to it untaken.
constexpr absl::Duration kStall = absl::Minutes(1);
// A handshake takes milliseconds, so these are more than any fleet begins at once; each costs up to
// 50 kB.
constexpr size_t kMaxHandshakes = 1000;
// The longest body that is read before its sender is known.
constexpr uint64_t kMaxUnknownBody = 16 << 10;
// The sum of all longer bodies. Each of them is copied up to four times on its way to a member.
constexpr size_t kMaxBodies = 32 << 20;
// Heads that are being received. Each of them is kept twice.
constexpr size_t kMaxHeads = 16 << 20;
// What waits for all clients together. A list keeps less than 0.4 MB for a client that reads
// slowly, so some 700 of them fill it, which is fewer than may be sent at once; then those are cut
// that take nothing.
constexpr size_t kMaxOutputs = 256 << 20;

// A certificate for a server that was given none. No client can verify it.
absl::StatusOr<tls::KeyPair> SelfSigned() {
  ASSIGN_OR_RETURN(const auto authority, tls::CertificateAuthority::Create(api::kSearch));
  return authority->Issue(
      {.common_name = api::kSearch,
       .dns_names = {"localhost", "karmada-search", "karmada-search.karmada-system.svc"},
       .ip_addresses = {"127.0.0.1", "::1"}});
}

// Whether they are valid is not known yet.
bool ShowsCredentials(const base::HttpRequest& head) {
  return head.peer_certificates != nullptr || !head.Header("authorization").empty();
}

bool HasShortBody(const base::HttpRequest& head) {
  uint64_t length = 0;
  return absl::SimpleAtoi(head.Header("content-length"), &length) && length <= kMaxUnknownBody;
}

// Returns why credentials do not count, as the chain of handlers says it.
absl::Status RefusalOf(const absl::Status& status) {
  if (absl::IsUnauthenticated(status)) return kube::server::Unauthorized();
  if (absl::IsResourceExhausted(status)) {
    return kube::server::TooManyRequests(status.message(), absl::Seconds(1));
  }
  return kube::server::ServiceUnavailable("the credentials cannot be reviewed at the moment",
                                          absl::Seconds(1));
}

// The owner is whose share of the budget the body takes.
base::HttpHeadVerdict VerdictOn(const absl::StatusOr<kube::aggregation::UserInfo>& user) {
  base::HttpHeadVerdict verdict;
  if (!user.ok()) {
    verdict.refusal = kube::server::ErrorAnswer(RefusalOf(user.status()));
  } else if (user->name == kube::aggregation::kAnonymous) {
    // A header with credentials of an unknown form.
    verdict.refusal = kube::server::ErrorAnswer(kube::server::Unauthorized());
  } else {
    verdict.owner = kube::aggregation::ShareOwner(*user);
    verdict.privileged = user->IsIn(kube::aggregation::kMasters);
  }
  return verdict;
}

}  // namespace

int ServerThreads(const ServingOptions& serving) {
  constexpr int kLeast = 2, kMost = 8;
  if (serving.server_threads > 0) return serving.server_threads;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), kLeast, kMost);
}

int MaxLongRunning(const ServingOptions& serving) {
  // A fifth of the connections stays free for requests that end.
  return std::max(serving.max_connections / 5 * 4, 1);
}

std::optional<base::HttpResponse> CheckHead(const base::HttpRequest& head) {
  if (ShowsCredentials(head) || HasShortBody(head)) return std::nullopt;
  return kube::server::ErrorAnswer(kube::server::Unauthorized());
}

base::HttpHeadReview ReviewOfLongBodies(kube::aggregation::Authenticator& authenticator) {
  return [&authenticator](const base::HttpRequest& head,
                          const std::function<void(base::HttpHeadVerdict verdict)>& done) {
    if (HasShortBody(head)) return false;
    authenticator.Authenticate(
        head,
        [done](const absl::StatusOr<kube::aggregation::UserInfo>& user) { done(VerdictOn(user)); });
    return true;
  };
}

kube::aggregation::Refusals BodyRefusals(metrics::Registry& registry) {
  return {&registry, "bodies",
          absl::StrCat("The bodies of more than 16 KiB that are being sent have ", kMaxBodies >> 20,
                       " MiB together, of which one user gets half at most; a body that comes "
                       "slowly gives its place to others.")};
}

absl::StatusOr<base::HttpServerOptions> HttpOptions(
    const ServingOptions& s, const kube::aggregation::Refusals& refused_bodies) {
  base::HttpServerOptions http;
  http.address = ListenAddressOf(s);
  // Certificates of clients are verified for each request, by authorities that can change while a
  // connection lives.
  http.tls = tls::ServerOptions{
      .any_client_certificate = true, .only_tls13 = s.only_tls13, .groups = s.tls_groups};
  if (s.tls_cert_file.empty()) {
    ASSIGN_OR_RETURN(http.tls->server, SelfSigned());
  } else {
    // They are read by the server, again when they change; here to name the flag.
    RETURN_IF_ERROR(tls::ReadKeyPair({"--tls-cert-file", s.tls_cert_file},
                                     {"--tls-private-key-file", s.tls_private_key_file})
                        .status());
    http.certificate_files = base::HttpCertificateFiles{s.tls_cert_file, s.tls_private_key_file};
  }
  http.threads = ServerThreads(s);
  http.max_body_bytes = kMaxBodyBytes;
  http.max_bodies_bytes = kMaxBodies;
  http.max_short_body_bytes = kMaxUnknownBody;
  http.too_many_bodies = [&refused_bodies] {
    return kube::server::ErrorAnswer(refused_bodies.Refuse());
  };
  http.body_too_long = kube::server::ErrorAnswer(
      kube::server::ToStatus({413,
                              "RequestEntityTooLarge",
                              absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes),
                              {}}));
  http.close_chance = s.goaway_chance;
  http.stall_timeout = kStall;
  http.max_outputs_bytes = kMaxOutputs;
  http.max_heads_bytes = kMaxHeads;
  http.max_connections = static_cast<size_t>(s.max_connections);
  http.max_handshakes = kMaxHandshakes;
  http.check_head = CheckHead;
  return http;
}

}  // namespace cmd
