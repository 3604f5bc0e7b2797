// Determines how to reach a member: from its Cluster object and the Secret that it names.
#ifndef API_MEMBERS_CONNECTION_H_
#define API_MEMBERS_CONNECTION_H_

#include <functional>

#include "absl/status/statusor.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"

namespace members {

// Returns the Secret of that key; nullptr when there is none.
using SecretLookup = std::function<kube::ObjectPtr(const kube::ObjectKey&)>;

// Errors name the cluster and the field or secret at fault, never a secret's value.
absl::StatusOr<kube::ConnectionConfig> ConnectionOf(const kube::Object& cluster,
                                                    const SecretLookup& secrets);

}  // namespace members

#endif  // API_MEMBERS_CONNECTION_H_
