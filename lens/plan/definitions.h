// Definitions of custom resources on a simulated control plane.
#ifndef LENS_PLAN_DEFINITIONS_H_
#define LENS_PLAN_DEFINITIONS_H_

#include "absl/status/status.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// Returns the definition of a custom resource of this kind that accepts any object.
kube::Object AssumedDefinition(const kube::Gvk& gvk, bool namespaced);

// Makes the definition `now`, which the server has, what is given, but for Karmada's claims on it.
absl::Status ReplaceDefinition(sandbox::Backend& backend, const kube::Object& now,
                               kube::Object definition);

}  // namespace lens::plan

#endif  // LENS_PLAN_DEFINITIONS_H_
