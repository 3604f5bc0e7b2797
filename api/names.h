// Names and hashes exactly as upstream computes them (its package pkg/util/names).
#ifndef API_NAMES_H_
#define API_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace api {

// Returns the 32-bit FNV-1a hash.
uint32_t Fnv1a32(absl::string_view bytes);
// Encodes each byte as a letter from which no words can be formed, as Kubernetes'
// rand.SafeEncodeString.
std::string SafeEncode(absl::string_view text);

// Returns "karmada-es-<cluster>".
std::string ExecutionNamespace(absl::string_view cluster);
// kInvalidArgument when `ns` is not an execution namespace.
absl::StatusOr<std::string> ClusterOfExecutionNamespace(absl::string_view ns);
bool IsExecutionNamespace(absl::string_view ns);
// Returns whether this is karmada-system, karmada-cluster or karmada-es-*.
bool IsReservedNamespace(absl::string_view ns);

// Returns lower(name with ':' as '.' + "-" + kind), as upstream's names.GenerateBindingName.
std::string BindingName(absl::string_view kind, absl::string_view name);
// Returns the name of the Work, as upstream's names.GenerateWorkName.
std::string WorkName(absl::string_view kind, absl::string_view name, absl::string_view ns);

// Returns the suffix of the depended-by label that names the binding ns/name.
std::string DependedByHash(absl::string_view ns, absl::string_view name);

}  // namespace api

#endif  // API_NAMES_H_
