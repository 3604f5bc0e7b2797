// Determines how to reach a member: from its Cluster object and the Secret that it names.
#ifndef LOOPS_MEMBER_CONNECTION_H_
#define LOOPS_MEMBER_CONNECTION_H_

#include <functional>

#include "absl/status/statusor.h"
#include "kube/client/kubeconfig.h"
#include "kube/meta/object.h"

namespace loops {

// Returns the Secret of that key; nullptr when there is none.
using SecretLookup = std::function<kube::ObjectPtr(const kube::ObjectKey&)>;

// Errors name the cluster and the field or secret at fault, never a secret's value.
absl::StatusOr<kube::ConnectionConfig> MemberConnection(const kube::Object& cluster,
                                                        const SecretLookup& secrets);

}  // namespace loops

#endif  // LOOPS_MEMBER_CONNECTION_H_
