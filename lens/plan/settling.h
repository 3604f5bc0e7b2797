// Determines whether a simulated control plane has done with every template what its policies ask
// for.
#ifndef LENS_PLAN_SETTLING_H_
#define LENS_PLAN_SETTLING_H_

#include <set>

#include "config/options.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// Returns whether every template that a policy selects has a binding, unless the policy is lazy,
// every binding has been placed or refused by the scheduler in its present generation, and every
// cluster of a binding has a Work. It may stay false for ever: a dependent override that does not
// exist, for example, keeps a template without a binding.
bool IsComplete(sandbox::Backend& backend, const config::Options& options);

// Returns the served kinds that policies select, without those that are never propagated.
std::set<kube::Gvr> SelectedKinds(sandbox::Backend& backend, const config::Options& options);

// Returns a policy that selects the object; nullptr when none does.
kube::ObjectPtr SelectingPolicy(sandbox::Backend& backend, const kube::Object& object);

}  // namespace lens::plan

#endif  // LENS_PLAN_SETTLING_H_
