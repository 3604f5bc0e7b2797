// Objects of Karmada's own kinds, which are no templates: they do their work in the control plane,
// and say themselves, by conditions and events, how it goes.
#ifndef LENS_WHY_OWN_OBJECTS_H_
#define LENS_WHY_OWN_OBJECTS_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Returns whether the question is about an object of Karmada's own API groups.
bool IsAboutOwnObject(const Chain& chain);

// Returns "Scheduled=True (Success: ...)".
std::string ConditionText(const json::Value& condition, bool with_message);

// Returns a line for each of the object's conditions, and one for each reason of Warning events
// about it, the latest first. REQUIRES: chain.object exists.
std::vector<std::string> OwnConditions(const Chain& chain);
std::vector<std::string> OwnWarnings(const Chain& chain);

// The checks of such an object.
Findings OwnObjectFails(const Chain& chain);
Findings OwnAgentIsSilent(const Chain& chain);
Findings OwnObjectIsWarnedOf(const Chain& chain);
Findings OwnObjectIsNotLookedAt(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_OBJECTS_H_
