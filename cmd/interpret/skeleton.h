// Writes the text with which a new customization and its cases begin.
#ifndef CMD_INTERPRET_SKELETON_H_
#define CMD_INTERPRET_SKELETON_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

struct Skeleton {
  std::string customization;  // YAML with comments for the author.
  std::string cases;          // One case for each script; all of them pass.
};

// Makes a skeleton for these operations, in its own order; empty stands for all but
// InterpretComponent, which works only with a feature gate. Operations that cannot be customized
// are left out.
Skeleton MakeSkeleton(const kube::Gvk& gvk, absl::Span<const interpreter::Operation> operations);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SKELETON_H_
