// What loops over Works share: a cluster's Works, the template behind a manifest.
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

// The template behind a Work's manifest, for events; its uid is "" when the manifest does not tell.
kube::ObjectReference TemplateOf(const kube::Object& manifest);

}  // namespace works

#endif  // WORKS_RELATED_H_
