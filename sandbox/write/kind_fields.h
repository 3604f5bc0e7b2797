// managedFields and server-side apply (kube/server/fields) for the kinds that a server knows.
#ifndef SANDBOX_WRITE_KIND_FIELDS_H_
#define SANDBOX_WRITE_KIND_FIELDS_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/fields/field_owners.h"
#include "sandbox/kinds/registry.h"

namespace sandbox {

using kube::server::FieldWriter;

// Thread-safe. REQUIRES: the registry outlives it.
class KindFields {
 public:
  // `registry` has the versions in which managers may have written.
  explicit KindFields(const Registry& registry) : registry_(registry) {}

  // As kube::server::FieldOwners.
  json::Value AfterUpdate(const ResourceInfo& info, const kube::Object& current,
                          const kube::Object& wanted, const json::Value& given,
                          const FieldWriter& writer) const;
  absl::StatusOr<kube::Object> AfterApply(const ResourceInfo& info, const kube::Object& current,
                                          const kube::Object& config, const FieldWriter& writer,
                                          bool force) const;

 private:
  const Registry& registry_;
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_KIND_FIELDS_H_
