// Since when a template has been stopped by what stops it.
#ifndef LENS_WHY_SINCE_H_
#define LENS_WHY_SINCE_H_

#include "absl/time/time.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Returns since when it has been so, by the time that a condition, a deletion, a lease, an event or
// the creation of what waits records; absl::InfinitePast() when nothing records it, as of an object
// that has become unhealthy.
absl::Time SinceWhen(const Chain& chain, const Finding& finding);

}  // namespace lens::why

#endif  // LENS_WHY_SINCE_H_
