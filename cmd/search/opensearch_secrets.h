// Which Secrets of the control plane may be used as credentials for an OpenSearch.
//
// Whoever writes a ResourceRegistry chooses both the Secret and the addresses that get what is in
// it, so that a registry must not turn any readable Secret into a letter to a server of its
// writer's choice. (That the writer may read the Secret is checked when the registry is written:
// search/registry/secret_rights.h.)
#ifndef CMD_SEARCH_OPENSEARCH_SECRETS_H_
#define CMD_SEARCH_OPENSEARCH_SECRETS_H_

#include "absl/status/status.h"
#include "kube/meta/object.h"

namespace cmd {

// OK for a Secret that is a login and nothing else, as upstream uses them: of the type Opaque,
// kubernetes.io/basic-auth or kubernetes.io/tls, with no other keys than those of a user, a
// password and certificates. A token, or further keys, need the label
// search.karmada.io/opensearch-credentials=true. kPermissionDenied says what is missing, without a
// value.
absl::Status MayGoToOpenSearch(const kube::Object& secret);

}  // namespace cmd

#endif  // CMD_SEARCH_OPENSEARCH_SECRETS_H_
