// What the definitions of custom kinds say about reading their objects: the columns of Tables, and
// the fields by which objects can be selected.
#ifndef SEARCH_PROXY_CUSTOM_KINDS_H_
#define SEARCH_PROXY_CUSTOM_KINDS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/server/field_labels.h"
#include "kube/server/tables/table_output.h"

namespace search {

// Thread-safe.
class CustomKinds {
 public:
  // The fields of a CustomResourceDefinition that count here (InformerOptions::fields).
  static std::vector<std::string> FieldsOfDefinitions();

  // Takes over a CustomResourceDefinition, in the place of its earlier state.
  void Set(const kube::Object& definition);
  // `definition` is its name: "widgets.example.com".
  void Remove(absl::string_view definition);

  // Return what holds for a resource; for one without a known definition that is what holds for
  // built-in kinds and for kinds that nothing is known of.
  std::shared_ptr<const kube::server::TablePrinter> PrinterOf(const kube::Resource& resource) const;
  // Returns the same printer as long as the definition of the kind stays; null for others.
  std::shared_ptr<const kube::server::TablePrinter> DefinedPrinterOf(
      const kube::Resource& resource) const;
  kube::server::FieldLabels FieldsOf(const kube::Resource& resource) const;

 private:
  struct Version {
    std::shared_ptr<const kube::server::TablePrinter> printer;
    kube::server::FieldLabels fields;
  };
  using Versions = std::map<std::string, Version>;

  // Returns nullptr when there is none.
  const Version* Find(const kube::Resource& resource) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  std::map<std::string, Versions> definitions_ ABSL_GUARDED_BY(mu_);  // By their names.
};

}  // namespace search

#endif  // SEARCH_PROXY_CUSTOM_KINDS_H_
