// Where the documentation lists what is different on purpose.
#ifndef LENS_PREFLIGHT_DOCUMENTED_H_
#define LENS_PREFLIGHT_DOCUMENTED_H_

#include <string>

#include "config/support.h"

namespace lens::preflight {

// Returns the page and section about objects of the kind, "docs/differences.md#overrides"; "" for a
// kind that upstream's controller manager does not read either. A test compares the sections with
// the page.
std::string DifferencesOf(const config::KindSupport& kind);

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_DOCUMENTED_H_
