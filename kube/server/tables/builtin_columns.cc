#include "kube/server/tables/builtin_columns.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/meta/selector.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Table = std::map<std::pair<std::string, std::string>, BuiltinColumns>;

Table MakeTable() {
  Table table;
  for (auto part : {WorkloadColumns(), ClusterColumns(), ConfigColumns(), MachineryColumns()}) {
    for (BuiltinColumns& columns : part) {
      table[{columns.group, columns.kind}] = std::move(columns);
    }
  }
  return table;
}

std::string JoinContainers(const json::Value& pod_spec, absl::string_view field) {
  std::vector<std::string> values;
  for (const json::Value& c : pod_spec["containers"].items()) values.push_back(c[field].ToString());
  return absl::StrJoin(values, ",");
}

}  // namespace

const BuiltinColumns* FindBuiltinColumns(const kube::Gvk& gvk) {
  static const Table* const table = new Table(MakeTable());
  const auto found = table->find({gvk.group, gvk.kind});
  return found == table->end() ? nullptr : &found->second;
}

std::string ContainerNames(const json::Value& pod_spec) { return JoinContainers(pod_spec, "name"); }

std::string ContainerImages(const json::Value& pod_spec) {
  return JoinContainers(pod_spec, "image");
}

std::string LabelsText(const json::Value& labels) {
  if (labels.empty()) return "<none>";
  std::vector<std::string> parts;
  for (const json::Member& m : labels.members()) {
    parts.push_back(absl::StrCat(m.name(), "=", m.value.AsString()));
  }
  return absl::StrJoin(parts, ",");
}

std::string SelectorText(const json::Value& selector) {
  if (selector.is_null()) return "<none>";
  const auto parsed = kube::LabelSelector::FromJson(selector);
  if (!parsed.ok()) return "<error>";
  return parsed->MatchesEverything() ? "<none>" : parsed->ToString();
}

std::string TextOr(const json::Value& v, const char* otherwise) {
  return v.AsString().empty() ? otherwise : v.ToString();
}

json::Value AgeCell(const kube::Object& object, absl::Time now) {
  return AgeOf(object.metadata()["creationTimestamp"], now);
}

}  // namespace kube::server
