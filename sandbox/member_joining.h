// What joining a member in push mode leaves behind: accounts in the member, secrets and a Cluster
// in the control plane.
#ifndef SANDBOX_MEMBER_JOINING_H_
#define SANDBOX_MEMBER_JOINING_H_

#include <string>

#include "absl/status/status.h"
#include "sandbox/api_server.h"

namespace sandbox {

struct JoiningMember {
  std::string name;
  ApiServer& server;
  std::string ca_pem;
};

// Joins as `karmadactl join` does: the secrets belong to the Cluster and go with it. kAlreadyExists
// when a Cluster of that name is there.
absl::Status JoinMember(Backend& control_plane, const JoiningMember& member);

// Creates the namespace unless it is there.
absl::Status EnsureNamespace(Backend& backend, const std::string& name);

}  // namespace sandbox

#endif  // SANDBOX_MEMBER_JOINING_H_
