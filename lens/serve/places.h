// What a template has in each of its clusters: wanted and there, and what made it so.
#ifndef LENS_SERVE_PLACES_H_
#define LENS_SERVE_PLACES_H_

#include "base/json.h"
#include "lens/why/chain.h"

namespace lens::serve {

// Returns a list with an item for each cluster that is to have the template, or still has a Work of
// it. Paths of differences are shown and no values, which may be a Secret's.
json::Value PlacesOf(const why::Chain& chain);

}  // namespace lens::serve

#endif  // LENS_SERVE_PLACES_H_
