#include "search/registry/managed_fields.h"

#include <utility>

#include "search/registry/registry_rules.h"

namespace search {

using kube::server::FieldOwners;
using kube::server::FieldVersions;
using kube::server::FieldWriter;

void RecordUpdate(const kube::Object& before, const FieldWriter& writer, kube::Object& after) {
  FieldVersions versions(RegistryFields());
  json::Value owners =
      FieldOwners(versions).AfterUpdate(before, after, after.metadata()["managedFields"], writer);
  if (owners.is_null()) {
    after.Erase({"metadata", "managedFields"});
  } else {
    after.Set({"metadata", "managedFields"}, std::move(owners));
  }
}

absl::StatusOr<kube::Object> Applied(const kube::Object& live, const kube::Object& config,
                                     const FieldWriter& writer, bool force) {
  FieldVersions versions(RegistryFields());
  return FieldOwners(versions).AfterApply(live, config, writer, force);
}

}  // namespace search
