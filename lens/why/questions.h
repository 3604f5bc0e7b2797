// What else has to be asked because of what was asked: the object that a binding stands for, and
// what a template needs of members.
#ifndef LENS_WHY_QUESTIONS_H_
#define LENS_WHY_QUESTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "api/dependencies.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns how the control plane serves the kind; nullptr when it does not.
const kube::Resource* ServedAs(const kube::Discovery& discovery, const kube::Gvk& gvk);

// Returns how the control plane serves the kind in the version that the daemon looks at, whatever
// version is asked for; nullptr when it does not serve the asked one.
const kube::Resource* ServedFirst(const kube::Discovery& discovery, const kube::Gvk& gvk);

// Returns "apps/v1 Deploymant (did you mean apps/v1 Deployment?)" for a kind that is not served.
std::string Unserved(const kube::Discovery& discovery, const kube::Gvk& gvk);

// Returns the namespaces with an object of that kind and name; none of who may not see them.
std::vector<std::string> NamespacesWith(kube::Client& client, const kube::Resource& resource,
                                        const std::string& name, const base::StopToken& stop);

// Returns the question about what a binding or a Work is for; nothing for other objects, and for a
// binding that does not fit its object, which has to be looked at itself. `read` is the object that
// `question` asks about, nullptr when there is none.
std::optional<Question> AboutItsObject(const Question& question, const kube::ObjectPtr& read,
                                       const kube::Discovery& discovery);

// Returns the clusters that are asked for the object: those that shall hold it, all of them when it
// is unknown which did.
Objects ClustersToAsk(const Chain& chain);

// Returns whether one of the bindings among the objects has the claim of the policy.
bool AnyIsGovernedBy(const Objects& objects, const kube::Object& policy);

// Returns the label selector of what the policy has claimed: "clusterpropagationpolicy...=ID".
std::string ClaimSelector(const kube::Object& policy);

// Returns what the template names that clusters have of their own: a StorageClass, for example.
std::vector<api::DependentReference> NeedsOfMembers(const kube::Object& object);

}  // namespace lens::why

#endif  // LENS_WHY_QUESTIONS_H_
