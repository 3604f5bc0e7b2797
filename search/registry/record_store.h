// ResourceRegistries in the control plane, for operators who give karmada-search no access to etcd:
// each is kept whole, as etcd would keep it, in the field `registry` of a ResourceRegistryRecord
// (storage.search.karmada.io/v1alpha1, cluster-scoped, config/search) of the same name. Records are
// not meant to be edited: nothing validates them there, and a record that does not hold a registry
// of its own name is left out and logged.
//
// The resourceVersion of a registry is that of its record. History is not kept: a list at an older
// revision shows the newest state.
#ifndef SEARCH_REGISTRY_RECORD_STORE_H_
#define SEARCH_REGISTRY_RECORD_STORE_H_

#include <memory>

#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "search/registry/store.h"

namespace search {

// Returns the resource of the records.
const kube::Resource& RegistryRecordResource();

// REQUIRES: `client`, of the control plane, outlives the store.
std::unique_ptr<RegistryStore> NewRecordStore(kube::Client& client);

}  // namespace search

#endif  // SEARCH_REGISTRY_RECORD_STORE_H_
