// An etcd for tests of the storage: the fake one, and where KM_TEST_ETCD names the binary, a real
// one.
#ifndef TESTS_SEARCH_REGISTRY_ETCD_FIXTURE_H_
#define TESTS_SEARCH_REGISTRY_ETCD_FIXTURE_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/json.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "search/registry/etcd_gateway.h"
#include "search/registry/etcd_store.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_etcd.h"
#include "tests/support/temp_directory.h"

namespace search {

inline constexpr char kFolder[] = "/registry/search.karmada.io/resourceRegistries/";

class RealEtcd {
 public:
  explicit RealEtcd(const std::string& binary) {
    // Another process may take a port between its choice and its use.
    for (int attempt = 0; attempt < 5 && !Start(binary, attempt); ++attempt) {
    }
    REQUIRE(Answers());
  }
  ~RealEtcd() { process_->Stop(); }

  const std::string& url() const { return url_; }
  void Put(const std::string& key, const std::string& value) {
    Call("/v3/kv/put", json::Value::Object({{"key", EtcdBytes(key)}, {"value", EtcdBytes(value)}}));
  }
  void Compact() {
    const json::Value now = Call("/v3/kv/range", json::Value::Object({{"key", EtcdBytes("x")}}));
    Call("/v3/kv/compaction",
         json::Value::Object({{"revision", now["header"]["revision"]}, {"physical", true}}));
  }
  std::string Value(const std::string& key) {
    const json::Value got = Call("/v3/kv/range", json::Value::Object({{"key", EtcdBytes(key)}}));
    if (got["kvs"].empty()) return "";
    return *BytesFromEtcd(got["kvs"].At(0)["value"]);
  }

 private:
  // A port that nobody has at the moment, until it is destroyed.
  class FreePort {
   public:
    FreePort() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof(address);
      REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
      REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
      url_ = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port));
    }
    ~FreePort() { close(fd_); }
    const std::string& url() const { return url_; }

   private:
    int fd_;
    std::string url_;
  };

  // Returns whether it answers; false when it has ended.
  bool Start(const std::string& binary, int attempt) {
    std::string peer;
    {
      const FreePort client_port, peer_port;
      url_ = client_port.url();
      peer = peer_port.url();
    }
    process_ = std::make_unique<tests::ChildProcess>(
        std::vector<std::string>{
            binary, "--data-dir", absl::StrCat(directory_.path(), "/data", attempt),
            "--listen-client-urls", url_, "--advertise-client-urls", url_, "--listen-peer-urls",
            peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer},
        directory_.path() + "/log");
    kube::ConnectionConfig config;
    config.server = url_;
    transport_ = *kube::NewHttpTransport(config);
    return tests::Eventually([&] { return Answers() || process_->HasEnded(); }) && Answers();
  }

  bool Answers() {
    return Call("/v3/kv/range", json::Value::Object({{"key", EtcdBytes("x")}})).is_object();
  }

  json::Value Call(const std::string& path, const json::Value& body) {
    kube::HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.content_type = "application/json";
    request.body = json::Write(body);
    const auto answer = transport_->Send(request, {});
    if (!answer.ok() || answer->code != 200) return {};
    return *json::Parse(answer->body);
  }

  tests::TempDirectory directory_;
  std::unique_ptr<tests::ChildProcess> process_;
  std::shared_ptr<kube::Transport> transport_;
  std::string url_;
};

inline std::unique_ptr<RegistryStore> StoreOn(const std::vector<std::string>& servers) {
  auto store = NewEtcdStore({.servers = servers}, base::RealClock());
  REQUIRE(store.ok());
  return *std::move(store);
}

// Runs a test on the fake, and on a real etcd if there is one.
template <class Body>
void OnEtcds(const Body& body) {
  {
    INFO("fake etcd");
    tests::FakeEtcd fake;
    body(fake);
  }
  if (const char* binary = getenv("KM_TEST_ETCD"); binary != nullptr) {
    INFO("real etcd");
    RealEtcd real(binary);
    body(real);
  }
}

inline kube::Object Registry(absl::string_view name, absl::string_view kind = "Pod") {
  return kube::Object(*json::Parse(absl::StrCat(
      R"({"apiVersion":"search.karmada.io/v1alpha1","kind":"ResourceRegistry","metadata":{"name":")",
      name, R"(","uid":"u-)", name,
      R"("},"spec":{"targetCluster":{},"resourceSelectors":[{"apiVersion":"v1","kind":")", kind,
      R"("}]},"status":{}})")));
}

// Records what a watch of the storage brings.
class RecordedWatch : public RegistryWatchHandler {
 public:
  void OnEvent(const RegistryEvent& event) override {
    absl::MutexLock lock(&mu_);
    if (event.type == RegistryEvent::Type::kBookmark) {
      bookmark_ = event.revision;
      return;
    }
    events_.push_back(event);
  }
  void OnEnd(absl::Status status) override {
    absl::MutexLock lock(&mu_);
    ended_ = true;
    end_ = std::move(status);
  }
  // "+name" for puts, "-name" for deletions.
  std::vector<std::string> Events() const {
    absl::MutexLock lock(&mu_);
    std::vector<std::string> out;
    for (const RegistryEvent& e : events_) {
      out.push_back(
          absl::StrCat(e.type == RegistryEvent::Type::kPut ? "+" : "-", e.object->name()));
    }
    return out;
  }
  RegistryEvent At(size_t i) const {
    absl::MutexLock lock(&mu_);
    return events_.at(i);
  }
  bool AwaitEvents(size_t n) const {
    return tests::Eventually([&] { return Events().size() >= n; });
  }
  bool AwaitEnd() const {
    return tests::Eventually([&] {
      absl::MutexLock lock(&mu_);
      return ended_;
    });
  }
  absl::Status end() const {
    absl::MutexLock lock(&mu_);
    return end_;
  }

 private:
  mutable absl::Mutex mu_;
  std::vector<RegistryEvent> events_ ABSL_GUARDED_BY(mu_);
  int64_t bookmark_ ABSL_GUARDED_BY(mu_) = 0;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // TESTS_SEARCH_REGISTRY_ETCD_FIXTURE_H_
