// How Kubernetes names things: group-version-kind, group-version-resource, namespace/name.
#ifndef KUBE_META_NAMES_H_
#define KUBE_META_NAMES_H_

#include <string>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

struct Gvk {
  std::string group;  // "" is the core group.
  std::string version;
  std::string kind;

  // Returns "apps/v1", or "v1" for the core group.
  std::string ApiVersion() const;
  // Returns Go's String(): "apps/v1, Kind=Deployment" ("/v1, Kind=Pod" in the core group).
  std::string ToString() const;
  bool empty() const { return kind.empty(); }
  friend auto operator<=>(const Gvk&, const Gvk&) = default;
  // Hashes the kind only: few kinds have the same name, and comparing those is cheaper than hashing
  // group and version each time.
  template <class H>
  friend H AbslHashValue(H h, const Gvk& g) {
    return H::combine(std::move(h), g.kind);
  }
};
// kInvalidArgument when api_version has more than one '/'.
absl::StatusOr<Gvk> ParseGvk(absl::string_view api_version, absl::string_view kind);

struct Gvr {
  std::string group;
  std::string version;
  std::string resource;  // Plural, lower case: "deployments".

  std::string ApiVersion() const;
  std::string ToString() const;  // "apps/v1/deployments", "v1/pods".
  friend auto operator<=>(const Gvr&, const Gvr&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Gvr& g) {
    return H::combine(std::move(h), g.group, g.version, g.resource);
  }
};

// Namespace (empty for cluster-scoped objects) and name.
struct ObjectKey {
  std::string ns;
  std::string name;

  std::string ToString() const;  // "ns/name" or "name".
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  template <class H>
  friend H AbslHashValue(H h, const ObjectKey& k) {
    return H::combine(std::move(h), k.ns, k.name);
  }
};

// How the API serves a kind. RestMapper finds it; for kinds that the program knows it is a
// constant.
struct Resource {
  Gvk gvk;
  std::string plural;
  bool namespaced = true;

  Gvr gvr() const { return {gvk.group, gvk.version, plural}; }
  friend auto operator<=>(const Resource&, const Resource&) = default;
};

}  // namespace kube

#endif  // KUBE_META_NAMES_H_
