#include "api/repeated_drift.h"

#include "absl/strings/str_cat.h"

namespace api::message {

std::string DriftsAgainAndAgain(const kube::Object& object, absl::string_view cluster,
                                const RepeatedDrift& drift) {
  const std::string who =
      drift.manager.empty() ? "something" : absl::StrCat("\"", drift.manager, "\"");
  return absl::StrCat(
      object.Describe(), " in cluster ", cluster, " was put back ", drift.times,
      " times within a minute: ", who, " changes ", drift.fields,
      " there again and again. If the value shall be determined in the member, leave the field out "
      "of the template, or keep it by a rule for Retain (ResourceInterpreterCustomization).");
}

}  // namespace api::message
