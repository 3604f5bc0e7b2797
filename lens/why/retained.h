// What a customization's Retain keeps in a member against the manifest.
#ifndef LENS_WHY_RETAINED_H_
#define LENS_WHY_RETAINED_H_

#include <string>
#include <vector>

#include "lens/why/chain.h"

namespace lens::why {

struct Held {
  std::string customization;
  std::vector<std::string> paths;  // Where the member has another value than the manifest: kept.
  std::string whole;  // "spec" when nothing in it ever follows the manifest; "" otherwise.
};

// Returns what the rule for Retain keeps in the cluster; without paths when that is nothing, or
// when another layer than the customizations answers: what those keep is what a member owns.
Held HeldIn(const Chain& chain, const std::string& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_RETAINED_H_
