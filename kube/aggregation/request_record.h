// What is written about one request: its audit events and metrics; and its deadline.
#ifndef KUBE_AGGREGATION_REQUEST_RECORD_H_
#define KUBE_AGGREGATION_REQUEST_RECORD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "base/timers.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/audit_log.h"
#include "kube/aggregation/authorizer.h"
#include "kube/meta/names.h"

namespace kube::aggregation {

// What a request is about, for its metrics. Every value has to be one of few: those that clients
// can invent make series for ever.
struct RequestSubject {
  std::string verb;      // As RequestInfo::verb.
  std::string endpoint;  // The part of the program that answers; "" for the API's own resources.
  Gvr gvr;               // Empty for what is not a resource.
  std::string subresource;
};
using SubjectFn = std::function<RequestSubject(const ApiRequest&)>;

// Thread-safe: the steps of the chain and the end of the request may occur at the same time.
class RequestRecord {
 public:
  struct Sinks {
    AuditLog* audit;              // May be null.
    metrics::Registry* registry;  // May be null.
    std::shared_ptr<base::Timers> deadlines;
    const base::Clock* clock;
    // Optional: without it only the verb is known. Used in the constructor.
    const SubjectFn* subject = nullptr;
  };
  // REQUIRES: log, registry and clock outlive the record.
  RequestRecord(const ApiRequest& request, bool long_running, const Sinks& sinks);

  const std::string& uri() const { return uri_; }
  const std::string& audit_id() const { return audit_id_; }
  // What ends the handler's work.
  const base::StopSource& stop() const { return stop_; }
  void RequestStop() { stop_.request_stop(); }

  void SetUser(const UserInfo& user);
  // `constraint` is the verb of the constrained mode; "" for another impersonation.
  void SetImpersonated(const UserInfo& user, const std::string& constraint);
  void SetDecision(const Decision& decision);
  // Calls `expire` at that time unless the request has finished.
  void SetDeadline(base::SteadyTime when, std::function<void()> expire);

  void Started(int code);   // A stream has begun.
  void Finished(int code);  // Call it once.

 private:
  AuditEvent EventAt(AuditEvent::Stage stage, int code);
  void Count(int code);

  const std::string audit_id_;
  const std::string uri_;
  const metrics::Labels labels_;
  const bool long_running_;
  const Sinks sinks_;
  const base::SteadyTime began_;
  base::StopSource stop_;
  absl::Mutex mu_;
  AuditEvent event_ ABSL_GUARDED_BY(mu_);
  std::optional<base::Timers::Id> deadline_ ABSL_GUARDED_BY(mu_);
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REQUEST_RECORD_H_
