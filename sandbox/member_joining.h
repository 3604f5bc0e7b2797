// Joins a member in push mode: creates accounts in the member, and secrets and a Cluster in the
// control plane.
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

// Joins the member as `karmadactl join` does: the secrets come first, belong to the Cluster and are
// deleted with it. kAlreadyExists when there is a Cluster of that name. After another error
// PrepareToJoinAgain and another call join it, unless the Cluster exists: then only the owner of a
// secret is missing.
absl::Status JoinMember(Backend& control_plane, const JoiningMember& member);

// Makes way for JoinMember after the Cluster of that name was deleted: removes the Secrets that it
// has left. kFailedPrecondition while the Cluster exists.
absl::Status PrepareToJoinAgain(Backend& control_plane, const std::string& name);

// Creates the namespace unless it exists.
absl::Status EnsureNamespace(Backend& backend, const std::string& name);

}  // namespace sandbox

#endif  // SANDBOX_MEMBER_JOINING_H_
