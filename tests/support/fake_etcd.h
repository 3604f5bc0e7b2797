// An etcd in memory with a v3 JSON gateway on loopback, as far as search/registry uses it: range,
// txn with one comparison, watch. It is itself compared with a real etcd, by running the same tests
// on both (KM_TEST_ETCD).
#ifndef TESTS_SUPPORT_FAKE_ETCD_H_
#define TESTS_SUPPORT_FAKE_ETCD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/json.h"

namespace tests {

// Thread-safe.
class FakeEtcd {
 public:
  // With TLS options it serves https.
  explicit FakeEtcd(std::optional<tls::ServerOptions> tls = std::nullopt);
  ~FakeEtcd();

  std::string url() const;
  // Writes a key, as another client would.
  void Put(const std::string& key, const std::string& value);
  void Erase(const std::string& key);
  // Returns "" when the key is absent.
  std::string Value(const std::string& key) const;
  int64_t revision() const;
  // Forgets the history up to the present revision.
  void Compact();

  // Forgets everything, and begins with the first revision again.
  void Reset();

  // From now on every request is cut, and so are the open watches.
  void SetDown(bool down);
  // From now on calls are answered with this gRPC code, as by a member without a leader (14); 0:
  // normally. Watches that are open stay open, and silent.
  void FailWith(int grpc_code);
  // From now on open watches get nothing.
  void SetSilent(bool silent);
  void CutWatches();
  int watches() const;
  int requests() const;

 private:
  struct Kv {
    std::string value;
    int64_t create = 0, mod = 0, version = 0;
  };
  struct Change {
    int64_t revision = 0;
    std::string key;
    std::optional<Kv> before, after;
  };
  struct Watcher {
    std::string begin, end;
    std::shared_ptr<base::HttpStream> stream;
    std::atomic<bool> closed = false;
  };

  void Handle(const base::HttpRequest& request, const std::shared_ptr<base::HttpResponder>& to);
  base::HttpResponse CompactTo(int64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  json::Value Range(const json::Value& request) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  json::Value Txn(const json::Value& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  json::Value Execute(const json::Value& operation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Watch(const json::Value& request, const std::shared_ptr<base::HttpResponder>& to)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Set(const std::string& key, std::optional<std::string> value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  json::Value Header() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static json::Value KvJson(const std::string& key, const Kv& kv);
  json::Value EventJson(const Change& change) const;

  mutable absl::Mutex mu_;
  std::map<std::string, Kv> kvs_ ABSL_GUARDED_BY(mu_);
  std::vector<Change> history_ ABSL_GUARDED_BY(mu_);
  int64_t revision_ ABSL_GUARDED_BY(mu_) = 1;
  int64_t compacted_ ABSL_GUARDED_BY(mu_) = 0;
  bool down_ ABSL_GUARDED_BY(mu_) = false;
  bool silent_ ABSL_GUARDED_BY(mu_) = false;
  int fail_ ABSL_GUARDED_BY(mu_) = 0;
  int requests_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::shared_ptr<Watcher>> watchers_ ABSL_GUARDED_BY(mu_);
  bool tls_ = false;
  std::unique_ptr<base::HttpServer> server_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_ETCD_H_
