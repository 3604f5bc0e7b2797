#include "kube/aggregation/delegation.h"

#include <string>

#include "base/status.h"

namespace kube::aggregation {
namespace {

ReviewClient::Options ReviewsFor(const std::string& user_agent, const char* metric_prefix,
                                 const char* refusal_cause) {
  ReviewClient::Options options;
  options.user_agent = user_agent;
  options.metric_prefix = metric_prefix;
  options.refusal_cause = refusal_cause;
  return options;
}

}  // namespace

Delegation::Delegation(const Options& options, const Parts& parts)
    : client_(parts.authentication, options.lookup, parts.clock, nullptr),
      tokens_(ReviewsFor(options.lookup.user_agent, "apiserver_delegated_authn", "token-reviews"),
              parts.authentication, parts.clock, &parts.registry),
      rights_(ReviewsFor(options.lookup.user_agent, "apiserver_delegated_authz", "access-reviews"),
              parts.authorization, parts.clock, &parts.registry),
      authenticator_(
          {.token_ttl = options.token_ttl}, [this] { return source_->Get(); }, &tokens_,
          parts.clock),
      authorizer_(options.authorizer, rights_, parts.clock) {}

absl::StatusOr<std::unique_ptr<Delegation>> Delegation::Start(const Options& options,
                                                              const Parts& parts,
                                                              const base::StopToken& stop) {
  auto delegation = std::unique_ptr<Delegation>(new Delegation(options, parts));
  ASSIGN_OR_RETURN(
      delegation->source_,
      AuthenticationSource::Start(options.authentication, &delegation->client_, parts.clock, stop));
  return delegation;
}

DelegatedAuthenticator::ConfigFn Delegation::ConfigFn() const {
  return [this] { return source_->Get(); };
}

void Delegation::Stop() {
  tokens_.Stop();
  rights_.Stop();
}

}  // namespace kube::aggregation
