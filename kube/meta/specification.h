// What of an object is its specification: everything that somebody may edit on purpose.
#ifndef KUBE_META_SPECIFICATION_H_
#define KUBE_META_SPECIFICATION_H_

#include "base/json.h"
#include "kube/meta/object.h"

namespace kube {

// Returns the object without status, managedFields and resourceVersion.
json::Value SpecificationOf(const Object& object);

// Returns whether an update matters to those who follow the specification. If the generation rose
// by one along with a change of the status, and nothing else changed, only the status was written,
// as happens for kinds without a status subresource. (An edit that was undone before it was seen
// raises it by two.)
bool SpecificationChanged(const Object& before, const Object& after);

}  // namespace kube

#endif  // KUBE_META_SPECIFICATION_H_
