// Answers requests for resources: every verb but watch, which is only opened here.
#ifndef SANDBOX_HTTP_RESOURCE_HANDLER_H_
#define SANDBOX_HTTP_RESOURCE_HANDLER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/server/negotiation.h"
#include "kube/server/request_info.h"
#include "kube/server/tables/table_output.h"
#include "sandbox/http/authentication.h"
#include "sandbox/http/interference.h"
#include "sandbox/http/watch_session.h"
#include "sandbox/write/server_backend.h"

namespace sandbox {

// A request and what has been determined about it.
struct ResourceCall {
  const base::HttpRequest& request;
  const kube::server::RequestInfo& info;
  ResourceInfoPtr resource;
  kube::server::AnswerForm form;
  kube::server::IncludeObject include = kube::server::IncludeObject::kMetadata;
  UserIdentity user;
  ReadView view;               // What get, list and watch see.
  Outcome* outcome = nullptr;  // If not null, gets what the call has come to.
};

// Thread-safe.
class ResourceHandler {
 public:
  explicit ResourceHandler(ServerBackend& backend) : backend_(backend) {}

  // REQUIRES: the verb is not watch.
  absl::StatusOr<base::HttpResponse> Handle(const ResourceCall& call);

  // A watch that is ready to start.
  struct OpenWatch {
    std::shared_ptr<WatchSession> session;
    absl::StatusOr<Store::WatchStart> start;  // Or the error that is its only event.
    absl::Duration timeout;
  };
  absl::StatusOr<OpenWatch> Open(const ResourceCall& call);

 private:
  // Refuses requests that need real containers; kNotFound when the object does not exist.
  absl::Status CheckSimulated(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> Get(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> List(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> Create(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> Update(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> Patch(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> Delete(const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> DeleteCollection(const ResourceCall& call);

  ServerBackend& backend_;
  EncodedChange encoded_;
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_RESOURCE_HANDLER_H_
