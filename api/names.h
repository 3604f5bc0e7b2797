// Names and hashes exactly as upstream computes them (its package pkg/util/names).
#ifndef API_NAMES_H_
#define API_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace api {

// 32-bit FNV-1a.
uint32_t Fnv1a32(absl::string_view bytes);
// Kubernetes' rand.SafeEncodeString: each byte to a letter that cannot spell words.
std::string SafeEncode(absl::string_view text);

// "karmada-es-<cluster>".
std::string ExecutionNamespace(absl::string_view cluster);
// kInvalidArgument when `ns` is no execution namespace.
absl::StatusOr<std::string> ClusterOfExecutionNamespace(absl::string_view ns);
bool IsExecutionNamespace(absl::string_view ns);
// karmada-system, karmada-cluster, karmada-es-*.
bool IsReservedNamespace(absl::string_view ns);

// names.GenerateBindingName: lower(name with ':' as '.' + "-" + kind).
std::string BindingName(absl::string_view kind, absl::string_view name);
// names.GenerateWorkName.
std::string WorkName(absl::string_view kind, absl::string_view name, absl::string_view ns);

// The suffix of the depended-by label that names the binding ns/name.
std::string DependedByHash(absl::string_view ns, absl::string_view name);

}  // namespace api

#endif  // API_NAMES_H_
