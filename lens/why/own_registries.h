// ResourceRegistries, which say by their conditions what karmada-search holds because of them.
#ifndef LENS_WHY_OWN_REGISTRIES_H_
#define LENS_WHY_OWN_REGISTRIES_H_

#include <string>

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Returns whether the question is about a registry.
bool IsRegistry(const Chain& chain);

// The checks of such an object. They find nothing about other objects.
Findings RegistryIsNotLookedAt(const Chain& chain);
Findings RegistryNamesWhatIsNotThere(const Chain& chain);
Findings RegistryLacksClusters(const Chain& chain);

// Returns "ResourceRegistry fleet: 2 of 2 clusters are synced, 30 objects". REQUIRES: chain.object
// exists, and is a registry.
std::string RegistryState(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_REGISTRIES_H_
