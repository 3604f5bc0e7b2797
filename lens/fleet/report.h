// Shows what is not fine in a control plane: grouped by cause, and as JSON.
#ifndef LENS_FLEET_REPORT_H_
#define LENS_FLEET_REPORT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/json.h"
#include "lens/fleet/fleet.h"

namespace lens::fleet {

// Templates with the same cause, the latest first.
struct Group {
  std::string brief;  // "member2 is not ready".
  // Whether what was found says more of each template than the brief.
  bool has_details = false;
  absl::Time since = absl::InfinitePast();  // Of the latest one.
  std::string advice;                       // "" when it is not the same for all.
  std::vector<const Trouble*> troubles;
};

// Returns the groups, the one with the latest trouble first; what nobody knows the time of is last.
// REQUIRES: `fleet` outlives the result.
std::vector<Group> GroupsOf(const Fleet& fleet);

// Returns "17 of 5000 templates are not fine", without its full stop.
std::string HeadlineOf(const Fleet& fleet);

// Returns {headline, fine, templates, notFine, groups, stopped, unknown, unread}.
json::Value JsonOf(const Fleet& fleet);

}  // namespace lens::fleet

#endif  // LENS_FLEET_REPORT_H_
