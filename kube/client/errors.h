// What an error of an API server means to whoever decides what to do next. Codes of absl::Status
// are for messages and metrics; two errors of one code can call for different things.
//
// The errors are those of Client, RestMapper and ClusterClient; Annotate keeps what is asked here.
#ifndef KUBE_CLIENT_ERRORS_H_
#define KUBE_CLIENT_ERRORS_H_

#include "absl/status/status.h"
#include "kube/meta/names.h"

namespace kube {

// The object changed since it was read: the write carried an older resourceVersion or another uid,
// or somebody else holds the field. Reading again and writing again mends it, so it deserves
// neither a log line nor an event. An admission webhook that denies with code 409 is not a conflict
// (see IsRefused): repeating the write gets the same answer.
bool IsConflict(const absl::Status& status);

// The object is not there (not: HTTP 410). A create in a namespace that is not there counts too.
bool IsGone(const absl::Status& status);

// The server does not serve the kind, or not yet: its definition is missing.
bool IsNoSuchKind(const absl::Status& status);

// The server understood the request and does not accept it: it is invalid (400, 413, 422), not
// allowed (403), or denied by an admission webhook (whatever code that chose). It stays so until
// somebody changes the object, the permissions or the webhook.
bool IsRefused(const absl::Status& status);

// A conflict, or the process stops: nothing came of it yet, and the next pass will have a result.
// It is returned, but neither reported nor counted.
bool IsNoOutcome(const absl::Status& status);

// OK for an object that is not there; other errors stay.
absl::Status IgnoreGone(const absl::Status& status);

// An error for which IsGone holds: `<plural>.<group> "<key>" not found`.
absl::Status GoneError(const Resource& resource, const ObjectKey& key);
// An error for which IsNoSuchKind holds: `no matches for kind "<kind>" in version "<g/v>"`.
absl::Status NoSuchKindError(const Gvk& gvk);

}  // namespace kube

#endif  // KUBE_CLIENT_ERRORS_H_
