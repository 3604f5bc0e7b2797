// What the errors of members mean, and what users are told about them.
#ifndef WORKS_MEMBER_ERRORS_H_
#define WORKS_MEMBER_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "kube/meta/object.h"

namespace works {

// Returns whether the object may be in the member although this is the error of its creation, and
// the cache does not show it: a server looks for an object of the name last. Before that it refuses
// a node port or an address that the object itself has, what a quota has no room for, what an
// admission webhook or policy denies, and what lacks a field that the object has. False for errors
// that say nothing about the object: the server was not reached, was busy, does not know us, or
// does not have the kind or the namespace.
bool MayBeThere(const absl::Status& refused);

// Returns the error for an object that is not Karmada's and that the manifest does not overwrite:
// kAlreadyExists with upstream's message, and what to do for an event.
absl::Status RefuseForeign(const std::string& cluster, const kube::Object& manifest);

// Returns the error for a manifest that would overwrite its own template.
absl::Status RefuseTemplate(const std::string& cluster, const kube::Object& manifest);

// Adds to a conflict of fields what an event says about it; returns other results as they are.
absl::Status ExplainConflict(const std::string& cluster, const absl::Status& refused);

// Adds the cluster to the answer of a server that only names the right that is missing; returns
// other results as they are.
absl::Status NamedIfDenied(const std::string& cluster, const absl::Status& failed);

// Adds what an event says when the member does not serve the kind of the manifest; returns other
// results as they are.
absl::Status Explained(const std::string& cluster, const kube::Object& manifest,
                       const absl::Status& failed);

// Returns the error with upstream's message, for a condition: what the server has answered, and no
// advice.
absl::Status ForCondition(const absl::Status& failed);
// Returns the same for an event, followed by what to do, if one of the above knows that.
absl::Status ForEvent(const absl::Status& failed);

}  // namespace works

#endif  // WORKS_MEMBER_ERRORS_H_
