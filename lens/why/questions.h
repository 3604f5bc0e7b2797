// What else has to be asked because of what was asked: the object that a binding stands for, and
// what a template needs of members.
#ifndef LENS_WHY_QUESTIONS_H_
#define LENS_WHY_QUESTIONS_H_

#include <optional>
#include <vector>

#include "api/dependencies.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns how the control plane serves the kind; nullptr when it does not.
const kube::Resource* ServedAs(const kube::Discovery& discovery, const kube::Gvk& gvk);

// Returns the question about what a binding or a Work is for; nothing for other objects, and for a
// binding that does not fit its object, which has to be looked at itself. `read` is the object that
// `question` asks about, nullptr when there is none.
std::optional<Question> AboutItsObject(const Question& question, const kube::ObjectPtr& read,
                                       const kube::Discovery& discovery);

// Returns what the template names that clusters have of their own: a StorageClass, for example.
std::vector<api::DependentReference> NeedsOfMembers(const kube::Object& object);

}  // namespace lens::why

#endif  // LENS_WHY_QUESTIONS_H_
