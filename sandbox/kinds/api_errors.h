// The errors of kube/server, under the names by which the sandbox uses them in almost every file.
#ifndef SANDBOX_KINDS_API_ERRORS_H_
#define SANDBOX_KINDS_API_ERRORS_H_

#include "kube/server/api_errors.h"

namespace sandbox {

using kube::server::AlreadyExists;
using kube::server::ApiError;
using kube::server::BadRequest;
using kube::server::Conflict;
using kube::server::ErrorOf;
using kube::server::Expired;
using kube::server::FieldErrors;
using kube::server::Forbidden;
using kube::server::FutureVersion;
using kube::server::GroupName;
using kube::server::InternalError;
using kube::server::MethodNotAllowed;
using kube::server::NoSuchResource;
using kube::server::NotFound;
using kube::server::NotImplemented;
using kube::server::StaleWrite;
using kube::server::StatusJson;
using kube::server::ToStatus;
using kube::server::Unauthorized;
using kube::server::UnsupportedMediaType;

}  // namespace sandbox

#endif  // SANDBOX_KINDS_API_ERRORS_H_
