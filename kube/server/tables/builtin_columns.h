// The columns that kubectl shows for built-in kinds, after kube-apiserver's printers.
#ifndef KUBE_SERVER_TABLES_BUILTIN_COLUMNS_H_
#define KUBE_SERVER_TABLES_BUILTIN_COLUMNS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube::server {

struct BuiltinColumns {
  struct Spec {
    const char* name;
    const char* type = "string";
    bool wide = false;
  };
  using RowFunction = std::vector<json::Value> (*)(const kube::Object& object, absl::Time now);

  std::string group;
  std::string kind;
  std::vector<Spec> columns;  // Name precedes them, unless it is one of them.
  RowFunction row = nullptr;  // Returns one cell for each column.
};

// Returns nullptr when the kind has no columns of its own.
const BuiltinColumns* FindBuiltinColumns(const kube::Gvk& gvk);

// The parts of the table, by topic.
std::vector<BuiltinColumns> WorkloadColumns();
std::vector<BuiltinColumns> ClusterColumns();
std::vector<BuiltinColumns> ConfigColumns();
std::vector<BuiltinColumns> MachineryColumns();
BuiltinColumns PodColumns();
BuiltinColumns AutoscalerColumns();

// Return "nginx,sidecar" and "nginx:1,proxy:2" for a pod spec.
std::string ContainerNames(const json::Value& pod_spec);
std::string ContainerImages(const json::Value& pod_spec);
// Returns "app=web,tier=front" or "<none>".
std::string LabelsText(const json::Value& labels);
// Returns the text of a metav1.LabelSelector or "<none>".
std::string SelectorText(const json::Value& selector);
// Returns the string, or `otherwise` when it is absent or empty.
std::string TextOr(const json::Value& v, const char* otherwise);
json::Value AgeCell(const kube::Object& object, absl::Time now);

}  // namespace kube::server

#endif  // KUBE_SERVER_TABLES_BUILTIN_COLUMNS_H_
