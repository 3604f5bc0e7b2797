// The text that a new customization and its cases begin with.
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
  std::string cases;          // A case for each script; all pass.
};

// Makes a skeleton for these operations, in its own order; empty stands for all but
// InterpretComponent, which only works with a feature gate. Operations that cannot be customized
// are left out.
Skeleton MakeSkeleton(const kube::Gvk& gvk, absl::Span<const interpreter::Operation> operations);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SKELETON_H_
