// Finds out which selectors of a policy can never match an object.
#ifndef DETECTOR_REFUSED_SELECTORS_H_
#define DETECTOR_REFUSED_SELECTORS_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/template_filter.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace detector {

// Returns how a kind is served; nullopt when that is not known (yet).
using KnownKind = std::function<std::optional<kube::Resource>(const kube::Gvk&)>;

struct RefusedSelectors {
  // The reasons why selectors match nothing, each once: "spec.resourceSelectors names ...".
  std::vector<std::string> reasons;
  // The kinds whose scope has to be known before their selectors can be judged.
  std::set<kube::Gvk> undecided;
};

// Judges the selectors of a policy of either scope: kinds and namespaces that are never propagated,
// and, of a namespaced policy, cluster-scoped kinds and other namespaces than its own.
RefusedSelectors FindRefused(const kube::Object& policy, const TemplateFilter& filter,
                             const KnownKind& known);

// Returns the reason for a cluster-scoped kind in a namespaced policy.
std::string ClusterScopedReason(const kube::Gvk& gvk);

}  // namespace detector

#endif  // DETECTOR_REFUSED_SELECTORS_H_
