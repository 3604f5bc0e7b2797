// Prints objects as rows of tables. A printer knows the columns of one kind and is immutable; there
// are those of built-in kinds (builtin_columns.h), of custom kinds (by their definition's
// JSONPaths), one for kinds without columns, and one that adds a column to another one. A cell that
// cannot be computed is null, never an error, so one malformed object does not hide the list. Ages
// are computed from this machine's clock when the answer is written.

#include "kube/server/tables/table_output.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "kube/meta/json_path.h"
#include "kube/server/api_errors.h"
#include "kube/server/tables/builtin_columns.h"

namespace kube::server {
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
    // Most kinds leave the name to the printer; some have a column of this title at another place.
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
      // A definition with such a path was accepted by the server that stores it.
      // Paths and columns grow together, so columns_[i + 1] is always the column of paths_[i].
      if (!path.ok()) continue;
      columns_.push_back({c.name, c.type, c.priority, c.format, DescriptionOf(c)});
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
  static std::string DescriptionOf(const PrinterColumn& column) {
    if (!column.description.empty()) return column.description;
    return absl::StrCat("Custom resource definition column (in JSONPath format): ",
                        column.json_path);
  }

  // As in apiextensions' tableconvertor, only the first value that a path finds counts.
  static json::Value Cell(absl::string_view type, const std::vector<json::Value>& found,
                          absl::Time now) {
    if (found.empty() || found[0].is_null()) return nullptr;
    const json::Value& v = found[0];
    if (type == "date") return DateCell(v, now);
    if (type == "integer") return IntegerCell(v);
    if (type == "number") return v.is_number() ? v : json::Value();
    if (type == "boolean") return v.is_bool() ? v : json::Value();
    return v.is_string() ? v : json::Value(json::Write(v));
  }

  static json::Value IntegerCell(const json::Value& v) {
    if (!v.is_number() || v.is_int()) return v.is_int() ? v : json::Value();
    // A double beyond int64 has no integer to be converted to.
    return static_cast<int64_t>(std::clamp(v.AsDouble(), -9e18, 9e18));
  }

  static json::Value DateCell(const json::Value& v, absl::Time now) {
    if (!v.is_string()) return nullptr;
    // A text that is not a time is invalid; an empty one is an age that is unknown.
    if (!v.AsString().empty() && !kube::ParseTime(v.AsString()).ok()) return "<invalid>";
    return AgeOf(v, now);
  }

  std::vector<Column> columns_;
  std::vector<kube::JsonPath> paths_;
};

class AnnotationPrinter : public TablePrinter {
 public:
  AnnotationPrinter(std::shared_ptr<const TablePrinter> printer, Column column,
                    std::string annotation)
      : printer_(std::move(printer)),
        annotation_(std::move(annotation)),
        columns_(printer_->columns()) {
    // The column stands behind the name, or at the front where there is none.
    const bool name_first = !columns_.empty() && columns_[0].name == "Name";
    at_ = name_first ? 1 : 0;
    columns_.insert(columns_.begin() + at_, std::move(column));
  }
  const std::vector<Column>& columns() const override { return columns_; }
  Cells Row(const kube::Object& object, absl::Time now) const override {
    Cells cells = printer_->Row(object, now);
    cells.insert(cells.begin() + at_, object.metadata()["annotations"][annotation_].ToString());
    return cells;
  }

 private:
  const std::shared_ptr<const TablePrinter> printer_;
  const std::string annotation_;
  std::vector<Column> columns_;
  ptrdiff_t at_ = 0;
};

json::Value RowObject(const kube::Object& object, const TableOptions& options) {
  if (options.include == IncludeObject::kObject) return object.root();
  return PartialMetadataOf(object, options.version);
}

}  // namespace

std::shared_ptr<const TablePrinter> PrinterOf(const kube::Gvk& gvk) {
  const BuiltinColumns* builtin = FindBuiltinColumns(gvk);
  if (builtin == nullptr) return std::make_shared<PlainPrinter>();
  return std::make_shared<BuiltinPrinter>(*builtin);
}

std::shared_ptr<const TablePrinter> PrinterOf(const std::vector<PrinterColumn>& columns) {
  return std::make_shared<CustomPrinter>(columns);
}

std::vector<PrinterColumn> ColumnsOfVersion(const json::Value& version) {
  std::vector<PrinterColumn> columns;
  for (const json::Value& c : version["additionalPrinterColumns"].items()) {
    columns.push_back({c["name"].ToString(), c["type"].ToString(), c["format"].ToString(),
                       c["description"].ToString(), static_cast<int>(c["priority"].AsInt()),
                       c["jsonPath"].ToString()});
  }
  // As apiextensions does for a definition that names no columns.
  if (columns.empty()) {
    columns.push_back({"Age", "date", "",
                       "CreationTimestamp is a timestamp representing the server time when this "
                       "object was created.",
                       0, ".metadata.creationTimestamp"});
  }
  return columns;
}

std::shared_ptr<const TablePrinter> WithAnnotationColumn(
    std::shared_ptr<const TablePrinter> printer, TablePrinter::Column column,
    std::string annotation) {
  return std::make_shared<AnnotationPrinter>(std::move(printer), std::move(column),
                                             std::move(annotation));
}

absl::StatusOr<IncludeObject> IncludeOf(const base::HttpRequest& request, const AnswerForm& form) {
  const absl::string_view wanted = request.Query("includeObject");
  if (form.kind != AnswerForm::Kind::kTable || wanted.empty() || wanted == "Metadata") {
    return IncludeObject::kMetadata;
  }
  if (wanted == "None") return IncludeObject::kNone;
  if (wanted == "Object") return IncludeObject::kObject;
  return BadRequest(
      absl::StrCat("Unable to convert to Table as requested: includeObject: Invalid value: \"",
                   wanted, "\": must be 'Metadata', 'Object', 'None', or empty"));
}

json::Value TableOf(const TablePrinter& printer, const std::vector<kube::ObjectPtr>& objects,
                    json::Value list_metadata, const TableOptions& options) {
  const absl::Time now = base::RealClock().Now();
  json::Value definitions;
  // The events of a watch have the columns only in their first table.
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
  // Clocks may differ by a second.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  // The limits are those of apimachinery's HumanDuration: two units while the larger is small.
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

}  // namespace kube::server
