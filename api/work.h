// Work (work.karmada.io/v1alpha1): the objects that one member cluster has to run, and their
// status.
#ifndef API_WORK_H_
#define API_WORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Identifies the manifest of a Work that a status belongs to.
struct ManifestIdentifier {
  int64_t ordinal = 0;  // Index in spec.workload.manifests.
  std::string group, version, kind, ns, name;

  // Returns the identifier of the manifest at index `ordinal`.
  static ManifestIdentifier Of(const kube::Object& manifest, int64_t ordinal);
  static ManifestIdentifier FromJson(const json::Value& identifier);
  // `resource` is always "", as upstream writes it: the schema requires the member.
  json::Value ToJson() const;
  friend bool operator==(const ManifestIdentifier&, const ManifestIdentifier&) = default;
};

// An item of status.manifestStatuses.
struct ManifestStatus {
  ManifestIdentifier identifier;
  json::Value status;  // Null when there is none.
  std::string health;  // As AggregatedStatusItem::health.

  static ManifestStatus FromJson(const json::Value& item);
  json::Value ToJson() const;
  friend bool operator==(const ManifestStatus&, const ManifestStatus&) = default;
};

// Reads one Work. The object must outlive the view and stay unchanged.
class WorkView {
 public:
  explicit WorkView(const kube::Object& object) : object_(object) {}
  explicit WorkView(kube::Object&&) = delete;

  const kube::Object& object() const { return object_; }

  // Returns the raw manifests; usually there is one.
  absl::Span<const json::Value> Manifests() const;
  // Returns the index of the manifest with the apiVersion, kind, namespace and name of `object`.
  std::optional<int64_t> IndexOf(const kube::Object& object) const;

  bool IsDispatchingSuspended() const { return spec()["suspendDispatching"].AsBool(); }
  bool PreservesResourcesOnDeletion() const {
    return spec()["preserveResourcesOnDeletion"].AsBool();
  }

  const json::Value& Conditions() const { return object_.status()["conditions"]; }
  // Returns whether the last apply of all manifests succeeded.
  bool IsApplied() const;
  std::vector<ManifestStatus> ManifestStatuses() const;

 private:
  const json::Value& spec() const { return object_.spec(); }

  const kube::Object& object_;
};

}  // namespace api

#endif  // API_WORK_H_
