// Who the callers are and what they may do, as the control plane says: what an aggregated API
// server asks it, as one object.
#ifndef KUBE_AGGREGATION_DELEGATION_H_
#define KUBE_AGGREGATION_DELEGATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/aggregation/authentication_config.h"
#include "kube/aggregation/authenticator.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/review_client.h"
#include "kube/client/client.h"
#include "kube/http/transport.h"

namespace kube::aggregation {

class Delegation {
 public:
  struct Options {
    AuthenticationOptions authentication;
    absl::Duration token_ttl = absl::Seconds(10);
    DelegatedAuthorizer::Options authorizer;
    ClientOptions lookup;  // Of the client that reads the configuration; all use its user agent.
  };
  // REQUIRES: clock and registry outlive the object.
  struct Parts {
    std::shared_ptr<Transport> authentication, authorization;
    const base::Clock& clock;
    metrics::Registry& registry;
  };
  // Reads whom this server may believe. The errors are those of AuthenticationSource::Start.
  static absl::StatusOr<std::unique_ptr<Delegation>> Start(const Options& options,
                                                           const Parts& parts,
                                                           const base::StopToken& stop);

  Authenticator& authenticator() { return authenticator_; }
  Authorizer& authorizer() { return authorizer_; }
  DelegatedAuthenticator::ConfigFn ConfigFn() const;
  // Ends the questions that are under way. Call it before those who ask are destroyed.
  void Stop();

 private:
  Delegation(const Options& options, const Parts& parts);

  Client client_;  // For the configuration.
  std::unique_ptr<AuthenticationSource> source_;
  ReviewClient tokens_, rights_;
  DelegatedAuthenticator authenticator_;
  DelegatedAuthorizer authorizer_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_DELEGATION_H_
