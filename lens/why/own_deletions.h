// What the deletion of an object of one of Karmada's own kinds waits for.
#ifndef LENS_WHY_OWN_DELETIONS_H_
#define LENS_WHY_OWN_DELETIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Names each finalizer of an object of Karmada's own kinds that is being deleted, who takes it
// away, and what has to happen before; and advises nothing by which something is left behind.
Findings OwnObjectIsBeingDeleted(const Chain& chain);

// What holds up the deletion of a Work or a binding, when it is somebody else.
struct ForeignHold {
  std::string why;     // "example.io/hold, which none of Karmada's programs takes away"; or "".
  std::string advice;  // A sentence without its full stop.
};
// Returns an empty one unless all finalizers that the object has are of programs that are unknown
// here: as long as one of Karmada's is there, its program has something to do first.
ForeignHold HeldByOthers(const kube::Object& object);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_DELETIONS_H_
