// The writes of ResourceRegistries: what is between a request and the storage.
#ifndef SEARCH_REGISTRY_REGISTRY_WRITES_H_
#define SEARCH_REGISTRY_REGISTRY_WRITES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/server/write_request.h"
#include "search/registry/store.h"

namespace search {

// Returns an error of the storage as the API reports it: the name of the resource in it, and 503
// with Retry-After when the storage does not answer. Errors of the API stay as they are.
absl::Status ApiErrorOf(const absl::Status& status, absl::string_view name);

// Thread-safe. Calls block. Errors carry their answer (kube/server/api_errors.h).
class RegistryWrites {
 public:
  // REQUIRES: both outlive the object.
  RegistryWrites(RegistryStore& store, const base::Clock& clock) : store_(store), clock_(clock) {}

  struct Context {
    bool dry_run = false;
    kube::server::FieldValidation validation = kube::server::FieldValidation::kWarn;
    std::string field_manager;
    // Determines whether who writes may have objects mirrored there, with the Secret that the
    // target names. Called for a registry's OpenSearch that is new or differs from the one before.
    // Optional; may block.
    std::function<absl::Status(const api::OpenSearchTarget& target)> may_mirror;
    // If not null, gets the texts for Warning headers.
    std::vector<std::string>* warnings = nullptr;
  };
  struct Target {
    std::string name;
    std::string subresource;  // "" or "status".
  };

  // Upstream keeps a status that the client sends; here it is dropped, as the API conventions say.
  absl::StatusOr<kube::ObjectPtr> Create(kube::Object object, const Context& context,
                                         const base::StopToken& stop);
  // A PUT; never creates. Without resourceVersion it overwrites.
  absl::StatusOr<kube::ObjectPtr> Replace(const Target& target, const kube::Object& object,
                                          const Context& context, const base::StopToken& stop);
  struct Patched {
    kube::ObjectPtr object;
    bool created = false;  // Only by an apply.
  };
  absl::StatusOr<Patched> Patch(const Target& target, const kube::server::PatchRequest& request,
                                const Context& context, const base::StopToken& stop);
  struct Deleted {
    kube::ObjectPtr object;
    bool gone = true;  // False: it has finalizers, and only got a deletionTimestamp.
  };
  absl::StatusOr<Deleted> Delete(const std::string& name,
                                 const kube::server::DeleteRequest& request,
                                 const base::StopToken& stop);

 private:
  // Makes the wanted state from the current one; called again after a lost race.
  using Change = std::function<absl::StatusOr<kube::Object>(const kube::Object& current)>;
  enum class Fields { kRecord, kApplied };  // Who sets managedFields: this class, or the change.

  absl::StatusOr<kube::ObjectPtr> Update(const Target& target, const Change& change, Fields fields,
                                         const Context& context, const base::StopToken& stop);
  absl::StatusOr<kube::Object> Prepare(const Target& target, const kube::Object& current,
                                       kube::Object wanted, const Context& context);
  absl::StatusOr<kube::ObjectPtr> Insert(kube::Object object, const Context& context,
                                         const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> CreateAs(kube::Object object, Fields fields,
                                           const Context& context, const base::StopToken& stop);
  absl::StatusOr<Patched> Apply(const Target& target, const kube::server::PatchRequest& request,
                                const Context& context, const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> Commit(kube::Object object, const base::StopToken& stop);

  RegistryStore& store_;
  const base::Clock& clock_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_WRITES_H_
