// Hides the values of Secrets: a plan is printed, and goes into the logs of pull-request checks.
#ifndef LENS_PLAN_SECRETS_H_
#define LENS_PLAN_SECRETS_H_

#include <utility>

#include "kube/meta/object.h"

namespace lens::plan {

// Return the objects with every value of a Secret's data and stringData replaced, as `kubectl diff`
// does: by "*** (before)" and "*** (after)" where two objects have different values of the same
// name, else by "***". Objects of other kinds are returned unchanged.
std::pair<kube::Object, kube::Object> WithoutSecrets(kube::Object before, kube::Object after);
kube::Object WithoutSecrets(kube::Object object);

}  // namespace lens::plan

#endif  // LENS_PLAN_SECRETS_H_
