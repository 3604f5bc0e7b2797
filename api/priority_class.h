// PriorityClasses of Kubernetes, as far as policies refer to them (spec.schedulePriority).
#ifndef API_PRIORITY_CLASS_H_
#define API_PRIORITY_CLASS_H_

#include <cstdint>

#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

const kube::Resource& PriorityClasses();

// Returns the priority that a PriorityClass stands for.
inline int64_t PriorityClassValue(const kube::Object& priority_class) {
  return priority_class.Get({"value"}).AsInt();
}

}  // namespace api

#endif  // API_PRIORITY_CLASS_H_
