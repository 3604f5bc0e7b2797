// What the deletion of an object of one of Karmada's own kinds waits for.
#ifndef LENS_WHY_OWN_DELETIONS_H_
#define LENS_WHY_OWN_DELETIONS_H_

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Names each finalizer of an object of Karmada's own kinds that is being deleted, who takes it
// away, and what has to happen before; and advises nothing by which something is left behind.
Findings OwnObjectIsBeingDeleted(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_DELETIONS_H_
