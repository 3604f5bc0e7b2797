// What a join makes in the member: the accounts by which Karmada reaches it.
#ifndef CONTROLLERS_CONTEXT_MEMBER_ACCOUNTS_H_
#define CONTROLLERS_CONTEXT_MEMBER_ACCOUNTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "api/keys.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace controllers {

// The credentials of the two accounts, in base64, as Secrets have them; "" for one that was not
// wanted.
struct MemberCredentials {
  std::string token;
  std::string ca_bundle;  // The member's authority, as its token Secrets have it.
  std::string impersonator_token;
};

// Returns the uid of the member's namespace kube-system, which becomes spec.id of the Cluster
// (upstream's ObtainClusterID).
absl::StatusOr<std::string> MemberId(kube::Client& member, const base::StopToken& stop);

struct MemberAccounts {
  std::string cluster;
  std::string ns = api::kClusterNamespace;  // Where the accounts are in the member.
  bool account = true;                      // karmada-<cluster>, by which Karmada reaches it.
  bool impersonator = true;                 // karmada-impersonator, by which it passes users on.
};
// Creates what is missing of what `karmadactl join` creates: the namespace, the service accounts
// karmada-impersonator and karmada-<cluster> with a token Secret each, as far as they are wanted,
// and for the latter a ClusterRole with all rights and its binding (upstream's
// ObtainCredentialsFromMemberCluster). Objects that exist stay as they are. Returns the credentials
// once the member has issued the tokens, for which it waits some seconds; kUnavailable after that.
absl::StatusOr<MemberCredentials> EnsureMemberAccounts(kube::Client& member,
                                                       const MemberAccounts& wanted,
                                                       const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_MEMBER_ACCOUNTS_H_
