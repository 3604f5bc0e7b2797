// How long the annotations of an object may be.
#ifndef KUBE_META_ANNOTATION_LIMIT_H_
#define KUBE_META_ANNOTATION_LIMIT_H_

#include <cstddef>

namespace kube {

// The bytes of all annotations of an object together, with their names. A server refuses an object
// with more (apimachinery's TotalAnnotationSizeLimitB).
inline constexpr size_t kMaxAnnotationBytes = 256 << 10;

}  // namespace kube

#endif  // KUBE_META_ANNOTATION_LIMIT_H_
