#include "sandbox/tables/table_output.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "kube/meta/json_path.h"
#include "sandbox/tables/builtin_columns.h"

namespace sandbox {
namespace {

TablePrinter::Column NameColumn() {
  return {"Name", "string", 0, "name",
          "Name must be unique within a namespace. Is required when creating resources."};
}

// For kinds without columns of their own.
class PlainPrinter : public TablePrinter {
 public:
  PlainPrinter() : columns_{NameColumn(), {"Created At", "date"}} {}
  const std::vector<Column>& columns() const override { return columns_; }
  Cells Row(const kube::Object& object, absl::Time) const override {
    return {object.name(), object.metadata()["creationTimestamp"]};
  }

 private:
  std::vector<Column> columns_;
};

class BuiltinPrinter : public TablePrinter {
 public:
  explicit BuiltinPrinter(const BuiltinColumns& builtin)
      : row_(builtin.row), name_first_(!HasName(builtin)) {
    if (name_first_) columns_.push_back(NameColumn());
    for (const BuiltinColumns::Spec& spec : builtin.columns) {
      columns_.push_back({spec.name, spec.type, spec.wide ? 1 : 0, "", ""});
    }
  }
  const std::vector<Column>& columns() const override { return columns_; }
  Cells Row(const kube::Object& object, absl::Time now) const override {
    Cells cells;
    if (name_first_) cells.emplace_back(object.name());
    for (json::Value& cell : row_(object, now)) cells.push_back(std::move(cell));
    return cells;
  }

 private:
  static bool HasName(const BuiltinColumns& builtin) {
    return std::any_of(builtin.columns.begin(), builtin.columns.end(),
                       [](const auto& spec) { return absl::string_view(spec.name) == "Name"; });
  }

  std::vector<Column> columns_;
  const BuiltinColumns::RowFunction row_;
  const bool name_first_;
};

// Prints the additionalPrinterColumns of a custom resource.
class CustomPrinter : public TablePrinter {
 public:
  explicit CustomPrinter(const std::vector<PrinterColumn>& columns) {
    columns_.push_back(NameColumn());
    for (const PrinterColumn& c : columns) {
      auto path = kube::JsonPath::Parse(absl::StrCat("{", c.json_path, "}"));
      if (!path.ok()) continue;
      columns_.push_back({c.name, c.type, c.priority, c.format, c.description});
      paths_.push_back(*std::move(path));
    }
  }
  const std::vector<Column>& columns() const override { return columns_; }

  Cells Row(const kube::Object& object, absl::Time now) const override {
    Cells cells = {object.name()};
    for (size_t i = 0; i < paths_.size(); ++i) {
      const auto found = paths_[i].Find(object.root(), kube::JsonPath::MissingKeys::kSkip);
      cells.push_back(found.ok() ? Cell(columns_[i + 1].type, *found, now) : nullptr);
    }
    return cells;
  }

 private:
  static json::Value Cell(absl::string_view type, const std::vector<json::Value>& found,
                          absl::Time now) {
    if (found.empty()) return nullptr;
    const json::Value& v = found[0];
    if (type == "date") return AgeOf(v, now);
    if (type == "integer") return v.is_number() ? json::Value(v.AsInt()) : json::Value();
    if (type == "number") return v.is_number() ? v : json::Value();
    if (type == "boolean") return v.is_bool() ? v : json::Value();
    std::vector<std::string> texts;
    for (const json::Value& each : found) {
      texts.push_back(each.is_string() ? each.ToString() : json::Write(each));
    }
    return absl::StrJoin(texts, " ");
  }

  std::vector<Column> columns_;
  std::vector<kube::JsonPath> paths_;
};

json::Value RowObject(const kube::Object& object, const TableOptions& options) {
  if (options.include == IncludeObject::kObject) return object.root();
  return PartialMetadataOf(object, options.version);
}

}  // namespace

std::shared_ptr<const TablePrinter> PrinterOf(const ResourceInfo& info) {
  if (info.custom) return std::make_shared<CustomPrinter>(info.columns);
  const BuiltinColumns* builtin = FindBuiltinColumns(info.resource.gvk);
  if (builtin == nullptr) return std::make_shared<PlainPrinter>();
  return std::make_shared<BuiltinPrinter>(*builtin);
}

json::Value TableOf(const TablePrinter& printer, const std::vector<kube::ObjectPtr>& objects,
                    json::Value list_metadata, const TableOptions& options) {
  const absl::Time now = base::RealClock().Now();
  json::Value definitions;
  if (options.with_columns) {
    definitions = json::Value::Array();
    for (const TablePrinter::Column& c : printer.columns()) {
      definitions.Append(json::Value::Object({{"name", c.name},
                                              {"type", c.type},
                                              {"format", c.format},
                                              {"description", c.description},
                                              {"priority", c.priority}}));
    }
  }
  json::Value rows = json::Value::Array();
  for (const kube::ObjectPtr& object : objects) {
    json::Value cells = json::Value::Array();
    for (json::Value& cell : printer.Row(*object, now)) cells.Append(std::move(cell));
    json::Value row = json::Value::Object({{"cells", std::move(cells)}});
    if (options.include != IncludeObject::kNone) row.Set("object", RowObject(*object, options));
    rows.Append(std::move(row));
  }
  return json::Value::Object({{"kind", "Table"},
                              {"apiVersion", absl::StrCat("meta.k8s.io/", options.version)},
                              {"metadata", std::move(list_metadata)},
                              {"columnDefinitions", std::move(definitions)},
                              {"rows", std::move(rows)}});
}

json::Value PartialMetadataOf(const kube::Object& object, absl::string_view version) {
  return json::Value::Object({{"kind", "PartialObjectMetadata"},
                              {"apiVersion", absl::StrCat("meta.k8s.io/", version)},
                              {"metadata", object.metadata()}});
}

std::string HumanDuration(absl::Duration d) {
  const int64_t seconds = absl::ToInt64Seconds(d);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return absl::StrCat(seconds, "s");
  const auto pair = [](int64_t big, const char* b, int64_t small, const char* s) {
    return small == 0 ? absl::StrCat(big, b) : absl::StrCat(big, b, small, s);
  };
  const int64_t minutes = seconds / 60;
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 60 * 3) return absl::StrCat(minutes, "m");
  const int64_t hours = minutes / 60;
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  if (hours < 24 * 8) return pair(hours / 24, "d", hours % 24, "h");
  const int64_t days = hours / 24;
  if (days < 365 * 2) return absl::StrCat(days, "d");
  if (days < 365 * 8) return pair(days / 365, "y", days % 365, "d");
  return absl::StrCat(days / 365, "y");
}

std::string AgeOf(const json::Value& timestamp, absl::Time now) {
  const auto t = kube::ParseTime(timestamp.AsString());
  return t.ok() ? HumanDuration(now - *t) : "<unknown>";
}

}  // namespace sandbox
