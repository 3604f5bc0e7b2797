// What members are asked besides the object that is asked about.
#ifndef LENS_WHY_MEMBER_QUESTIONS_H_
#define LENS_WHY_MEMBER_QUESTIONS_H_

#include "api/members/connection.h"
#include "base/stop_token.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/names.h"
#include "lens/why/chain.h"

namespace lens::why {

// How members are asked, as AskMembers does. REQUIRES: what it refers to outlives it.
struct Asking {
  const kube::ConnectionConfig& control_plane;
  const kube::Discovery& discovery;
  const members::SecretLookup& secrets;
  const base::StopToken& stop;
};

// Asks the ready ones of the other clusters, too, if they are few: the object may not have left
// them yet. That one of them has none, or does not answer, is of no interest.
void AskOthers(const Asking& asking, const kube::Resource& resource, Chain& chain);

// Asks the members in which the object is not healthy for what it needs there. That one does not
// answer, or does not serve a kind, says nothing.
void AskForNeeds(const Asking& asking, Chain& chain);

// Asks the members in which the workload is not well for its Pods, which say why.
void AskForPods(const Asking& asking, Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_MEMBER_QUESTIONS_H_
