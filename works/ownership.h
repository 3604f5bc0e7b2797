// Whose an object in a member is, and what a manifest says about taking over somebody else's.
#ifndef WORKS_OWNERSHIP_H_
#define WORKS_OWNERSHIP_H_

#include "kube/meta/object.h"

namespace works {

// Returns whether the object has Karmada's label, by which members' objects are cached.
bool IsManaged(const kube::Object& object);

// Returns the key of the Work that an object in a member, or a manifest, names in its annotations;
// an empty one if it names none.
kube::ObjectKey WorkNamedBy(const kube::Object& object);

// Returns whether the member's object is Karmada's: it has the label, or its annotations name the
// Work of the manifest. Those of an object that was released do not (preserveResourcesOnDeletion).
bool IsKarmadas(const kube::Object& manifest, const kube::Object& observed);

// Returns whether the manifest's conflict resolution says that somebody else's object is taken
// over.
bool Overwrites(const kube::Object& manifest);

}  // namespace works

#endif  // WORKS_OWNERSHIP_H_
