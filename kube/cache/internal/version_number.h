// resourceVersions as numbers.
#ifndef KUBE_CACHE_INTERNAL_VERSION_NUMBER_H_
#define KUBE_CACHE_INTERNAL_VERSION_NUMBER_H_

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace kube::internal {

// Returns -1 for a version that cannot be compared.
inline int64_t NumberOf(absl::string_view version) {
  int64_t number = -1;
  return absl::SimpleAtoi(version, &number) ? number : -1;
}

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_VERSION_NUMBER_H_
