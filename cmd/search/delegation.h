// Who the callers are and what they may do, as the control plane says.
#ifndef CMD_SEARCH_DELEGATION_H_
#define CMD_SEARCH_DELEGATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"
#include "kube/aggregation/authentication_config.h"
#include "kube/aggregation/authenticator.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/review_client.h"
#include "kube/client/client.h"

namespace cmd {

class Delegation {
 public:
  // REQUIRES: clock and registry outlive the object.
  struct Parts {
    const SearchOptions& options;
    const Connections& connections;
    const base::Clock& clock;
    metrics::Registry& registry;
  };
  // Reads whom this server may believe. The errors are those of AuthenticationSource::Start.
  static absl::StatusOr<std::unique_ptr<Delegation>> Start(const Parts& parts,
                                                           const base::StopToken& stop);

  kube::aggregation::Authenticator& authenticator() { return authenticator_; }
  kube::aggregation::Authorizer& authorizer() { return authorizer_; }
  kube::aggregation::DelegatedAuthenticator::ConfigFn ConfigFn() const;
  // Ends the questions that are under way. Call it before those who ask are destroyed.
  void Stop();

 private:
  explicit Delegation(const Parts& parts);

  kube::Client client_;  // For the configuration.
  std::unique_ptr<kube::aggregation::AuthenticationSource> source_;
  kube::aggregation::ReviewClient tokens_, rights_;
  kube::aggregation::DelegatedAuthenticator authenticator_;
  kube::aggregation::DelegatedAuthorizer authorizer_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_DELEGATION_H_
