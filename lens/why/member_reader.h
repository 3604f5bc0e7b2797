// Asks members for one object each.
#ifndef LENS_WHY_MEMBER_READER_H_
#define LENS_WHY_MEMBER_READER_H_

#include <map>
#include <string>
#include <vector>

#include "api/members/connection.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

struct MemberQuestion {
  kube::Resource resource;
  kube::ObjectKey key;
  std::vector<kube::ObjectPtr> clusters;  // Those to ask.
};

// Asks all clusters at the same time, a few seconds each: with the credentials of the Cluster, as
// the daemon does; if that does not work, through the proxy of `control_plane`, whose credentials
// it takes. `secrets` is called from one thread.
std::map<std::string, MemberAnswer> AskMembers(const MemberQuestion& question,
                                               const kube::ConnectionConfig& control_plane,
                                               const members::SecretLookup& secrets,
                                               const base::StopToken& stop);

// Asks a member for the Pods of a workload of its own.
struct PodQuestion {
  kube::ObjectPtr cluster;
  std::string ns, selector;
};

// Asks all clusters at the same time for one page of Pods each, as AskMembers does.
std::map<std::string, MemberPods> AskMembersForPods(const std::vector<PodQuestion>& questions,
                                                    const kube::ConnectionConfig& control_plane,
                                                    const members::SecretLookup& secrets,
                                                    const base::StopToken& stop);

// Returns the object with its metadata.managedFields, which the client leaves out; as it is, where
// they cannot be read. A sandbox does not know them.
kube::ObjectPtr WithOwners(kube::Client& client, const kube::Resource& resource,
                           kube::Object object, const base::StopToken& stop);

}  // namespace lens::why

#endif  // LENS_WHY_MEMBER_READER_H_
