// What loops over Works share: a cluster's Works, its credentials, the template behind a manifest.
#ifndef WORKS_RELATED_H_
#define WORKS_RELATED_H_

#include <memory>

#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"

namespace works {

// Whether a cluster's Ready condition turned true.
bool BecameReady(const kube::Object& before, const kube::Object& after);

// Maps a Cluster to requests for all Works in its execution namespace. `works` is their informer.
kube::MapFn WorksOf(std::shared_ptr<kube::Informer> works);

// Has a controller that speaks to members wait for what tells how to reach them. A member whose
// secret has not been listed yet would look like one without.
void WaitForCredentials(kube::Controller& controller, kube::InformerSet& informers);

// The template behind a Work's manifest, for events; its uid is "" when the manifest does not tell.
kube::ObjectReference TemplateOf(const kube::Object& manifest);

}  // namespace works

#endif  // WORKS_RELATED_H_
