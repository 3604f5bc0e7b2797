// What differs between ResourceBinding and ClusterResourceBinding, so that each loop over bindings
// is written once as a template over Scope:
//
//   template <class Scope> class BindingReconciler { ... Scope::Bindings() ... };
//   template class BindingReconciler<api::scope::Namespaced>;
//   template class BindingReconciler<api::scope::Cluster>;
#ifndef API_BINDING_SCOPE_H_
#define API_BINDING_SCOPE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "api/resources.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api::scope {

// Annotations to set, in no particular order.
using Annotations = std::vector<std::pair<absl::string_view, std::string>>;

// Keys are references to the constants because GCC 12 with UBSan refuses a constexpr string_view of
// an inline constant.

// ResourceBinding: bindings of namespaced templates, in the template's namespace.
struct Namespaced {
  static constexpr bool kNamespaced = true;
  static constexpr absl::string_view kKind = "ResourceBinding";
  static constexpr const auto& kFinalizer = kBindingFinalizer;
  // The label with the binding's id: bindings, their Works and their manifests have it.
  static constexpr const auto& kIdLabel = kResourceBindingIdLabel;
  // Controller names, which are event sources and the `controller` label of metrics.
  static constexpr absl::string_view kBindingController = "binding-controller";
  static constexpr absl::string_view kStatusController = "resource-binding-status-controller";

  static const kube::Resource& Bindings() { return ResourceBindings(); }
  // Returns the annotations by which Works and manifests name their binding.
  static Annotations NamingAnnotations(const kube::ObjectKey& binding);
  // Returns the binding that a Work or manifest names; its name is "" when it names no binding of
  // this scope.
  static kube::ObjectKey BindingOf(const kube::Object& work);
  // Returns "ResourceBinding(ns/name)", as in event messages.
  static std::string Describe(const kube::ObjectKey& binding);
};

// ClusterResourceBinding: bindings of cluster-scoped templates.
struct Cluster {
  static constexpr bool kNamespaced = false;
  static constexpr absl::string_view kKind = "ClusterResourceBinding";
  static constexpr const auto& kFinalizer = kClusterBindingFinalizer;
  static constexpr const auto& kIdLabel = kClusterResourceBindingIdLabel;
  static constexpr absl::string_view kBindingController = "cluster-resource-binding-controller";
  static constexpr absl::string_view kStatusController =
      "cluster-resource-binding-status-controller";

  static const kube::Resource& Bindings() { return ClusterResourceBindings(); }
  static Annotations NamingAnnotations(const kube::ObjectKey& binding);
  static kube::ObjectKey BindingOf(const kube::Object& work);
  // Returns "ClusterResourceBinding(name)".
  static std::string Describe(const kube::ObjectKey& binding);
};

}  // namespace api::scope

#endif  // API_BINDING_SCOPE_H_
