// The audit log: one line of JSON for each stage of a request, as `audit.k8s.io/v1` Events.
//
// The level is Metadata for all requests: who, what, when, with which result. Bodies, header fields
// other than User-Agent, and credentials are never written. A thread of its own writes, so that a
// slow disk or a full pipe delays no request; events that come faster than they can be written are
// dropped and counted. A URL of more than 8 KiB is cut.
#ifndef KUBE_AGGREGATION_AUDIT_LOG_H_
#define KUBE_AGGREGATION_AUDIT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "kube/aggregation/user_info.h"
#include "kube/server/request_info.h"

namespace kube::aggregation {

struct AuditEvent {
  enum class Stage {
    kResponseStarted,   // The head of a long-running request's answer has been sent.
    kResponseComplete,  // The answer is complete, or has been broken off; every request has one.
  };
  std::string audit_id;
  Stage stage = Stage::kResponseComplete;
  std::string uri;  // The target, not decoded.
  std::string user_agent;
  std::string remote_address;  // "10.0.0.7:40312"
  std::string forwarded_for;   // The field X-Forwarded-For.
  server::RequestInfo info;
  std::optional<UserInfo> user;  // nullopt: it could not be determined.
  std::optional<UserInfo> impersonated;
  std::string impersonation_constraint;  // The verb of the constrained mode, if there was one.
  int code = 0;                          // 0: there was no answer.
  std::map<std::string, std::string> annotations;
  absl::Time received;
  absl::Time at;
};

// Returns the line, without its end.
std::string AuditLine(const AuditEvent& event);

// Thread-safe.
class AuditLog {
 public:
  struct Options {
    std::string path;  // --audit-log-path; "-" is standard output.
    // A file that would become larger is renamed to <name>-<time>.<extension> and begun again; 0:
    // never, which leaves it to the operator (the file is opened again when it was renamed).
    // --audit-log-maxsize, there in megabytes.
    int64_t max_bytes = 100 << 20;
    int max_files = 0;  // How many renamed files are kept; 0: all. --audit-log-maxbackup
    // Renamed files are removed when the time in their name is longer ago, at the start and at each
    // renaming; zero: never. --audit-log-maxage, there in days.
    absl::Duration max_age = absl::ZeroDuration();
    size_t max_waiting_bytes = 16 << 20;  // Of events that wait to be written.
  };
  // Errors name the file. `registry` may be null. REQUIRES: it outlives the log.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(Options options,
                                                        metrics::Registry* registry);
  virtual ~AuditLog() = default;  // Writes what waits.
  virtual void Write(const AuditEvent& event) = 0;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_AUDIT_LOG_H_
