// Certificates are judged here, for each request, and not in the handshake. What did not count is
// remembered while the rest is tried: a request with a certificate of nobody we know and a good
// token is the token's user's, and one with that certificate alone is refused.

#include "kube/aggregation/authenticator.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/digest.h"
#include "base/log.h"
#include "kube/aggregation/request_fields.h"

namespace kube::aggregation {
namespace {

constexpr char kTokenReviews[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kCredentialId[] = "authentication.kubernetes.io/credential-id";

// Either a user, or nothing: because there is no such credential (OK), or because it does not count
// (the reason).
struct Outcome {
  std::optional<UserInfo> user;
  absl::Status refusal;
};

bool IsAllowed(const std::string& name, const std::vector<std::string>& allowed) {
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end();
}

// Upstream's headerrequest.NewDynamicVerifyOptionsSecure.
Outcome TryFrontProxy(const base::HttpRequest& request, const AuthenticationConfig& config,
                      VerifiedPeers& peers) {
  if (!config.front_proxies || request.peer_certificates == nullptr) return {};
  const FrontProxies& proxies = *config.front_proxies;
  const auto peer = peers.Verify(proxies.authority, request.peer_certificates);
  if (!peer.ok()) return {.refusal = peer.status()};
  if (!IsAllowed(peer->common_name, proxies.allowed_names)) {
    return {.refusal = absl::UnauthenticatedError(absl::StrCat(
                "subject with cn=", peer->common_name, " is not in the allowed list"))};
  }
  return {.user = UserOfFields(request, proxies.names)};
}

// Upstream's x509.CommonNameUserConversion.
Outcome TryClientCertificate(const base::HttpRequest& request, const AuthenticationConfig& config,
                             VerifiedPeers& peers) {
  if (config.clients == nullptr || request.peer_certificates == nullptr) return {};
  const auto peer = peers.Verify(config.clients, request.peer_certificates);
  if (!peer.ok()) return {.refusal = peer.status()};
  if (peer->common_name.empty()) return {};
  const std::string digest = base::Sha256(request.peer_certificates->LeafDer());
  UserInfo user{.name = peer->common_name, .groups = peer->organizations};
  user.extra[kCredentialId] = {absl::StrCat("X509SHA256=", absl::BytesToHexString(digest))};
  return {.user = std::move(user)};
}

json::Value TokenReview(const std::string& token) {
  return json::Value::Object({{"apiVersion", "authentication.k8s.io/v1"},
                              {"kind", "TokenReview"},
                              {"spec", json::Value::Object({{"token", token}})}});
}

std::optional<UserInfo> UserOfReview(const json::Value& review) {
  const json::Value& status = review["status"];
  if (!status["authenticated"].AsBool()) return std::nullopt;
  UserInfo user = UserOfJson(status["user"]);
  // A user without a name would be everybody's equal in rules by group.
  if (user.name.empty()) return std::nullopt;
  return user;
}

// Returns what is counted as one sender among those who are not known: an IPv4 address, or the
// first 64 bits of an IPv6 address, of which one host may have any number.
std::string NetworkOf(absl::string_view remote_address) {
  const absl::string_view host = remote_address.substr(0, remote_address.rfind(':'));
  const std::string bare(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  std::array<unsigned char, 16> bytes;
  if (inet_pton(AF_INET6, bare.c_str(), bytes.data()) != 1) return absl::StrCat("at ", bare);
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  // An IPv4 address, as a socket for both has it.
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return absl::StrCat("at ", bare);
  return absl::StrCat("at ", absl::BytesToHexString(absl::string_view(
                                 reinterpret_cast<const char*>(bytes.data()), 8)));
}

// Returns how much of the request waits with it and is counted nowhere else.
int64_t WaitingBytes(const base::HttpRequest& request) {
  const size_t body = request.body_share == nullptr ? request.body.size() : 0;
  return static_cast<int64_t>(BytesOfHead(request) + body);
}

absl::StatusOr<UserInfo> WithAuthenticatedGroup(UserInfo user) {
  AddAuthenticatedGroup(user);
  return user;
}

}  // namespace

DelegatedAuthenticator::DelegatedAuthenticator(Options options, ConfigFn config,
                                               ReviewClient* reviews, const base::Clock& clock)
    : options_(options),
      config_(std::move(config)),
      reviews_(reviews),
      peers_(clock),
      tokens_(
          options.max_tokens,
          [ttl = options.token_ttl](const std::optional<UserInfo>&) { return ttl; },
          [](const std::optional<UserInfo>& user) { return user.has_value(); }, clock),
      known_(options.max_known_bytes),
      strangers_(options.max_stranger_bytes) {}

void DelegatedAuthenticator::Authenticate(const base::HttpRequest& request, Done done) {
  const std::shared_ptr<const AuthenticationConfig> config = config_();
  absl::Status refusal;
  // In upstream's order: a front proxy whose certificate the authority of clients has signed, too,
  // is still a front proxy.
  for (const auto attempt : {TryFrontProxy, TryClientCertificate}) {
    Outcome outcome = attempt(request, *config, peers_);
    if (outcome.user) return done(WithAuthenticatedGroup(*std::move(outcome.user)));
    refusal.Update(outcome.refusal);
  }
  if (reviews_ != nullptr) {
    const absl::StatusOr<std::string> token = BearerTokenOf(request);
    if (token.ok() && !token->empty()) return ReviewToken(request, *token, std::move(done));
    refusal.Update(token.status());
  }
  if (!refusal.ok()) {
    return done(absl::UnauthenticatedError(refusal.message()));
  }
  if (!options_.anonymous) return done(absl::UnauthenticatedError("no credentials"));
  done(AnonymousUser());
}

void DelegatedAuthenticator::ReviewToken(const base::HttpRequest& request, const std::string& token,
                                         Done done) {
  const auto answered = [done](const absl::StatusOr<std::optional<UserInfo>>& user) {
    if (!user.ok()) return done(user.status());
    if (!*user) return done(absl::UnauthenticatedError("invalid bearer token"));
    done(WithAuthenticatedGroup(**user));
  };
  // Tokens themselves are not kept in memory.
  const std::string key = base::Sha256(token);
  if (const auto known = tokens_.Known(key)) return answered(*known);
  const auto former = tokens_.Former(key);
  // A token that was good before counts for its user, any other for the network that it is sent
  // from.
  const bool is_stranger = former == nullptr;
  const std::string owner = is_stranger ? NetworkOf(request.remote_address) : ShareOwner(**former);
  base::FairShare::Taken held =
      (is_stranger ? strangers_ : known_).Take(owner, WaitingBytes(request));
  if (held == nullptr) return done(reviews_->Refuse());
  const auto ask = [&](ReviewCache<std::optional<UserInfo>>::Done reviewed) {
    reviews_->Start({kTokenReviews, TokenReview(token), owner, is_stranger},
                    [reviewed = std::move(reviewed)](absl::StatusOr<json::Value> review) {
                      if (!review.ok()) return reviewed(review.status());
                      reviewed(UserOfReview(*review));
                    });
  };
  tokens_.Get(key, /*keep=*/true, ask,
              [answered, held = std::move(held)](const auto& user) { answered(user); });
}

}  // namespace kube::aggregation
