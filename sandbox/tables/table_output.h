// Makes meta.k8s.io/v1 Table and PartialObjectMetadata documents, which kubectl get and metadata
// clients ask for.
#ifndef SANDBOX_TABLES_TABLE_OUTPUT_H_
#define SANDBOX_TABLES_TABLE_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

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

// Returns the printer of a kind; kinds without one of their own get Name and Created At.
std::shared_ptr<const TablePrinter> PrinterOf(const ResourceInfo& info);

// What a row includes of its object.
enum class IncludeObject { kNone, kMetadata, kObject };

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

}  // namespace sandbox

#endif  // SANDBOX_TABLES_TABLE_OUTPUT_H_
