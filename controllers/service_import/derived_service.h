// The Service that is derived from a ServiceImport: pure functions on JSON.
#ifndef CONTROLLERS_SERVICE_IMPORT_DERIVED_SERVICE_H_
#define CONTROLLERS_SERVICE_IMPORT_DERIVED_SERVICE_H_

#include "kube/meta/object.h"

namespace controllers {

// Returns `existing`, or a new Service when that is nullptr, with what the import determines of it:
// type and ports, no selector, and an owner reference to the import. Everything else stays: its
// addresses, and the labels and annotations of others.
kube::Object DerivedService(const kube::Object& service_import, const kube::Object* existing);

// Returns the Service with the import's addresses in its status. A status with the same addresses
// stays as it is, whatever the server has added to it.
kube::Object WithAddresses(const kube::Object& service_import, const kube::Object& service);

// Returns whether a Service of the name of a derived one may be upstream's work, which leaves no
// mark on it: it has neither a selector nor an owner.
bool MayBeUpstreams(const kube::Object& service);

}  // namespace controllers

#endif  // CONTROLLERS_SERVICE_IMPORT_DERIVED_SERVICE_H_
