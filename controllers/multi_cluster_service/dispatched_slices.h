// The Works that bring a provider's EndpointSlice to consumers: what they look like, and how they
// and the collected Work that they come from are found from one another.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_

#include <string>
#include <vector>

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

struct Dispatch {
  const kube::Object& source;  // The collected Work; it carries an EndpointSlice.
  std::string provider;
  kube::ObjectKey service;  // The MultiClusterService.
};

// Returns the Work for a consumer. The slice has the provider in its name, so that slices of
// several providers do not meet, and only the labels and annotations that it needs there.
works::WorkTemplate WorkForConsumer(const Dispatch& dispatch, const std::string& consumer);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_DISPATCHED_SLICES_H_
