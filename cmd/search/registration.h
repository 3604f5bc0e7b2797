// Whether the registries select a resource, or whether that is not known yet.
#ifndef CMD_SEARCH_REGISTRATION_H_
#define CMD_SEARCH_REGISTRATION_H_

#include "search/proxy/registration.h"
#include "search/registry/scope.h"

namespace cmd {

// The error is 503 until the scope has been computed for the first time, and, for the resources of
// a group and version, for as long as discovery of the control plane fails for a kind of it that a
// registry names. REQUIRES: `scope` outlives the function.
search::IsRegisteredFn RegistrationOf(const search::CacheScope& scope);

}  // namespace cmd

#endif  // CMD_SEARCH_REGISTRATION_H_
