#include "works/standing_binding.h"

#include <string>
#include <tuple>
#include <vector>

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

// Returns whether `a` rather than `b` stands for the object, for which Karmada gives this name.
bool GoesBefore(const kube::Object& a, const kube::Object& b, const std::string& given) {
  const auto rank = [&](const kube::Object& binding) {
    return std::tuple(binding.name() != given, binding.metadata()["creationTimestamp"].AsString(),
                      binding.name());
  };
  return rank(a) < rank(b);
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
  const std::string given = api::BindingOf(kind, object).key.name;
  kube::ObjectPtr standing;
  for (const kube::ObjectPtr& binding : BindingsNaming(client, kind, object)) {
    const bool is_better = standing == nullptr || GoesBefore(*binding, *standing, given);
    if (is_better && !binding->IsDeleting() && counts(*binding)) standing = binding;
  }
  return standing;
}

std::vector<kube::ObjectPtr> BindingsBefore(kube::ClusterClient& client,
                                            const kube::Object& binding) {
  const api::ObjectReference resource = api::BindingView(binding).Resource();
  const std::string given = api::BindingOf(resource.kind, resource.key()).key.name;
  std::vector<kube::ObjectPtr> before = BindingsNaming(client, resource.kind, resource.key());
  std::erase_if(before, [&](const kube::ObjectPtr& other) {
    return other->IsDeleting() || !GoesBefore(*other, binding, given);
  });
  return before;
}

}  // namespace works
