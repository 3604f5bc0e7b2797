// What becomes of requests and watches when the authority of a server's certificate is replaced.

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/http_transport.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace kube {
namespace {

// Answers requests, and keeps watches open.
class Answering {
 public:
  base::HttpHandler Handler() {
    return [this](const base::HttpRequest& request,
                  const std::shared_ptr<base::HttpResponder>& responder) {
      if (request.path != "/watch") return responder->Send({.body = "here"});
      absl::MutexLock lock(&mu_);
      watches_.push_back(responder->StartStream({}));
    };
  }
  void WriteToAll(const std::string& text) {
    absl::MutexLock lock(&mu_);
    for (const auto& watch : watches_) watch->Write(text);
  }

 private:
  absl::Mutex mu_;
  std::vector<std::shared_ptr<base::HttpStream>> watches_;
};

class Watcher {
 public:
  explicit Watcher(Transport& transport)
      : stream_(transport.Open({.method = "GET", .path = "/watch"},
                               {.on_head = [](const HttpResponse&) {},
                                .on_data = [this](absl::string_view bytes) { Add(bytes); },
                                .on_end = [this](absl::Status) { Add("END"); }})) {}

  bool Saw(const std::string& text) const {
    absl::MutexLock lock(&mu_);
    return absl::StrContains(seen_, text);
  }

 private:
  void Add(absl::string_view text) {
    absl::MutexLock lock(&mu_);
    seen_.append(text.data(), text.size());
  }
  mutable absl::Mutex mu_;
  std::string seen_;
  std::unique_ptr<HttpStream> stream_;
};

}  // namespace

TEST_CASE("A certificate of another authority is believed once the file has this authority") {
  tests::ForEachTransport();
  const tests::TempDirectory dir;
  Answering answering;
  tests::TestServer server(answering.Handler());
  ConnectionConfig config = server.Config();
  config.ca_file = dir.Write("ca.crt", config.ca_pem);
  const auto transport = tests::Connect(config);
  const auto ask = [&] { return transport->Send({.method = "GET", .path = "/"}, {}); };
  REQUIRE(ask().ok());
  const Watcher open(*transport);
  const auto sees = [&](const Watcher& watcher, const std::string& text) {
    return tests::Eventually([&] {
      answering.WriteToAll(text);
      return watcher.Saw(text);
    });
  };
  CHECK(sees(open, "before"));

  const auto other = *tls::CertificateAuthority::Create("another authority");
  REQUIRE(
      server.server().ReplaceTls({.server = *other->Issue({.ip_addresses = {"127.0.0.1"}})}).ok());
  CHECK(sees(open, "after"));  // What is open goes on.
  server.server().DropConnections();
  CHECK(tests::Eventually([&] { return open.Saw("END"); }));
  CHECK_FALSE(ask().ok());

  dir.Write("ca.crt", other->cert_pem());
  CHECK(tests::Eventually([&] { return ask().ok(); }));
  const Watcher again(*transport);
  CHECK(sees(again, "again"));
}

}  // namespace kube
