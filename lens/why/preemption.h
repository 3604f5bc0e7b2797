// Why a policy does not take a template over from the one that has claimed it.
#ifndef LENS_WHY_PREEMPTION_H_
#define LENS_WHY_PREEMPTION_H_

#include <string>

#include "lens/why/matching.h"

namespace lens::why {

// What keeps a policy from taking a template over, and what to do about it.
struct Refused {
  std::string text;     // Goes after the policy's name: "does not take over without ...".
  std::string advice;   // A sentence without its full stop.
  bool is_due = false;  // Nothing keeps it: it has not done so yet.
};
// `policy` also selects the object, which `claiming` has claimed.
Refused WhyNotTakenOver(const Match& policy, const Match& claiming, const kube::Object& object);

// Returns what becomes of what a policy governs when it is deleted, as a part of an advice.
std::string OrDelete(const Match& claiming);

}  // namespace lens::why

#endif  // LENS_WHY_PREEMPTION_H_
