#include "lens/fleet/fleet.h"

#include "absl/strings/str_cat.h"

namespace lens::fleet {

std::string Scope::Describe() const {
  return absl::StrCat(ns.empty() ? "" : absl::StrCat(" of the namespace ", ns),
                      policy.empty() ? "" : absl::StrCat(" of the policy ", policy),
                      cluster.empty() ? "" : absl::StrCat(" in the cluster ", cluster));
}

std::string Trouble::Name() const { return absl::StrCat(gvk.kind, " ", key.ToString()); }

}  // namespace lens::fleet
