// What the server knows about one served resource: its names, verbs, subresources and storage
// rules. The built-in ones come from BuiltinResources(), the others from CustomResourceDefinitions.
#ifndef SANDBOX_KINDS_RESOURCE_INFO_H_
#define SANDBOX_KINDS_RESOURCE_INFO_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

class Schema;

// Where the scale subresource finds its numbers, as dotted paths without the leading dot.
struct ScalePaths {
  std::string spec_replicas = "spec.replicas";
  std::string status_replicas = "status.replicas";
  std::string selector;  // Empty: no selector. A string or a metav1.LabelSelector at that path.
};

// A column of kubectl's table.
struct PrinterColumn {
  std::string name;
  std::string type;  // "string", "integer", "date", ...
  std::string format;
  std::string description;
  int priority = 0;  // Over 0: only with -o wide.
  std::string json_path;
};

struct ResourceInfo {
  enum class NameRule { kSubdomain, kLabel, kPathSegment, kServiceName };
  // What metadata.generation follows.
  enum class Generation { kNone, kSpec, kAllButMetadata };

  kube::Resource resource;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool custom = false;
  bool status_subresource = false;
  // Creation drops what the client says about status (built-ins: "status": {} remains).
  bool status_reset_on_create = false;
  std::optional<ScalePaths> scale;
  NameRule name_rule = NameRule::kSubdomain;
  Generation generation = Generation::kNone;
  // A PUT of an object that does not exist creates it.
  bool create_on_update = false;
  // A PUT without resourceVersion overwrites.
  bool unconditional_update = true;
  // Nothing is stored: POST only, answered from the request (access reviews).
  bool review = false;
  // Deletion leaves dependents when the client does not say (batch/v1 Jobs,
  // ReplicationControllers).
  bool orphans_by_default = false;

  // How objects lie in the store; every version of a kind shares one table.
  kube::Gvk stored_as;
  // Member names that differ between storage and this version: {stored, served}.
  std::vector<std::pair<std::string, std::string>> renames;
  // Further differences; null: none.
  void (*convert_to_served)(json::Value& object) = nullptr;
  void (*convert_to_stored)(json::Value& object) = nullptr;

  // Custom resources only.
  std::shared_ptr<const Schema> schema;
  std::vector<PrinterColumn> columns;
  bool terminating = false;  // Its definition is being deleted: nothing new may be created.

  // Where its objects lie.
  GroupName table() const { return {stored_as.group, resource.plural}; }
  // How error messages name it.
  GroupName name() const { return {resource.gvk.group, resource.plural}; }
  GroupName kind() const { return {resource.gvk.group, resource.gvk.kind}; }
  std::vector<std::string> Verbs() const;
  // The stored object as this version shows it, and back.
  kube::ObjectPtr ToServed(const kube::ObjectPtr& stored) const;
  kube::Object ToStored(kube::Object served) const;
};

using ResourceInfoPtr = std::shared_ptr<const ResourceInfo>;

// Every kind a kube-apiserver serves that people meet. Order is discovery's: groups and versions by
// priority.
std::vector<ResourceInfo> BuiltinResources();

}  // namespace sandbox

#endif  // SANDBOX_KINDS_RESOURCE_INFO_H_
