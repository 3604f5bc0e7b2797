// ServiceImport (multicluster.x-k8s.io/v1alpha1): a Service whose endpoints other clusters export,
// and the Service that is derived from it.
#ifndef API_SERVICE_IMPORT_H_
#define API_SERVICE_IMPORT_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// Reads one ServiceImport. The object must outlive the view and stay unchanged.
class ServiceImportView {
 public:
  explicit ServiceImportView(const kube::Object& object) : object_(object) {}
  explicit ServiceImportView(kube::Object&&) = delete;

  // Returns whether a Service is derived from it: spec.type is ClusterSetIP.
  bool IsClusterSetIp() const;
  // Returns spec.ports as those of a Service, with what an API server adds to them.
  json::Value ServicePorts() const;
  std::vector<std::string> Ips() const;

 private:
  const kube::Object& object_;
};

// Returns the key of the Service that is derived from the import.
kube::ObjectKey DerivedServiceOf(const kube::ObjectKey& service_import);
// The reverse, by the name alone; its name is "" for a Service of another name.
kube::ObjectKey ServiceImportNamedBy(const kube::ObjectKey& service);
// Returns the import that the Service belongs to by its owner references; without a name when there
// is none.
kube::ObjectKey ServiceImportOf(const kube::Object& service);

namespace reason {

// Reasons of events on ServiceImports.
inline constexpr char kSyncDerivedServiceSucceed[] = "SyncDerivedServiceSucceed";
inline constexpr char kSyncDerivedServiceFailed[] = "SyncDerivedServiceFailed";

}  // namespace reason

namespace message {

// "Sync derived service for serviceImport(n) succeed."
std::string DerivedServiceSynced(absl::string_view service_import);

}  // namespace message
}  // namespace api

#endif  // API_SERVICE_IMPORT_H_
