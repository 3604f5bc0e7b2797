// Tells from the Lease of one of Karmada's programs whether somebody leads.
#ifndef API_LEADERSHIP_H_
#define API_LEADERSHIP_H_

#include <string>

#include "absl/time/time.h"
#include "kube/meta/object.h"

namespace api {

// Returns how the Lease shows at this time that nobody renews it: "its lease was last renewed at
// ...". A leader that stops gives it up by making it short. "" when somebody renews it, and when it
// cannot be told. The clocks of this machine and of the one that renews may differ by 20 s.
std::string WhyNobodyLeads(const kube::Object& lease, absl::Time now);

// Returns "47 s" when the Lease has run out by this clock, that long after it was renewed, although
// the clocks may only differ; "" while it lasts, and when it cannot be told.
std::string RunOutFor(const kube::Object& lease, absl::Time now);

}  // namespace api

#endif  // API_LEADERSHIP_H_
