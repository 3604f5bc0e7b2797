// What of a whole control plane is not fine: one entry for each template that has not arrived, or
// is not well where it is, with its cause as lens/why finds it for one template.
#ifndef LENS_FLEET_FLEET_H_
#define LENS_FLEET_FLEET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/meta/names.h"
#include "lens/why/checks.h"

namespace lens::fleet {

// Which templates are asked about. Empty parts stand for all.
struct Scope {
  std::string ns;
  std::string cluster;  // Those that are meant for this cluster.
  std::string policy;   // Those of the PropagationPolicy or ClusterPropagationPolicy of this name.

  // Returns "of the namespace shop in the cluster member1"; "" for all.
  std::string Describe() const;
};

// A template that is not fine.
struct Trouble {
  kube::Gvk gvk;
  kube::ObjectKey key;
  std::string policy;  // The one that governs it: "PropagationPolicy shop/web"; "" for none.
  why::Finding cause;
  std::string brief;     // BriefOf(cause).
  std::string headline;  // The first line of `why` about it, as far as lists tell.
  absl::Time since;      // absl::InfinitePast(): it is not known.
  // What stops it in other clusters for another reason: one for each reason, the first few.
  std::vector<Trouble> elsewhere = {};

  std::string Name() const;  // "Deployment shop/web".
};

struct Fleet {
  Scope scope;
  absl::Time now;
  size_t templates = 0;  // How many were looked at.
  std::vector<Trouble> troubles;
  // Programs of Karmada's that do not run, so that what is seen may be out of date: sentences.
  std::vector<std::string> stopped;
  // What was asked about and does not exist, or governs nothing: "there is no cluster member9".
  std::vector<std::string> unknown;
  // What could not be read: sentences. `is_whole` is false when nobody can say without it that
  // everything is fine.
  std::vector<std::string> unread;
  bool is_whole = true;

  bool IsFine() const { return troubles.empty() && stopped.empty() && unknown.empty() && is_whole; }
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_FLEET_H_
