// A client of one Kubernetes API server, with typed errors and deadlines.
//
// The code of an error follows the HTTP answer (404 kNotFound, AlreadyExists kAlreadyExists,
// Conflict kAborted, Gone/Expired kOutOfRange, 422 kInvalidArgument, 401 kUnauthenticated, 403
// kPermissionDenied, 429/5xx kUnavailable, 413 kResourceExhausted); its text is the server's
// message, preceded by verb and object. 429 and 503 with Retry-After are waited out within the
// deadline; other 5xx answers to reads are retried. Threads: all methods may be called from any
// thread; calls block and end early when stopped.
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
#include "kube/http/transport.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace base {
class ByteBudget;
class Clock;
}  // namespace base
namespace metrics {
class Registry;
}

namespace kube {

// The Status body of a failed call. Empty when the error did not come from a server.
struct ApiFailure {
  int code = 0;
  std::string reason;  // "AlreadyExists", "Conflict", "Expired", ...
  std::string message;
  int retry_after_seconds = 0;
};
ApiFailure FailureOf(const absl::Status& status);

// Returns whether an object of the resource may have this key at all. Calls about one without a
// name, with a name that cannot be a part of a path, or without the namespace that its kind has
// fail before a server is asked.
bool IsAddress(const Resource& r, const ObjectKey& key);

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  int64_t limit = 500;  // The size of a page.
  std::string continue_token;
  std::string resource_version;  // "" for the most recent version, "0" for any.
  // False: the request does not wait for the fixed rate (ClientOptions::qps). For questions on
  // which a caller waits, and of which few are under way at the same time.
  bool paced = true;
  // The fields of each item to read, in the form of json::Fields, in addition to those that
  // identify objects (apiVersion, kind; name, namespace, uid and resourceVersion). Empty: all
  // fields.
  std::vector<std::string> fields;
};

struct ListPage {
  std::vector<Object> items;  // With apiVersion and kind, without managedFields.
  std::string resource_version;
  std::string continue_token;  // "" on the last page.
};

enum class PatchType { kMerge, kJson, kStrategic, kApply };

struct WriteOptions {
  std::string subresource;  // "status", "scale" or "".
  bool dry_run = false;
  std::string field_manager;  // Required by kApply.
  bool force = false;         // kApply only: fields of other managers are taken from them.
  // False: the object in the answer is not read, and an empty one is returned.
  bool wants_answer = true;
};

struct DeleteOptions {
  std::string propagation;  // "Background", "Foreground", "Orphan" or "" for the server's default.
  std::string uid;          // A precondition unless it is empty.
  std::string resource_version;  // A precondition unless it is empty.
};

// Receives a watch's events. It is called on the transport's threads, one call at a time, and must
// not block.
class WatchHandler {
 public:
  enum class EventType { kAdded, kModified, kDeleted, kBookmark };
  virtual ~WatchHandler() = default;
  // Called first, when the server has accepted the watch; events may be a long time coming.
  virtual void OnOpen() {}
  virtual void OnEvent(EventType type, Object object) = 0;
  // Called before an added or modified object is parsed. Returning true says that this state is
  // known already, for example as the result of an own write. The event then counts as received,
  // without a call of OnEvent.
  virtual bool OnKnownState(absl::string_view /*resource_version*/) { return false; }
  // Called once, last. OK: the server closed the watch (its time-out), which can be resumed from
  // the last resourceVersion. kOutOfRange: that version is gone, so list again.
  virtual void OnEnd(absl::Status status) = 0;
};

struct WatchOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  // The time-out that the server is asked for is this plus a random part of up to `jitter` times
  // the same length (as in client-go), so that the watches of one process do not all end at the
  // same time.
  absl::Duration server_timeout = absl::Minutes(5);
  double jitter = 1;
  std::vector<std::string> fields;  // As in ListOptions; an error's Status is read whole.
};

// A running watch. Destroying it ends it; no call of the handler follows.
class Watch {
 public:
  virtual ~Watch() = default;
};

struct ClientOptions {
  std::string name;  // Names the server or cluster in logs and metrics.
  std::string host;  // The label `host` of rest_client_requests_total.
  double qps = 0;    // A fixed rate limit; 0 leaves only the adaptive concurrency.
  int burst = 0;
  absl::Duration timeout = absl::Seconds(32);  // Limits one call with all its retries.
  std::string user_agent;                      // The name of the program; "" sends none.
  // What the unfinished events of all watches are charged to; a watch whose event grows while it is
  // exceeded ends with kResourceExhausted. nullptr: 64 MiB of the client's own.
  std::shared_ptr<base::ByteBudget> memory;
};

class Client {
 public:
  // `registry` may be null. REQUIRES: `clock` and `registry` outlive the client.
  Client(std::shared_ptr<Transport> transport, ClientOptions options, const base::Clock& clock,
         metrics::Registry* registry);
  ~Client();
  Client(const Client&) = delete;

  const std::string& name() const;

  absl::StatusOr<Object> Get(const Resource& r, const ObjectKey& key, const base::StopToken& stop);
  // Returns metadata.managedFields, which all other answers leave out; null if the server keeps
  // none.
  absl::StatusOr<json::Value> GetManagedFields(const Resource& r, const ObjectKey& key,
                                               const base::StopToken& stop);
  // An empty `ns` stands for all namespaces.
  absl::StatusOr<ListPage> List(const Resource& r, absl::string_view ns, const ListOptions& options,
                                const base::StopToken& stop);
  // Returns all pages; starts over once when the continue token expires half-way. A page that is
  // larger than 16 MB, or has too many values (json::Parse), is requested again with half the
  // limit, and so are the pages after it. kFailedPrecondition: the list does not end (ListBudget).
  absl::StatusOr<ListPage> ListAll(const Resource& r, absl::string_view ns, ListOptions options,
                                   const base::StopToken& stop);
  absl::StatusOr<Object> Create(const Resource& r, const Object& object,
                                const WriteOptions& options, const base::StopToken& stop);
  absl::StatusOr<Object> Patch(const Resource& r, const ObjectKey& key, PatchType type,
                               const json::Value& patch, const WriteOptions& options,
                               const base::StopToken& stop);
  // Replaces the whole object; its resourceVersion is the precondition.
  absl::StatusOr<Object> Replace(const Resource& r, const Object& object,
                                 const WriteOptions& options, const base::StopToken& stop);
  // Returns the object when it only got a deletionTimestamp (because of finalizers), else an empty
  // Object.
  absl::StatusOr<Object> Delete(const Resource& r, const ObjectKey& key,
                                const DeleteOptions& options, const base::StopToken& stop);
  std::unique_ptr<Watch> StartWatch(const Resource& r, absl::string_view ns,
                                    const WatchOptions& options, WatchHandler& handler);
  // Sends a GET of any path; returns the answer whatever its code.
  absl::StatusOr<HttpResponse> GetRaw(const std::string& path, const base::StopToken& stop);
  // Sends a GET once, with a deadline of its own: for probes, for which a refused connection is a
  // result. The answer may have 64 kB.
  absl::StatusOr<HttpResponse> GetRaw(const std::string& path, absl::Duration timeout,
                                      const base::StopToken& stop);
  // Sends a GET with the path, accept, if_none_match, timeout and max_answer_bytes (16 MB at most)
  // of the request; the client sets the rest. Questions below "/apis/GROUP/VERSION/" have a
  // concurrency limit of their own for each group, which another server may answer. The answer may
  // have the code 304 only if if_none_match is set.
  absl::StatusOr<HttpResponse> GetRaw(const HttpRequest& request, const base::StopToken& stop);
  // The clock of all deadlines.
  const base::Clock& clock() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_CLIENT_H_
