// The columns kubectl shows for built-in kinds, after kube-apiserver's printers.
#ifndef SANDBOX_TABLES_BUILTIN_COLUMNS_H_
#define SANDBOX_TABLES_BUILTIN_COLUMNS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace sandbox {

struct BuiltinColumns {
  struct Spec {
    const char* name;
    const char* type = "string";
    bool wide = false;
  };
  using RowFunction = std::vector<json::Value> (*)(const kube::Object& object, absl::Time now);

  std::string group;
  std::string kind;
  std::vector<Spec> columns;  // After Name, unless it is one of them.
  RowFunction row = nullptr;  // One cell for each of them.
};

// nullptr: the kind has no columns of its own.
const BuiltinColumns* FindBuiltinColumns(const kube::Gvk& gvk);

// The parts of the table, by theme.
std::vector<BuiltinColumns> WorkloadColumns();
std::vector<BuiltinColumns> ClusterColumns();
std::vector<BuiltinColumns> ConfigColumns();

// "nginx,sidecar" and "nginx:1,proxy:2" of a pod spec.
std::string ContainerNames(const json::Value& pod_spec);
std::string ContainerImages(const json::Value& pod_spec);
// "app=web,tier=front" or "<none>".
std::string LabelsText(const json::Value& labels);
// The text of a metav1.LabelSelector or "<none>".
std::string SelectorText(const json::Value& selector);
// The string, or `otherwise` when absent or empty.
std::string TextOr(const json::Value& v, const char* otherwise);
json::Value AgeCell(const kube::Object& object, absl::Time now);

}  // namespace sandbox

#endif  // SANDBOX_TABLES_BUILTIN_COLUMNS_H_
