// Which values are tried for which properties of an object: what its schema allows, and a little
// beyond, found by a walk through the schema.
//
// A probe is named by a line, which is enough to repeat it:
//
//   spec.placement.clusterTolerations[0].tolerationSeconds =-1
//   spec.placement.spreadConstraints absent
//   metadata.labels["app.kubernetes.io/name"] ="x"
//   spec.schedulerName long 253          a text of 253 characters
//   spec.resourceSelectors twice         the first element of the list again, at its end
//   together {"spec":{...}}              a merge patch, for what contradicts itself
#ifndef TESTS_PROVE_VALUES_PROBES_H_
#define TESTS_PROVE_VALUES_PROBES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace prove {

// The kind of object whose values are tried.
struct Subject {
  json::Value schema;   // An OpenAPI v3 schema; status, and metadata of the root, are left out.
  json::Value object;   // The object as it is before and after.
  json::Value samples;  // By path: what a property is that the object lacks and a probe needs.
  // By path: further values, besides those that the schema tells.
  json::Value values;
  // Merge patches.
  json::Value together;
  // Where the walk begins, by path; at the root when there are none.
  std::vector<std::string> within;
};

// Returns the names of all probes that change the object.
std::vector<std::string> Probes(const Subject& subject);

// Returns `object`, which need not be the subject's own, as the probe makes it. kInvalidArgument
// for a name that is not understood, and for a path that the schema does not have.
absl::StatusOr<json::Value> WithProbe(const Subject& subject, json::Value object,
                                      absl::string_view probe);

}  // namespace prove

#endif  // TESTS_PROVE_VALUES_PROBES_H_
