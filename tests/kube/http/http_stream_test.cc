#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "kube/http/http_transport.h"
#include "kube/http/internal/event_loop.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "tests/interpreter/webhook/tls_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace kube {
namespace {

using tests::TestServer;

// Records the arguments of a stream's callbacks.
class Recorder {
 public:
  StreamCallbacks Callbacks() {
    return {
        .on_head = [this](const HttpResponse& head) { Add(absl::StrCat("head ", head.code)); },
        .on_data = [this](absl::string_view bytes) { Add(absl::StrCat("data ", bytes)); },
        .on_end =
            [this](absl::Status status) {
              {
                absl::MutexLock lock(&mu_);
                end_ = status;
              }
              Add("end");
            },
    };
  }
  // Waits until `n` callbacks have come.
  std::vector<std::string> Await(size_t n) {
    absl::MutexLock lock(&mu_);
    auto enough = [&] { return calls_.size() >= n; };
    mu_.AwaitWithTimeout(absl::Condition(&enough), absl::Minutes(1));
    return calls_;
  }
  absl::Status end() {
    absl::MutexLock lock(&mu_);
    return end_;
  }

 private:
  void Add(std::string call) {
    absl::MutexLock lock(&mu_);
    calls_.push_back(std::move(call));
  }
  absl::Mutex mu_;
  std::vector<std::string> calls_;
  absl::Status end_ = absl::UnknownError("no end yet");
};

// A server of streams that the test writes to.
class Streams {
 public:
  Streams()
      : server_([this](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
          auto stream = responder->StartStream({});
          stream->OnClosed([this] { ++closed; });
          absl::MutexLock lock(&mu_);
          stream_ = std::move(stream);
        }) {}
  base::HttpStream& Await() {
    absl::MutexLock lock(&mu_);
    auto there = [&] { return stream_ != nullptr; };
    mu_.Await(absl::Condition(&there));
    return *stream_;
  }
  TestServer& server() { return server_; }

  std::atomic<int> closed = 0;

 private:
  absl::Mutex mu_;
  std::shared_ptr<base::HttpStream> stream_;
  TestServer server_;
};

std::unique_ptr<HttpStream> Open(const std::shared_ptr<Transport>& transport, Recorder& recorder,
                                 absl::Duration silence = absl::Seconds(30)) {
  return transport->Open({.method = "GET", .path = "/watch", .timeout = silence},
                         recorder.Callbacks());
}

}  // namespace

TEST_CASE("A stream's data arrives as it is written, and a proper end is reported") {
  tests::ForEachTransport();
  Streams streams;
  Recorder recorder;
  const auto stream = Open(*tests::MakeTransport(streams.server().Config()), recorder);
  base::HttpStream& peer = streams.Await();
  CHECK(recorder.Await(1) == std::vector<std::string>{"head 200"});
  peer.Write("one");
  CHECK(recorder.Await(2).back() == "data one");
  peer.Write("two");
  CHECK(recorder.Await(3).back() == "data two");
  peer.Close();
  CHECK(recorder.Await(4).back() == "end");
  CHECK(recorder.end().ok());
}

TEST_CASE("A stream whose connection is cut ends with an error that names the server") {
  tests::ForEachTransport();
  Streams streams;
  Recorder recorder;
  const auto stream = Open(*tests::MakeTransport(streams.server().Config()), recorder);
  streams.Await().Write("x");
  recorder.Await(2);
  streams.Await().Abort();
  CHECK(recorder.Await(3).back() == "end");
  CHECK(absl::IsUnavailable(recorder.end()));
  CHECK_THAT(std::string(recorder.end().message()),
             Catch::StartsWith(streams.server().Config().server + ": the connection broke"));
}

TEST_CASE("A stream that is silent for too long ends, one that keeps talking does not") {
  tests::ForEachTransport();
  Streams streams;
  Recorder recorder;
  const absl::Duration silence = absl::Milliseconds(1500);
  const auto stream = Open(*tests::MakeTransport(streams.server().Config()), recorder, silence);
  base::HttpStream& peer = streams.Await();
  const absl::Time start = absl::Now();
  int written = 0;
  for (; absl::Now() - start < 1.5 * silence; ++written) {
    peer.Write("x");
    recorder.Await(written + 2);
    absl::SleepFor(absl::Milliseconds(20));
  }
  CHECK_FALSE(absl::IsUnavailable(recorder.end()));
  CHECK(recorder.Await(written + 2).back() == "end");
  CHECK(absl::IsUnavailable(recorder.end()));
  CHECK_THAT(std::string(recorder.end().message()), Catch::Contains("no data for 1.5s"));
}

TEST_CASE("A destroyed stream calls nobody any more and hangs up") {
  tests::ForEachTransport();
  Streams streams;
  auto recorder = std::make_unique<Recorder>();
  const auto transport = *tests::MakeTransport(streams.server().Config());
  auto stream = Open(transport, *recorder);
  base::HttpStream& peer = streams.Await();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop && peer.Write("x")) std::this_thread::yield();
  });
  recorder->Await(20);
  stream.reset();
  recorder.reset();  // A late callback would be a use after free.
  CHECK(tests::Eventually([&] { return streams.closed == 1; }));
  stop = true;
  writer.join();
}

TEST_CASE("Streams that cannot start say so once, from a callback") {
  tests::ForEachTransport();
  Recorder recorder;
  SECTION("no server") {
    ConnectionConfig config;
    {
      Streams gone;
      config = gone.server().Config();
    }
    const auto stream = Open(*tests::MakeTransport(config), recorder);
    CHECK(recorder.Await(1) == std::vector<std::string>{"end"});
    CHECK(absl::IsUnavailable(recorder.end()));
  }
  SECTION("no credentials") {
    Streams streams;
    ConnectionConfig config = streams.server().Config();
    config.token_file = "/nonexistent";
    const auto stream = Open(*tests::MakeTransport(config), recorder);
    CHECK(recorder.Await(1) == std::vector<std::string>{"end"});
    CHECK(absl::IsUnauthenticated(recorder.end()));
  }
  SECTION("an error answer") {
    TestServer server([](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
      responder->Send({.code = 410, .body = "gone"});
    });
    const auto stream = Open(*tests::MakeTransport(server.Config()), recorder);
    CHECK(recorder.Await(3) == std::vector<std::string>{"head 410", "data gone", "end"});
    INFO(recorder.end());
    CHECK(recorder.end().ok());
  }
}

TEST_CASE("A stream that waits for a plugin that hangs is given up at once, and the plugin ends") {
  tests::ForEachTransport();
  const tests::TempDirectory dir;
  Streams streams;
  ConnectionConfig config = streams.server().Config();
  config.token = "";
  config.exec = std::make_unique<ExecPlugin>();
  config.exec->api_version = "client.authentication.k8s.io/v1";
  config.exec->command =
      dir.WriteScript("plugin", absl::StrCat("echo $$ > ", dir.path(), "/pid\nexec sleep 100\n"));
  const auto plugin = [&] {
    int pid = 0;
    std::ifstream(dir.path() + "/pid") >> pid;
    return pid;
  };
  Recorder recorder;
  auto stream = Open(*tests::MakeTransport(config), recorder);
  REQUIRE(tests::Eventually([&] { return plugin() > 0; }));
  CHECK(kill(plugin(), 0) == 0);  // The plugin still runs although Open() has returned.
  stream.reset();
  CHECK(tests::Eventually([&] { return kill(plugin(), 0) != 0; }));
}

TEST_CASE("A blocking call inside a callback is refused instead of waiting for ever") {
  tests::ForEachTransport();
  Streams streams;
  const auto transport = *tests::MakeTransport(streams.server().Config());
  absl::Status inside;
  absl::Notification done;
  StreamCallbacks callbacks = {
      .on_head =
          [&](const HttpResponse&) {
            inside = transport->Send({.method = "GET", .path = "/"}, {}).status();
            done.Notify();
          },
      .on_data = [](absl::string_view) {},
      .on_end = [](absl::Status) {},
  };
  const auto stream = transport->Open({.method = "GET", .path = "/"}, std::move(callbacks));
  done.WaitForNotification();
  CHECK(absl::IsInternal(inside));
}

TEST_CASE("Many streams and calls share the library's thread") {
  tests::ForEachTransport();
  absl::Mutex mu;
  std::vector<std::shared_ptr<base::HttpStream>> peers;
  TestServer server([&](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    if (request.path != "/watch") return responder->Send({});
    auto stream = responder->StartStream({});
    stream->Write("x");
    absl::MutexLock lock(&mu);
    peers.push_back(std::move(stream));
  });
  const auto transport = *tests::MakeTransport(server.Config());
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<HttpStream>> streams;
  for (int i = 0; i < 20; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    streams.push_back(Open(transport, *recorders.back()));
  }
  for (auto& recorder : recorders) {
    CHECK(recorder->Await(2) == std::vector<std::string>{"head 200", "data x"});
  }
  CHECK(transport->Send({.method = "GET", .path = "/"}, {}).ok());
}

TEST_CASE("A stream with endless data leaves the library's thread to others") {
  tests::LeanTransportOnly();
  // TLS records that come by the hundred: one read of the socket, many of the layer above it.
  const std::string record = "x";
  constexpr int kRecords = 2000;
  const auto authority = *tls::CertificateAuthority::Create("test authority");
  const tests::TlsServer server(
      *authority->Issue({.common_name = "server", .ip_addresses = {"127.0.0.1"}}),
      [&](tests::TlsPeer& peer) {
        peer.ReadRequest();
        peer.Write(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", kRecords * record.size(),
                                "\r\n\r\n"));
        for (int i = 0; i < kRecords && peer.Write(record);) ++i;
        peer.AwaitEnd();
      });
  ConnectionConfig config;
  config.server = absl::StrCat("https://127.0.0.1:", server.port());
  config.ca_pem = authority->cert_pem();
  const auto transport = *tests::MakeTransport(config);

  int records = 0;  // Of the library's thread.
  int before_others_turn = 0;
  absl::Notification over;
  StreamCallbacks callbacks = {
      .on_head = [](const HttpResponse&) {},
      .on_data =
          [&](absl::string_view) {
            if (++records == 500) {
              EventLoop::Shared()->Post([&](Reactor&) { before_others_turn = records; });
            }
            absl::SleepFor(absl::Microseconds(100));  // The server is faster.
          },
      .on_end = [&](absl::Status) { over.Notify(); },
  };
  const auto stream = transport->Open({.method = "GET", .path = "/watch"}, std::move(callbacks));
  over.WaitForNotification();
  CHECK(records >= kRecords);
  CHECK(before_others_turn >= 500);
  CHECK(before_others_turn < 500 + 50);
}

}  // namespace kube
