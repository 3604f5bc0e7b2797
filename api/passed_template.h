// Which state of a template its binding stands for.
//
// A template reaches its clusters in two steps: the detector lets its present state pass, which it
// may refuse or put off (a quota, a missing override, a lazy policy), and the binding's loop makes
// manifests of it. The second one happens for many reasons other than an edit of the template: a
// start, an override policy, a failover. So that it never makes manifests of a state that has not
// passed, the detector records on the binding which state that was last.
#ifndef API_PASSED_TEMPLATE_H_
#define API_PASSED_TEMPLATE_H_

#include <string>

#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Returns the object as users determine it: without status, generation, managedFields and
// resourceVersion, and without labels and annotations of Karmada's domain, such as the claims of
// policies (except kSkipAutoPropagationLabel, which users set). Upstream: eventfilter's
// ResourceChangeByKarmada.
json::Value UserSpecification(const kube::Object& object);

// Returns the value of kPassedTemplateAnnotation for a template: the version of the format, the
// template's resourceVersion and generation, a hash of its labels and annotations that users
// determine, and a hash of everything but metadata and status. The resourceVersion is the one that
// is written to the binding's spec.resource together with the record. That of a Secret has no
// hashes, because more people may read bindings than Secrets; of a later version it says nothing.
std::string PassedTemplateRecord(const kube::Object& object);

// What the record of a binding says of its template's present state.
enum class PassedRecord {
  kNone,   // There is no record that this program can read, or another program has moved
           // spec.resource.resourceVersion since.
  kSame,   // It is the state that has passed.
  kOther,  // Somebody has edited the template since then.
};

// Compares the labels and annotations that users determine, and the generation or, when that
// differs, everything but metadata and status: the generation of some kinds rises with their
// status, and a server that was upgraded may show new defaults at the same generation.
// REQUIRES: `object` is the binding's template.
PassedRecord CompareWithRecord(const kube::Object& binding, const kube::Object& object);

}  // namespace api

#endif  // API_PASSED_TEMPLATE_H_
