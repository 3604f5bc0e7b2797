// How long the annotations of an object may be.
#ifndef KUBE_META_ANNOTATION_LIMIT_H_
#define KUBE_META_ANNOTATION_LIMIT_H_

#include <cstddef>

#include "base/json.h"
#include "kube/meta/object.h"

namespace kube {

// The bytes of all annotations of an object together, with their names. A server refuses an object
// with more (apimachinery's TotalAnnotationSizeLimitB).
inline constexpr size_t kMaxAnnotationBytes = 256 << 10;

// Returns how many bytes of that the object's annotations take.
inline size_t AnnotationBytes(const Object& object) {
  size_t bytes = 0;
  for (const json::Member& m : object.annotations().members()) {
    bytes += m.name().size() + m.value.AsString().size();
  }
  return bytes;
}

}  // namespace kube

#endif  // KUBE_META_ANNOTATION_LIMIT_H_
