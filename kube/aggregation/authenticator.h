// Determines who sends a request: who a front proxy says it is, the client certificate, a bearer
// token that the control plane has reviewed, or nobody.
#ifndef KUBE_AGGREGATION_AUTHENTICATOR_H_
#define KUBE_AGGREGATION_AUTHENTICATOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/fair_share.h"
#include "base/http_server.h"
#include "kube/aggregation/authentication_config.h"
#include "kube/aggregation/review_cache.h"
#include "kube/aggregation/review_client.h"
#include "kube/aggregation/user_info.h"
#include "kube/aggregation/verified_peers.h"

namespace kube::aggregation {

class Authenticator {
 public:
  // kUnauthenticated: the request has credentials, and none of them counts. Other errors: it could
  // not be determined.
  using Done = std::function<void(absl::StatusOr<UserInfo>)>;

  virtual ~Authenticator() = default;
  // Calls `done` once: at once, on this thread, if the answer is known, else on another thread. The
  // request is not used after this returns.
  virtual void Authenticate(const base::HttpRequest& request, Done done) = 0;
};

// The chain of upstream's DelegatingAuthenticatorConfig. Credentials are tried in the order front
// proxy, client certificate, token; the first that counts names the user. If some were sent and
// none counts, the request is refused, not taken for an anonymous one.
//
// A token whose last review has named a user is reviewed again as that user's. All others are of
// strangers, who have threads and places of their own: whoever sends tokens that mean nothing takes
// nothing from those who are known. Among strangers each network (an IPv4 address, the first 64
// bits of an IPv6 address) leaves as much to the others as it has. Thread-safe.
class DelegatedAuthenticator : public Authenticator {
 public:
  struct Options {
    bool anonymous = true;  // Requests without credentials come from system:anonymous.
    // How long the answer to a token counts, --authentication-token-webhook-cache-ttl. A refusal
    // counts as long.
    absl::Duration token_ttl = absl::Seconds(10);
    size_t max_tokens = 8192;  // How many answers are kept, of tokens that count and of others.
    // The URLs and headers of requests that wait for the review of their token: of those whose
    // token has counted before, where each user has a share (base::Shares), and of strangers, where
    // each network has one.
    int64_t max_known_bytes = 16 << 20;
    int64_t max_stranger_bytes = 8 << 20;
  };
  using ConfigFn = std::function<std::shared_ptr<const AuthenticationConfig>()>;

  // `reviews` may be null: then tokens are ignored. REQUIRES: it and `clock` outlive the object;
  // `reviews` has been stopped before this is destroyed.
  DelegatedAuthenticator(Options options, ConfigFn config, ReviewClient* reviews,
                         const base::Clock& clock);

  void Authenticate(const base::HttpRequest& request, Done done) override;

 private:
  void ReviewToken(const base::HttpRequest& request, const std::string& token, Done done);

  const Options options_;
  const ConfigFn config_;
  ReviewClient* const reviews_;
  VerifiedPeers peers_;
  // What was answered; nullopt: the token does not count. Keys are digests, so that tokens are not
  // kept.
  ReviewCache<std::optional<UserInfo>> tokens_;
  base::FairShare known_, strangers_;  // Count what waits for reviews, in bytes.
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_AUTHENTICATOR_H_
