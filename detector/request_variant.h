// The variants of a request for a template.
#ifndef DETECTOR_REQUEST_VARIANT_H_
#define DETECTOR_REQUEST_VARIANT_H_

namespace detector {

// No edit by a user has led to the request: Karmada itself has changed the template, its policy has
// changed, or a list has shown the template. A lazily activated policy acts on it only if it finds
// an edit in the objects (lazy_activation.h). Variant 0 stands for everything else.
inline constexpr int kNotByAnEdit = 1;

}  // namespace detector

#endif  // DETECTOR_REQUEST_VARIANT_H_
