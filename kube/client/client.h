// A typed-error, deadline-keeping client of one Kubernetes API server.
//
// Errors carry codes by the HTTP answer (404 kNotFound, AlreadyExists kAlreadyExists, Conflict
// kAborted, Gone/Expired kOutOfRange, 422 kInvalidArgument, 401 kUnauthenticated, 403
// kPermissionDenied, 429/5xx kUnavailable, 413 kResourceExhausted) and the server's message,
// preceded by verb and object. 429 and 503 with Retry-After are waited out within the deadline;
// other 5xx answers to reads are retried. Threads: all methods may be called from any thread; calls
// block and end early when stopped.
#ifndef KUBE_CLIENT_CLIENT_H_
#define KUBE_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/client/transport.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace base {
class Clock;
}
namespace metrics {
class Registry;
}

namespace kube {

// What the server said in a failed call's Status body. Empty when the error did not come from a
// server.
struct ApiFailure {
  int code = 0;
  std::string reason;  // "AlreadyExists", "Conflict", "Expired", ...
  std::string message;
  int retry_after_seconds = 0;
};
ApiFailure FailureOf(const absl::Status& status);

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  int64_t limit = 500;  // Page size.
  std::string continue_token;
  std::string resource_version;  // "" most recent, "0" any.
  // Which fields of each item are read, as json::Fields takes them, besides those that tell objects
  // apart (apiVersion, kind; name, namespace, uid and resourceVersion). Empty: all.
  std::vector<std::string> fields;
};

struct ListPage {
  std::vector<Object> items;  // apiVersion and kind filled in, managedFields dropped.
  std::string resource_version;
  std::string continue_token;  // "" on the last page.
};

enum class PatchType { kMerge, kJson, kStrategic, kApply };

struct WriteOptions {
  std::string subresource;  // "status", "scale" or "".
  bool dry_run = false;
  std::string field_manager;  // Required by kApply.
};

struct DeleteOptions {
  std::string propagation;  // "Background", "Foreground", "Orphan" or "" for the server's default.
  std::string uid;          // Precondition when not empty.
  std::string resource_version;  // Precondition when not empty.
};

// Receives a watch, on the transport's threads, one call at a time; must not block.
class WatchHandler {
 public:
  enum class EventType { kAdded, kModified, kDeleted, kBookmark };
  virtual ~WatchHandler() = default;
  virtual void OnEvent(EventType type, Object object) = 0;
  // Asked before an added or modified object is read: true says that this state of it is known
  // already, as when it is the result of a write of our own. It counts as received, without a call
  // of OnEvent.
  virtual bool OnKnownState(absl::string_view /*resource_version*/) { return false; }
  // Once, last. OK: the server closed the watch (its time-out); resume from the last
  // resourceVersion. kOutOfRange: that version is gone, list again.
  virtual void OnEnd(absl::Status status) = 0;
};

struct WatchOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  // The server is asked for this and up to as much again, at random (as client-go does), so that
  // the watches of one process do not all end at the same moment.
  absl::Duration server_timeout = absl::Minutes(5);
  std::vector<std::string> fields;  // As in ListOptions; of an error's Status all are read.
};

// A running watch. Destroying it ends it; no call of the handler comes afterwards.
class Watch {
 public:
  virtual ~Watch() = default;
};

struct ClientOptions {
  std::string name;  // Names the server or cluster in logs and metrics.
  std::string host;  // Label `host` of rest_client_requests_total.
  double qps = 0;    // Fixed rate limit; 0: adaptive concurrency only.
  int burst = 0;
  absl::Duration timeout = absl::Seconds(32);  // Limits one call with all its retries.
  std::string user_agent;                      // Names the program; "" sends none.
};

class Client {
 public:
  // `registry` may be null. REQUIRES: clock and registry outlive the client.
  Client(std::shared_ptr<Transport> transport, ClientOptions options, const base::Clock& clock,
         metrics::Registry* registry);
  ~Client();
  Client(const Client&) = delete;

  const std::string& name() const;

  absl::StatusOr<Object> Get(const Resource& r, const ObjectKey& key, const base::StopToken& stop);
  // `ns` empty: all namespaces.
  absl::StatusOr<ListPage> List(const Resource& r, absl::string_view ns, const ListOptions& options,
                                const base::StopToken& stop);
  // All pages; starts over once when the continue token expires half-way. A page that is larger
  // than the transport takes is asked for again with half the limit, which the pages after it keep.
  absl::StatusOr<ListPage> ListAll(const Resource& r, absl::string_view ns, ListOptions options,
                                   const base::StopToken& stop);
  absl::StatusOr<Object> Create(const Resource& r, const Object& object,
                                const WriteOptions& options, const base::StopToken& stop);
  absl::StatusOr<Object> Patch(const Resource& r, const ObjectKey& key, PatchType type,
                               const json::Value& patch, const WriteOptions& options,
                               const base::StopToken& stop);
  // Replaces the whole object (its resourceVersion is the precondition).
  absl::StatusOr<Object> Replace(const Resource& r, const Object& object,
                                 const WriteOptions& options, const base::StopToken& stop);
  // The deleted object when it only got a deletionTimestamp (finalizers), an empty Object
  // otherwise.
  absl::StatusOr<Object> Delete(const Resource& r, const ObjectKey& key,
                                const DeleteOptions& options, const base::StopToken& stop);
  std::unique_ptr<Watch> StartWatch(const Resource& r, absl::string_view ns,
                                    const WatchOptions& options, WatchHandler& handler);
  // Sends a GET of any path; returns the answer whatever its code.
  absl::StatusOr<HttpResponse> GetRaw(const std::string& path, const base::StopToken& stop);
  // Sends a GET once, with a deadline of its own: for probes, to which a refused connection is an
  // answer, too.
  absl::StatusOr<HttpResponse> GetRaw(const std::string& path, absl::Duration timeout,
                                      const base::StopToken& stop);
  // Sends a GET as the request says, of which path, accept, if_none_match and timeout count; the
  // rest is set by the client. An answer may have the code 304 only if if_none_match is set.
  absl::StatusOr<HttpResponse> GetRaw(const HttpRequest& request, const base::StopToken& stop);
  // Which deadlines are on.
  const base::Clock& clock() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_CLIENT_H_
