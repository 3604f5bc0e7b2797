#include "detector/refused_selectors.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "api/policy.h"
#include "api/resource_selector.h"

namespace detector {
namespace {

std::string Names(const kube::Gvk& gvk) {
  return absl::StrCat("spec.resourceSelectors names ", gvk.ApiVersion(), " ", gvk.kind);
}

std::string NeverPropagated(absl::string_view ns) {
  return absl::StrCat("objects of the namespace ", ns, " are never propagated");
}

// Returns why no policy selects objects of the kind; "" when policies may.
std::string ReasonOfKind(const kube::Gvk& gvk, const TemplateFilter& filter) {
  if (IsNeverPropagated(gvk)) {
    return absl::StrCat(Names(gvk),
                        ", but objects of Karmada's own groups, events and leases are never "
                        "propagated");
  }
  if (filter.AllowsResource(gvk)) return "";
  return absl::StrCat(Names(gvk),
                      ", which --skipped-propagating-apis excludes from what is propagated");
}

// Returns why no object is in the namespace that the selector means; "" when there may be some.
std::string ReasonOfNamespace(const kube::Object& policy, const api::ResourceSelector& selector,
                              const TemplateFilter& filter) {
  if (selector.ns().empty()) return "";
  if (policy.ns().empty()) {
    return filter.AllowsNamespace(selector.ns()) ? "" : NeverPropagated(selector.ns());
  }
  if (selector.ns() == policy.ns()) return "";
  return absl::StrCat("spec.resourceSelectors names the namespace ", selector.ns(),
                      ", but a PropagationPolicy selects objects of its own namespace only");
}

}  // namespace

std::string ClusterScopedReason(const kube::Gvk& gvk) {
  return absl::StrCat(Names(gvk),
                      ", which is cluster-scoped, but a PropagationPolicy selects objects of its "
                      "own namespace only; a ClusterPropagationPolicy can select it");
}

RefusedSelectors FindRefused(const kube::Object& policy, const TemplateFilter& filter,
                             const KnownKind& known) {
  RefusedSelectors refused;
  if (!policy.ns().empty() && !filter.AllowsNamespace(policy.ns())) {
    refused.reasons.push_back(NeverPropagated(policy.ns()));
    return refused;
  }
  std::set<std::string> seen;
  const auto add = [&](const std::string& reason) {
    if (!reason.empty() && seen.insert(reason).second) refused.reasons.push_back(reason);
  };
  for (const api::ResourceSelector& selector : api::PolicyView(policy).ResourceSelectors()) {
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (!gvk.ok()) continue;  // It is reported as a kind that is not served.
    add(ReasonOfNamespace(policy, selector, filter));
    const std::string of_kind = ReasonOfKind(*gvk, filter);
    add(of_kind);
    // The scope matters to a PropagationPolicy only, and not for a kind that is refused anyway.
    if (policy.ns().empty() || !of_kind.empty()) continue;
    const std::optional<kube::Resource> resource = known(*gvk);
    if (!resource.has_value()) refused.undecided.insert(*gvk);
    if (resource.has_value() && !resource->namespaced) add(ClusterScopedReason(*gvk));
  }
  return refused;
}

}  // namespace detector
