#include "cmd/search/delegation.h"

#include <utility>

#include "api/programs.h"
#include "base/status.h"
#include "config/version.h"

namespace cmd {
namespace {

using kube::aggregation::AuthenticationSource;
using kube::aggregation::DelegatedAuthorizer;
using kube::aggregation::ReviewClient;

ReviewClient::Options ReviewsFor(const char* metric_prefix, const char* refusal_cause) {
  ReviewClient::Options options;
  options.user_agent = config::UserAgent(api::kSearch);
  options.metric_prefix = metric_prefix;
  options.refusal_cause = refusal_cause;
  return options;
}

kube::ClientOptions LookupClient(const Delegation::Parts& parts) {
  kube::ClientOptions options = ControlPlaneClient(parts.options, parts.connections);
  options.qps = 0;
  return options;
}

DelegatedAuthorizer::Options AuthorizerOptions(const DelegationOptions& d) {
  DelegatedAuthorizer::Options options;
  options.always_allow_paths = d.always_allow_paths;
  options.allowed_ttl = d.allowed_ttl;
  options.denied_ttl = d.denied_ttl;
  return options;
}

}  // namespace

Delegation::Delegation(const Parts& parts)
    : client_(parts.connections.authentication, LookupClient(parts), parts.clock, nullptr),
      tokens_(ReviewsFor("apiserver_delegated_authn", "token-reviews"),
              parts.connections.authentication, parts.clock, &parts.registry),
      rights_(ReviewsFor("apiserver_delegated_authz", "access-reviews"),
              parts.connections.authorization, parts.clock, &parts.registry),
      authenticator_(
          {.token_ttl = parts.options.delegation.token_ttl}, [this] { return source_->Get(); },
          &tokens_, parts.clock),
      authorizer_(AuthorizerOptions(parts.options.delegation), rights_, parts.clock) {}

absl::StatusOr<std::unique_ptr<Delegation>> Delegation::Start(const Parts& parts,
                                                              const base::StopToken& stop) {
  auto delegation = std::unique_ptr<Delegation>(new Delegation(parts));
  ASSIGN_OR_RETURN(delegation->source_,
                   AuthenticationSource::Start(parts.options.delegation.authentication,
                                               &delegation->client_, parts.clock, stop));
  return delegation;
}

kube::aggregation::DelegatedAuthenticator::ConfigFn Delegation::ConfigFn() const {
  return [this] { return source_->Get(); };
}

void Delegation::Stop() {
  tokens_.Stop();
  rights_.Stop();
}

}  // namespace cmd
