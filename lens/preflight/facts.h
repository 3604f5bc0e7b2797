// What was read of a control plane, as a value that tests write down.
#ifndef LENS_PREFLIGHT_FACTS_H_
#define LENS_PREFLIGHT_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/release.h"
#include "config/support.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace lens::preflight {

// A kind of Karmada's API groups that this program knows, or the control plane serves.
struct KindFacts {
  // As it was counted: in the version that this program reads, else in the preferred one.
  kube::Resource resource;
  // nullptr when this program does not know the kind. Points into config::Kinds().
  const config::KindSupport* support = nullptr;
  std::vector<std::string> served;  // Versions.
  // Why it is not known whether the kind is served; OK when that is known.
  absl::Status discovery;
  // The versions in which objects may be stored, by the kind's definition; none for a kind of an
  // aggregated API server, which has no definition.
  absl::StatusOr<std::vector<std::string>> stored = std::vector<std::string>();
  absl::StatusOr<int64_t> count = 0;  // Of the objects of all namespaces.
  // How many of these their VisibleDifference concerns; none where that tells nothing of it.
  std::optional<int64_t> concerned;
};

// Bindings that have another effect here than upstream: "ns/name", or "name" without a namespace.
struct BindingFacts {
  // They name an object for which they may not stand (api/binding_resource.h).
  std::vector<std::string> refused;
  // No policy governs their templates any more, so that edits of these do not pass
  // (works/passage.h).
  std::vector<std::string> released;
};

// A policy whose spec.failover.application.purgeMode has a name that Karmada v1.19 refuses.
struct OutdatedPurgeMode {
  std::string policy;  // "PropagationPolicy shop/web"
  std::string mode;
};

struct Facts {
  std::string server;  // The version of the API server; "" when it does not say.
  absl::StatusOr<config::Release> release = config::Release::kV1_18;  // By the definitions.
  std::vector<KindFacts> kinds;
  absl::StatusOr<std::vector<kube::ObjectPtr>> customizations, webhooks, clusters;
  // The Leases of clusters in pull mode, which their agents renew; none that could not be read.
  std::vector<kube::ObjectPtr> agents;
  absl::Time read_at = absl::InfinitePast();
  absl::StatusOr<BindingFacts> bindings;
  absl::StatusOr<std::vector<OutdatedPurgeMode>> purge_modes = std::vector<OutdatedPurgeMode>();
};

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_FACTS_H_
