// Makes meta.k8s.io/v1 Table and PartialObjectMetadata documents, which kubectl get and metadata
// clients ask for.
#ifndef KUBE_SERVER_TABLES_TABLE_OUTPUT_H_
#define KUBE_SERVER_TABLES_TABLE_OUTPUT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/server/negotiation.h"

namespace kube::server {

// The columns of one kind, and how to fill them.
class TablePrinter {
 public:
  using Cells = std::vector<json::Value>;
  struct Column {
    std::string name;
    std::string type = "string";
    int priority = 0;
    std::string format;
    std::string description;
  };
  virtual ~TablePrinter() = default;
  virtual const std::vector<Column>& columns() const = 0;
  virtual Cells Row(const kube::Object& object, absl::Time now) const = 0;
};

// A column of a custom kind: an additionalPrinterColumn of its definition.
struct PrinterColumn {
  std::string name;
  std::string type;  // "string", "integer", "date", ...
  std::string format;
  std::string description;
  int priority = 0;  // Columns with a priority over 0 are shown only with -o wide.
  std::string json_path;
};

// Returns the printer of a built-in kind; kinds without columns of their own get Name and Created
// At.
std::shared_ptr<const TablePrinter> PrinterOf(const kube::Gvk& gvk);
// Returns the printer of a custom kind; columns whose path cannot be parsed are left out.
std::shared_ptr<const TablePrinter> PrinterOf(const std::vector<PrinterColumn>& columns);

// Returns the columns that a version of a CustomResourceDefinition has (an entry of spec.versions):
// its additionalPrinterColumns, or the age.
std::vector<PrinterColumn> ColumnsOfVersion(const json::Value& version);

// Returns `printer` with one more column after the name, which shows an annotation of the object:
// the cluster that an object is from, in answers about many clusters.
std::shared_ptr<const TablePrinter> WithAnnotationColumn(
    std::shared_ptr<const TablePrinter> printer, TablePrinter::Column column,
    std::string annotation);

// What a row includes of its object.
enum class IncludeObject { kNone, kMetadata, kObject };
// Reads the includeObject parameter. 400 for an unknown value, if a Table is asked for.
absl::StatusOr<IncludeObject> IncludeOf(const base::HttpRequest& request, const AnswerForm& form);

struct TableOptions {
  IncludeObject include = IncludeObject::kMetadata;
  bool with_columns = true;  // False for later events of a watch.
  std::string version = "v1";
};
json::Value TableOf(const TablePrinter& printer, const std::vector<kube::ObjectPtr>& objects,
                    json::Value list_metadata, const TableOptions& options);

json::Value PartialMetadataOf(const kube::Object& object, absl::string_view version);

// Returns "45s", "3m12s" or "2d4h" as kubectl prints ages (duration.HumanDuration).
std::string HumanDuration(absl::Duration d);
// Returns the age of a timestamp; "<unknown>" when it is absent.
std::string AgeOf(const json::Value& timestamp, absl::Time now);

}  // namespace kube::server

#endif  // KUBE_SERVER_TABLES_TABLE_OUTPUT_H_
