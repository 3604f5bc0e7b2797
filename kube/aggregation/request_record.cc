// Collects what is known of one request while it passes the chain of handlers, and writes it when
// the answer begins (only for watches and the like) and when it has ended: an audit event, a
// counter, and the duration. The mutex guards the event and the deadline, because the request may
// end on another thread while a step still adds something. An event that is written after a crash
// is lost: the audit log is written behind the request (audit_log.cc).

#include "kube/aggregation/request_record.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kube::aggregation {
namespace {

// Verbs of the metrics, as upstream's. Others would let clients make series as they like.
std::string MetricVerb(absl::string_view verb) {
  static constexpr std::array<std::pair<absl::string_view, absl::string_view>, 12> kVerbs = {{
      {"get", "GET"},
      {"list", "LIST"},
      {"watch", "WATCH"},
      {"create", "POST"},
      {"post", "POST"},
      {"update", "PUT"},
      {"put", "PUT"},
      {"patch", "PATCH"},
      {"delete", "DELETE"},
      {"deletecollection", "DELETECOLLECTION"},
      {"head", "HEAD"},
      {"options", "OPTIONS"},
  }};
  for (const auto& [name, shown] : kVerbs) {
    if (verb == name) return std::string(shown);
  }
  return "other";
}

// Without a function that knows the program's resources, only the verb is known not to be invented.
metrics::Labels LabelsOf(const ApiRequest& request, const SubjectFn* subject) {
  const RequestSubject about = subject != nullptr && *subject
                                   ? (*subject)(request)
                                   : RequestSubject{.verb = request.info.verb};
  return {{"verb", MetricVerb(about.verb)}, {"endpoint", about.endpoint},
          {"group", about.gvr.group},       {"version", about.gvr.version},
          {"resource", about.gvr.resource}, {"subresource", about.subresource}};
}

}  // namespace

RequestRecord::RequestRecord(const ApiRequest& request, bool long_running, const Sinks& sinks)
    : audit_id_(request.audit_id),
      uri_(request.http.target),
      labels_(LabelsOf(request, sinks.subject)),
      long_running_(long_running),
      sinks_(sinks),
      began_(sinks.clock->SteadyNow()) {
  absl::MutexLock lock(&mu_);
  event_.audit_id = audit_id_;
  event_.uri = uri_;
  event_.user_agent = std::string(request.http.Header("user-agent"));
  event_.remote_address = request.http.remote_address;
  event_.forwarded_for = std::string(request.http.Header("x-forwarded-for"));
  event_.info = request.info;
  event_.received = sinks.clock->Now();
}

void RequestRecord::SetUser(const UserInfo& user) {
  absl::MutexLock lock(&mu_);
  event_.user = user;
}

void RequestRecord::SetImpersonated(const UserInfo& user, const std::string& constraint) {
  absl::MutexLock lock(&mu_);
  event_.impersonated = user;
  event_.impersonation_constraint = constraint;
}

void RequestRecord::SetDecision(const Decision& decision) {
  absl::MutexLock lock(&mu_);
  event_.annotations["authorization.k8s.io/decision"] = decision.allowed ? "allow" : "forbid";
  event_.annotations["authorization.k8s.io/reason"] = decision.reason;
}

void RequestRecord::SetDeadline(base::SteadyTime when, std::function<void()> expire) {
  absl::MutexLock lock(&mu_);
  // A request that has ended meanwhile must not be expired later.
  if (!finished_) deadline_ = sinks_.deadlines->Add(when, std::move(expire));
}

AuditEvent RequestRecord::EventAt(AuditEvent::Stage stage, int code) {
  absl::MutexLock lock(&mu_);
  AuditEvent event = event_;
  event.stage = stage;
  event.code = code;
  event.at = sinks_.clock->Now();
  return event;
}

void RequestRecord::Started(int code) {
  if (!long_running_ || sinks_.audit == nullptr) return;
  sinks_.audit->Write(EventAt(AuditEvent::Stage::kResponseStarted, code));
}

void RequestRecord::Finished(int code) {
  std::optional<base::Timers::Id> deadline;
  {
    absl::MutexLock lock(&mu_);
    finished_ = true;
    deadline.swap(deadline_);
  }
  // Without the lock, because Cancel destroys the callback and with it what that owns.
  if (deadline) sinks_.deadlines->Cancel(*deadline);
  if (sinks_.audit != nullptr) {
    sinks_.audit->Write(EventAt(AuditEvent::Stage::kResponseComplete, code));
  }
  Count(code);
}

void RequestRecord::Count(int code) {
  if (sinks_.registry == nullptr) return;
  metrics::Labels with_code = labels_;
  with_code.emplace("code", absl::StrCat(code));
  sinks_.registry
      ->GetCounter("apiserver_request_total",
                   "Counter of requests by verb, resource and response code.", with_code)
      .Increment();
  // The duration of a watch says nothing about the server.
  if (long_running_) return;
  sinks_.registry
      ->GetHistogram(
          "apiserver_request_duration_seconds",
          "Response latency of requests that are not long-running, by verb and resource.",
          {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,
           3,     4,     5,    6,   8,   10,  15,  20,  30, 45,   60},
          labels_)
      .Observe(absl::ToDoubleSeconds(sinks_.clock->SteadyNow() - began_));
}

}  // namespace kube::aggregation
