// Errors about addresses that the daemon cannot listen on name the flags that set them.
#ifndef CONTROLLERS_PROCESS_LISTEN_ERRORS_H_
#define CONTROLLERS_PROCESS_LISTEN_ERRORS_H_

#include "absl/status/status.h"
#include "config/options.h"

namespace controllers {

// Returns the error of kube::Manager::Run, preceded by --metrics-bind-address or
// --health-probe-bind-address with its value when it is about that address.
absl::Status WithListenFlag(const absl::Status& result, const config::Options& options);

// Does the same to an error of the server for profiles.
absl::Status WithProfilingFlag(const absl::Status& result, const config::Options& options);

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_LISTEN_ERRORS_H_
