// Determines where a hook's requests go: a URL as it is, a Service by its address in the control
// plane.
#ifndef INTERPRETER_WEBHOOK_HOOK_ADDRESS_H_
#define INTERPRETER_WEBHOOK_HOOK_ADDRESS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "interpreter/webhook/hook.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"

namespace interpreter::webhook {

// Returns the Service of that name in the control plane's cache; nullptr when there is none, an
// error when the cache is not complete. It must not block.
using ServiceLookup = std::function<absl::StatusOr<kube::ObjectPtr>(const kube::ObjectKey& key)>;

// Returns how to connect: server, CA and the name that the certificate must have. A Service is
// reached at its cluster IP (or external name), but its certificate must be for
// "<name>.<namespace>.svc"; a Service that the control plane does not have is looked up under that
// name by DNS. Errors: kFailedPrecondition in the words of apiserver's service resolver, with the
// FailureReason kConfiguration, when the Service cannot be routed to; the lookup's own error with
// kServiceLookup.
absl::StatusOr<kube::ConnectionConfig> ConnectionTo(const ClientConfig& client,
                                                    const ServiceLookup& services);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_ADDRESS_H_
