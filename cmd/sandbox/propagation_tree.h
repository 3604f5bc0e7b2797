// Shows how a template was propagated: template, policy, binding, works and member objects, as a
// tree of text.
#ifndef CMD_SANDBOX_PROPAGATION_TREE_H_
#define CMD_SANDBOX_PROPAGATION_TREE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "tool/console.h"
#include "tool/tree.h"

namespace cmd {

// Returns the replicas of a Deployment as "3/3 ready".
std::string ReadyCount(const kube::Object& deployment);

// Returns the tree of the Deployment with this key; kNotFound names what is missing.
absl::StatusOr<tool::TreeNode> PropagationTree(sandbox::Fleet& fleet,
                                               const kube::ObjectKey& deployment,
                                               const tool::Colours& colours);

// Returns the Works of a binding, sorted by namespace and name.
absl::StatusOr<std::vector<kube::ObjectPtr>> WorksOf(sandbox::Fleet& fleet,
                                                     const kube::Object& binding);

}  // namespace cmd

#endif  // CMD_SANDBOX_PROPAGATION_TREE_H_
