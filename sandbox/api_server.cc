// The contents (backend_) live as long as the object; only the HTTP server in front of them is
// started and stopped, for a partition, a restart and a restore. It keeps the port that the first
// start was given. A stop takes the server out under mu_ and ends it without the lock, because its
// handlers may be running, and then cuts the watches and drops what a test holds. A restore puts
// the contents of the last backup back while nobody can connect, so that clients find an earlier
// state, as after a restore of etcd. Timers send the bookmarks. The destructor stops the HTTP
// server first and the timers next, so that nothing uses the parts that are destroyed afterwards.

#include "sandbox/api_server.h"

#include <functional>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/status.h"
#include "base/timers.h"
#include "sandbox/delegation.h"
#include "sandbox/http/authentication.h"
#include "sandbox/http/fault_injection.h"
#include "sandbox/http/front_end.h"
#include "sandbox/http/request_counts.h"
#include "sandbox/write/server_backend.h"

namespace sandbox {
namespace {

constexpr int kThreads = 2;

class ServerImpl : public ApiServer {
 public:
  explicit ServerImpl(ApiServerOptions options)
      : options_(std::move(options)),
        backend_(options_.history_events),
        authentication_(options_.tokens, options_.allow_anonymous),
        faults_({[this] { front_end_.DropWatches(); }, [this] { backend_.store().ExpireHistory(); },
                 [this](bool on) { SetPartitioned(on); }, [this] { Backup(); },
                 [this] { Restore(); }}),
        timers_(base::RealClock()),
        front_end_({backend_, authentication_, faults_, counts_, timers_, options_.git_version,
                    options_.name}) {}

  ~ServerImpl() override {
    StopListening();
    timers_.Stop();
  }

  absl::Status Open() {
    RETURN_IF_ERROR(Listen());
    ScheduleBookmarks();
    return absl::OkStatus();
  }

  Backend& backend() override { return backend_; }
  Faults& faults() override { return faults_; }
  int port() const override {
    absl::MutexLock lock(&mu_);
    return port_;
  }
  std::string url() const override {
    return absl::StrCat(options_.with_tls ? "https" : "http", "://127.0.0.1:", port());
  }
  std::vector<RequestCount> Requests() const override { return counts_.All(); }
  int64_t version() const override { return backend_.store().version(); }
  void SetInterference(std::shared_ptr<Interference> interference) override {
    front_end_.SetInterference(std::move(interference));
  }
  void Delegate(std::string path, base::HttpHandler handler) {
    front_end_.Delegate(std::move(path), std::move(handler));
  }
  void AddToken(std::string token, std::string user) override {
    authentication_.AddToken(std::move(token), std::move(user));
  }
  void RevokeToken(const std::string& token) override { authentication_.RevokeToken(token); }

 private:
  absl::Status Listen() {
    absl::MutexLock lock(&mu_);
    if (http_ != nullptr) return absl::OkStatus();
    base::HttpServerOptions http;
    // The same port again after a partition, because clients know the address.
    http.address = absl::StrCat("127.0.0.1:", port_ == 0 ? options_.port : port_);
    if (options_.with_tls) http.tls = options_.tls;
    http.threads = kThreads;
    front_end_.LimitBodies(http);
    ASSIGN_OR_RETURN(http_,
                     base::HttpServer::Start(
                         std::move(http), [this](base::HttpRequest request,
                                                 std::shared_ptr<base::HttpResponder> responder) {
                           front_end_.Handle(std::move(request), std::move(responder));
                         }));
    port_ = http_->port();
    return absl::OkStatus();
  }

  void StopListening() {
    std::unique_ptr<base::HttpServer> http;
    {
      absl::MutexLock lock(&mu_);
      http = std::move(http_);
    }
    // Done without the lock, because handlers may still be running.
    if (http != nullptr) http->Stop();
    front_end_.DropAll();
  }

  void SetPartitioned(bool on) {
    if (on) {
      StopListening();
      return;
    }
    base::IgnoreError(Listen(),
                      "the port was ours a moment ago; a test that cannot reach the "
                      "server again will say so");
  }

  void Backup() {
    absl::MutexLock lock(&mu_);
    stored_ = backend_.store().Backup();
  }

  void Restore() {
    std::optional<Store::Tables> stored;
    {
      absl::MutexLock lock(&mu_);
      stored = stored_;
    }
    if (!stored.has_value()) return;
    // As a restore from a backup stops the API server: no client sees a part of it.
    SetPartitioned(true);
    backend_.store().Restore(*stored);
    SetPartitioned(false);
  }

  void ScheduleBookmarks() {
    timers_.After(options_.bookmark_period, [this] {
      backend_.store().Bookmark();
      ScheduleBookmarks();
    });
  }

  const ApiServerOptions options_;
  ServerBackend backend_;
  Authentication authentication_;
  FaultInjection faults_;
  RequestCounts counts_;
  base::Timers timers_;
  FrontEnd front_end_;
  mutable absl::Mutex mu_;
  std::optional<Store::Tables> stored_ ABSL_GUARDED_BY(mu_);
  int port_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<base::HttpServer> http_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Start(ApiServerOptions options) {
  const std::string name = options.name;
  auto server = std::make_unique<ServerImpl>(std::move(options));
  RETURN_IF_ERROR(base::Annotate(server->Open(), "starting API server ", name));
  return server;
}

void Delegate(ApiServer& server, std::string path, base::HttpHandler handler) {
  // There is no other kind of ApiServer.
  static_cast<ServerImpl&>(server).Delegate(std::move(path), std::move(handler));
}

}  // namespace sandbox
