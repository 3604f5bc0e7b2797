#include "works/standing_binding.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"

namespace works {
namespace {

std::string KeyOf(absl::string_view kind, const kube::ObjectKey& object) {
  return absl::StrCat(kind, " ", object.ToString());
}

std::vector<kube::ObjectPtr> BindingsNaming(kube::ClusterClient& client, absl::string_view kind,
                                            const kube::ObjectKey& object) {
  return client.ByIndex(api::BindingOf(kind, object).resource, kBindingsByObject,
                        KeyOf(kind, object));
}

}  // namespace

std::vector<std::string> ObjectNamedBy(const kube::Object& binding) {
  if (!api::MayStandForResource(binding)) return {};
  const api::ObjectReference resource = api::BindingView(binding).Resource();
  return {KeyOf(resource.kind, resource.key())};
}

std::vector<kube::Request> RequestsForBindingsOf(kube::ClusterClient& client,
                                                 absl::string_view kind,
                                                 const kube::ObjectKey& object) {
  std::vector<kube::Request> requests;
  for (const kube::ObjectPtr& binding : BindingsNaming(client, kind, object)) {
    requests.push_back({.key = binding->key()});
  }
  return requests;
}

kube::ObjectPtr StandingBinding(kube::ClusterClient& client, absl::string_view kind,
                                const kube::ObjectKey& object,
                                const std::function<bool(const kube::Object&)>& counts) {
  std::vector<kube::ObjectPtr> bindings = BindingsNaming(client, kind, object);
  std::erase_if(bindings, [&](const kube::ObjectPtr& binding) {
    return binding->IsDeleting() || !counts(*binding);
  });
  if (bindings.empty()) return nullptr;
  const std::string given = api::BindingOf(kind, object).key.name;
  const auto rank = [&](const kube::ObjectPtr& binding) {
    return std::tuple(binding->name() != given, binding->metadata()["creationTimestamp"].AsString(),
                      binding->name());
  };
  return *std::min_element(
      bindings.begin(), bindings.end(),
      [&](const kube::ObjectPtr& a, const kube::ObjectPtr& b) { return rank(a) < rank(b); });
}

}  // namespace works
