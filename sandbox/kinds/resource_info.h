// Describes one served resource: its names, verbs, subresources and storage rules. The built-in
// ones come from BuiltinResources(), the others from CustomResourceDefinitions.
#ifndef SANDBOX_KINDS_RESOURCE_INFO_H_
#define SANDBOX_KINDS_RESOURCE_INFO_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/server/field_labels.h"
#include "kube/server/object_rules.h"
#include "kube/server/tables/table_output.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

class Schema;

// The paths of the scale subresource's values, with dots but without the leading one.
struct ScalePaths {
  std::string spec_replicas = "spec.replicas";
  std::string status_replicas = "status.replicas";
  // The path of a string or a metav1.LabelSelector; empty: there is no selector.
  std::string selector;
};

struct ResourceInfo : kube::server::ObjectRules {
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool custom = false;
  // True if creation drops the client's status (built-ins: "status": {} remains).
  bool status_reset_on_create = false;
  std::optional<ScalePaths> scale;
  // True if a PUT of an object that does not exist creates it.
  bool create_on_update = false;
  // True if a PUT without resourceVersion overwrites.
  bool unconditional_update = true;
  // True if objects are not stored: POST only, answered from the request (access reviews).
  bool review = false;
  // True if deletion leaves dependents when the client does not choose (batch/v1 Jobs,
  // ReplicationControllers).
  bool orphans_by_default = false;

  // The kind in which objects are stored; all versions of a kind share one table.
  kube::Gvk stored_as;
  // Members whose names differ between storage and this version: {stored, served}.
  std::vector<std::pair<std::string, std::string>> renames;
  // Convert further differences; null if there are none.
  void (*convert_to_served)(json::Value& object) = nullptr;
  void (*convert_to_stored)(json::Value& object) = nullptr;

  // For custom resources only.
  std::shared_ptr<const Schema> schema;
  std::vector<kube::server::PrinterColumn> columns;
  std::vector<std::string> selectable_fields;  // Paths such as ".spec.color".
  // True if the definition is being deleted, so that nothing new may be created.
  bool terminating = false;

  // Returns the table of its objects.
  GroupName table() const { return {stored_as.group, resource.plural}; }
  // Return its names in error messages.
  GroupName name() const { return {resource.gvk.group, resource.plural}; }
  GroupName kind() const { return {resource.gvk.group, resource.gvk.kind}; }
  std::vector<std::string> Verbs() const;
  std::shared_ptr<const kube::server::TablePrinter> Printer() const;
  kube::server::FieldLabels Fields() const;
  // Convert a stored object to this version, and back.
  kube::ObjectPtr ToServed(const kube::ObjectPtr& stored) const;
  kube::Object ToStored(kube::Object served) const;
};

using ResourceInfoPtr = std::shared_ptr<const ResourceInfo>;

// Returns the kinds of a kube-apiserver that users meet, in the order of discovery: groups and
// versions by priority.
std::vector<ResourceInfo> BuiltinResources();

}  // namespace sandbox

#endif  // SANDBOX_KINDS_RESOURCE_INFO_H_
