// The difference that a write of an object sends.
#ifndef KUBE_CACHE_INTERNAL_OWN_PATCH_H_
#define KUBE_CACHE_INTERNAL_OWN_PATCH_H_

#include <string>

#include "base/json.h"
#include "kube/meta/object.h"

namespace kube::internal {

// Returns the merge patch from `before` to `after` for the part that a write of this sub-resource
// ("" for the object itself) may change, without what only the server writes; null when there is no
// difference.
json::Value OwnPatch(const Object& before, const Object& after, const std::string& subresource);

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_OWN_PATCH_H_
