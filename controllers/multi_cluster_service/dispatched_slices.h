// The Works that bring a provider's EndpointSlice to consumers: what they look like, and how they
// and the collected Work that they come from are found from one another.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "works/work_writer.h"

namespace controllers {

// Returns the key of the collected Work that a dispatched one comes from; its name is "" when the
// Work was not dispatched.
kube::ObjectKey SourceOf(const kube::Object& work);

// An index of dispatched Works by the key of the collected Work that they come from.
inline constexpr char kWorksBySlice[] = "dispatched-endpoint-slice";
std::vector<std::string> SliceIndexValues(const kube::Object& work);

// An index of the Works that put an EndpointSlice into their cluster, dispatched or propagated by a
// policy, by that: the value is PlaceOf().
inline constexpr char kWorksByPlace[] = "endpoint-slice-in-cluster";
std::vector<std::string> PlaceIndexValues(const kube::Object& work);
// Returns the value for a slice in the cluster with this execution namespace.
std::string PlaceOf(absl::string_view execution_namespace, const kube::ObjectKey& slice);

struct Dispatch {
  const kube::Object& source;  // The collected Work; it carries an EndpointSlice.
  std::string provider;
  kube::ObjectKey service;  // The MultiClusterService.
};

// Returns the Work for a consumer. The slice has the provider in its name, so that slices of
// several providers do not meet, and only the labels and annotations that it needs there.
works::WantedWork WorkForConsumer(const Dispatch& dispatch, const std::string& consumer);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_
