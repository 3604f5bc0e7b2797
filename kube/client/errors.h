// Classifies errors of an API server for code that decides what to do next. Codes of absl::Status
// are for messages and metrics; two errors with the same code can call for different actions.
//
// The errors are those of Client, RestMapper and ClusterClient; base::Annotate keeps what these
// functions need.
#ifndef KUBE_CLIENT_ERRORS_H_
#define KUBE_CLIENT_ERRORS_H_

#include "absl/status/status.h"
#include "kube/meta/names.h"

namespace kube {

// Returns whether the object changed since it was read: the write carried an older resourceVersion
// or another uid. Reading and writing again succeeds, so neither a log line nor an event is due. An
// admission webhook that denies with code 409 is not a conflict: repeating the write gets the same
// answer.
bool IsConflict(const absl::Status& status);

// Returns whether an apply was refused because it would change fields of other managers. The error
// names them.
bool IsFieldConflict(const absl::Status& status);

// Returns whether the object does not exist (this is not HTTP 410). A create in a namespace that
// does not exist counts too.
bool IsGone(const absl::Status& status);

// Returns whether the server does not serve the kind, or not yet: its definition is missing.
bool IsNoSuchKind(const absl::Status& status);

// Returns whether an object of that name exists already, so that a create failed. (Its name differs
// from absl::IsAlreadyExists, which a call without a namespace would find as well.)
bool AlreadyExists(const absl::Status& status);

// Returns whether the server refuses what the request would make of the object (400, 422): the same
// change of the same object is refused again. Requests that are denied for other reasons, such as a
// quota or an admission webhook, may be accepted later.
bool IsInvalid(const absl::Status& status);

// Returns whether the status is a conflict, or the process stops: there is no result yet, and the
// next pass will have one. Such a status is returned, but neither reported nor counted.
bool IsNoOutcome(const absl::Status& status);

// Returns OK if the error means that the object does not exist; other errors stay.
absl::Status IgnoreGone(const absl::Status& status);

// Returns an error for which IsGone holds: `<plural>.<group> "<key>" not found`.
absl::Status GoneError(const Resource& resource, const ObjectKey& key);
// Returns an error for which IsNoSuchKind holds: `no matches for kind "<kind>" in version "<g/v>"`.
absl::Status NoSuchKindError(const Gvk& gvk);

}  // namespace kube

#endif  // KUBE_CLIENT_ERRORS_H_
