#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/http_transport.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"

namespace kube {
namespace {

int Listen(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(fd, 8) == 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return fd;
}

// A proxy for one connection: answers CONNECT with `answer` and, if that is a 200, forwards bytes.
class OneTunnel {
 public:
  explicit OneTunnel(std::string answer) : answer_(std::move(answer)), listener_(Listen(&port_)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~OneTunnel() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string Url(const std::string& user = "") const {
    return absl::StrCat("http://", user, "127.0.0.1:", port_);
  }
  std::string request() const {
    absl::MutexLock lock(&mu_);
    return request_;
  }

 private:
  void Run() {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    std::string head;
    char c = 0;
    while (!absl::EndsWith(head, "\r\n\r\n") && read(client, &c, 1) == 1) head.push_back(c);
    {
      absl::MutexLock lock(&mu_);
      request_ = head;
    }
    const std::string answer = absl::StrCat("HTTP/1.1 ", answer_, "\r\n\r\n");
    (void)!write(client, answer.data(), answer.size());
    if (absl::StartsWith(answer_, "200")) Relay(client, head);
    close(client);
  }

  static void Relay(int client, const std::string& head) {
    int port = 0;
    const std::string target = std::vector<std::string>(absl::StrSplit(head, ' '))[1];
    if (!absl::SimpleAtoi(target.substr(target.find(':') + 1), &port)) return;
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      while (Pass(client, server)) {
      }
    }
    close(server);
  }

  static bool Pass(int a, int b) {
    pollfd fds[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    if (poll(fds, 2, 10'000) <= 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents == 0) continue;
      char block[4096];
      const ssize_t got = read(fds[i].fd, block, sizeof block);
      if (got <= 0 || write(fds[1 - i].fd, block, got) != got) return false;
    }
    return true;
  }

  const std::string answer_;
  int port_ = 0;
  const int listener_;
  mutable absl::Mutex mu_;
  std::string request_;
  std::thread thread_;
};

void Hello(base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
  responder->Send({.body = "hello"});
}

}  // namespace

TEST_CASE("HTTPS goes through a proxy's tunnel, with its credentials, checked end to end") {
  tests::ForEachTransport();
  tests::TestServer server(&Hello);
  OneTunnel proxy("200 OK");
  ConnectionConfig config = server.Config();
  config.proxy_url = proxy.Url("u:p@");
  {
    const auto transport = *tests::MakeTransport(config);
    for (int i = 0; i < 2; ++i) {  // The second request uses the same tunnel.
      const auto answer = transport->Send({.method = "GET", .path = "/"}, {});
      INFO(answer.status());
      REQUIRE(answer.ok());
      CHECK(answer->body == "hello");
    }
  }
  CHECK_THAT(proxy.request(),
             Catch::StartsWith(absl::StrCat("CONNECT 127.0.0.1:", server.server().port(), " ")));
  CHECK_THAT(proxy.request(), Catch::Contains("Proxy-Authorization: Basic dTpw\r\n"));
}

TEST_CASE("A proxy that refuses is named as the culprit") {
  tests::ForEachTransport();
  tests::TestServer server(&Hello);
  OneTunnel proxy("407 Proxy Authentication Required");
  ConnectionConfig config = server.Config();
  config.proxy_url = proxy.Url();
  const auto answer = (*tests::MakeTransport(config))->Send({.method = "GET", .path = "/"}, {});
  CHECK(absl::IsUnavailable(answer.status()));
  CHECK(WasNotProcessed(answer.status()));
  CHECK_THAT(std::string(answer.status().message()),
             Catch::Contains("the proxy ") && Catch::Contains("refuses") && Catch::Contains("407"));
}

}  // namespace kube
