// Suggests the kind that was probably meant instead of one that a server does not have.
#ifndef KUBE_META_NEAREST_KIND_H_
#define KUBE_META_NEAREST_KIND_H_

#include <optional>
#include <set>

#include "kube/meta/names.h"

namespace kube {

// Returns the served kind that was probably meant by `wanted`, which is not served: one of the same
// name in another version or group, else one of a similar name, preferably in the same group.
// nullopt when there is none.
std::optional<Gvk> NearestKind(const Gvk& wanted, const std::set<Gvk>& served);

}  // namespace kube

#endif  // KUBE_META_NEAREST_KIND_H_
