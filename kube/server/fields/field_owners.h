// metadata.managedFields: who has set which field of an object, and server-side apply, which is
// made of it. The rules are those of Kubernetes 1.35 (apimachinery's managedfields and
// structured-merge-diff).
#ifndef KUBE_SERVER_FIELDS_FIELD_OWNERS_H_
#define KUBE_SERVER_FIELDS_FIELD_OWNERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/fields/field_versions.h"

namespace kube::server {

// Who writes, and to what.
struct FieldWriter {
  std::string manager;
  std::string subresource;  // "" for the object itself.
  absl::Time now;
};

// Returns the manager of a request without the parameter fieldManager: the User-Agent up to the
// first '/'.
std::string ManagerOfUserAgent(absl::string_view user_agent);

// Takes managedFields of `current` when `wanted` differs from it in the times of their entries
// alone, as a kube-apiserver does, so that a write that changes nothing is recognized.
void TakeTimesIfEqual(const Object& current, Object& wanted);

// For one write to one object.
class FieldOwners {
 public:
  // REQUIRES: `versions` outlives this object.
  explicit FieldOwners(FieldVersions& versions) : versions_(versions) {}

  // Returns managedFields of `wanted`, which `writer` has made out of `current` (empty: it is
  // created) by a create, an update or a patch: it owns what it has changed. `given` is what the
  // client wants managedFields to be: null for what they are, an empty list to forget them. What
  // they are in `current` and `wanted` themselves does not count for the difference.
  json::Value AfterUpdate(const Object& current, const Object& wanted, const json::Value& given,
                          const FieldWriter& writer);

  // Returns `current` (empty: it does not exist yet) as it is when `writer` has applied the
  // configuration, with its managedFields. 409 with one cause for each field that another manager
  // owns and that has another value, unless `force` is set; 500 for a configuration that does not
  // fit the kind.
  absl::StatusOr<Object> AfterApply(const Object& current, const Object& config,
                                    const FieldWriter& writer, bool force);

 private:
  FieldVersions& versions_;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_FIELD_OWNERS_H_
