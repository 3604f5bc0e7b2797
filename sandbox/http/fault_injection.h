// The faults that a test has requested, and their effect on the front end.
#ifndef SANDBOX_HTTP_FAULT_INJECTION_H_
#define SANDBOX_HTTP_FAULT_INJECTION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

// Returns the error with the reason and message that a kube-apiserver usually has for this code.
ApiError UsualError(int code);

// Faults that tests can cause. All are off by default and take effect on the next request.
// Thread-safe.
class Faults {
 public:
  virtual ~Faults() = default;
  virtual void SetLatency(absl::Duration d) = 0;
  // The next `count` requests whose method and path match get this code. `method` "" matches any;
  // `path_part` matches a substring. 429 carries Retry-After: 1.
  virtual void FailNext(int count, int code, std::string method, std::string path_part,
                        std::string reason = "", std::string message = "") = 0;
  virtual void DropWatches() = 0;            // Cuts every running watch now.
  virtual void ExpireHistory() = 0;          // Watches from any older resourceVersion get 410.
  virtual void SetPartitioned(bool on) = 0;  // Connections are cut and refused.
  virtual void Backup() = 0;  // Keeps a copy of everything that is stored, like a backup of etcd.
  // Goes back to the last Backup(), if there was one: objects are as they were then, including
  // their resourceVersions. Connections are cut, and watches have to list again.
  virtual void Restore() = 0;
  virtual void Clear() = 0;
};

class FaultInjection : public Faults {
 public:
  // Faults that have an effect outside of single requests.
  struct Actions {
    std::function<void()> drop_watches;
    std::function<void()> expire_history;
    std::function<void(bool)> set_partitioned;
    std::function<void()> backup;
    std::function<void()> restore;
  };
  explicit FaultInjection(Actions actions) : actions_(std::move(actions)) {}

  void SetLatency(absl::Duration d) override;
  void FailNext(int count, int code, std::string method, std::string path_part, std::string reason,
                std::string message) override;
  void DropWatches() override { actions_.drop_watches(); }
  void ExpireHistory() override { actions_.expire_history(); }
  void SetPartitioned(bool on) override { actions_.set_partitioned(on); }
  void Backup() override { actions_.backup(); }
  void Restore() override { actions_.restore(); }
  void Clear() override;

  absl::Duration latency() const;
  // Returns the error that this request must get, and counts it; OK when there is none.
  absl::Status Take(const base::HttpRequest& request);

 private:
  struct Failure {
    int left = 0;
    std::string method, path_part;
    ApiError error;
  };

  const Actions actions_;
  mutable absl::Mutex mu_;
  absl::Duration latency_ ABSL_GUARDED_BY(mu_) = absl::ZeroDuration();
  std::vector<Failure> failures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_FAULT_INJECTION_H_
