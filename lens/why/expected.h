// What the daemon makes of the template for one cluster: the same functions, called on a chain.
#ifndef LENS_WHY_EXPECTED_H_
#define LENS_WHY_EXPECTED_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/binding.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "overrides/apply.h"
#include "works/passage.h"

namespace lens::why {

struct Expected {
  kube::Object manifest;               // The template as the cluster shall get it.
  overrides::Application application;  // The override rules behind it.
};

// Returns whether the customizations and webhook configurations could be read.
bool CouldReadRules(const Chain& chain);

// Returns what the cluster shall get. kUnavailable when a webhook would have to be asked, or when
// the rules or override policies could not be read; other errors are those of the interpreter, and
// those of override rules, which name the policy. REQUIRES: chain.object and chain.binding exist.
absl::StatusOr<Expected> ExpectedFor(const Chain& chain, const api::TargetCluster& target);

// Returns whether the daemon makes manifests of the template's present state, or why it does not.
// REQUIRES: chain.object and chain.binding exist.
works::Passage PassageFor(const Chain& chain);

// Returns how the Work's manifest would have to be changed to be made of the template as it is, as
// a merge patch; an empty object when it is right. What Karmada adds is not compared, nor are
// labels and annotations that only the Work has and that its manifest does not list as its
// writer's. Errors are those of ExpectedFor.
absl::StatusOr<json::Value> MissingInWork(const Chain& chain, const api::TargetCluster& target,
                                          const kube::Object& work);

// Returns how the member's object differs from the Work's manifest, as a merge patch; an empty
// object when it does not. kUnavailable when a webhook would have to be asked.
absl::StatusOr<json::Value> DifferenceIn(const Chain& chain, const std::string& cluster);

// Returns "OverridePolicy shop/small" for each override policy that the Work records as applied;
// `ns` is the template's namespace.
std::vector<std::string> OverridesOf(const kube::Object& work, const std::string& ns);

// Returns whether the Work in a cluster that the binding does not expect any more stays, because
// the binding suspends dispatching to the cluster: as binding::StaysSuspended. `member` is the
// Cluster, nullptr when there is none.
bool StaysSuspended(const api::BindingView& binding, const std::string& cluster,
                    const kube::Object* member);

}  // namespace lens::why

#endif  // LENS_WHY_EXPECTED_H_
