// The variants of a request for a template.
#ifndef DETECTOR_REQUEST_VARIANT_H_
#define DETECTOR_REQUEST_VARIANT_H_

namespace detector {

// The change that led to the request was made by Karmada itself, not by a user of the template: a
// lazily activated policy does not act on it. Variant 0 stands for changes by anybody else.
inline constexpr int kChangedByKarmada = 1;

}  // namespace detector

#endif  // DETECTOR_REQUEST_VARIANT_H_
