// Drift in a member that appears again each time it has been put right: what the event says.
#ifndef API_REPEATED_DRIFT_H_
#define API_REPEATED_DRIFT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace api {

// How objects differ in a member from what Karmada has put there.
struct RepeatedDrift {
  std::string fields;   // "spec.replicas, spec.template.spec.containers"
  std::string manager;  // Who has set them, by metadata.managedFields; "" when that is unknown.
  int times = 0;        // How often they were put back within a minute.
};

namespace reason {

inline constexpr char kRepeatedDrift[] = "RepeatedDrift";

}  // namespace reason

namespace message {

std::string DriftsAgainAndAgain(const kube::Object& object, absl::string_view cluster,
                                const RepeatedDrift& drift);

}  // namespace message
}  // namespace api

#endif  // API_REPEATED_DRIFT_H_
