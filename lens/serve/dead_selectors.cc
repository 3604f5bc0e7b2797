#include "lens/serve/dead_selectors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/resource_selector.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/meta/names.h"
#include "kube/meta/selector.h"
#include "lens/serve/bounds.h"
#include "lens/serve/shown.h"
#include "tool/live_objects.h"

namespace lens::serve {

DeadSelectors::DeadSelectors(const Asked& asked, const kube::Discovery& served)
    : asked_(asked), served_(served), end_(base::RealClock().SteadyNow() + kAskSelectorsFor) {}

json::Value DeadSelectors::IsDead(const json::Value& json, const kube::Object& policy) {
  const api::ResourceSelector selector = api::ResourceSelector::FromJson(json);
  const auto gvk = kube::ParseGvk(selector.api_version(), selector.kind());
  if (!gvk.ok()) return true;
  const auto resource =
      tool::FindResource(served_, TypeOf(selector.api_version(), std::string(selector.kind())));
  // What is not served, or is of another case, does not exist.
  if (!resource.ok() || resource->gvk != *gvk) return true;
  // A PropagationPolicy governs nothing that has no namespace.
  if (!resource->namespaced && !policy.ns().empty()) return true;
  kube::ListOptions options;
  if (!selector.name().empty()) {
    options.field_selector = absl::StrCat("metadata.name=", selector.name());
  } else if (!json["labelSelector"].is_null()) {
    const auto labels = kube::LabelSelector::FromJson(json["labelSelector"]);
    if (!labels.ok() || labels->MatchesNothing()) return true;
    options.label_selector = labels->ToString();
  }
  if (count_++ >= kMostSelectorsAsked || base::RealClock().SteadyNow() > end_) return {};
  options.limit = 1;
  options.fields = {"metadata.name"};
  options.paced = false;
  const std::string ns(selector.ns().empty() ? policy.ns() : selector.ns());
  const auto page =
      asked_.viewer.client().List(*resource, resource->namespaced ? ns : "", options, asked_.stop);
  if (page.ok()) return page->items.empty();
  return kube::IsNoSuchKind(page.status()) ? json::Value(true) : json::Value();
}

}  // namespace lens::serve
