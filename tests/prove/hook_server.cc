// A thread accepts connections, and each connection has a thread that blocks: it reads a request,
// asks what is to become of it, and writes. All waits are poll() and reads, so that simulated time
// knows them. Being away is a matter of the accepting thread: it closes the listener and all
// connections, and opens the same port again when the time is over.
//
// The port is chosen when it is asked for first, below those that the kernel deals out, so that
// nobody else gets it while the server is away. Each server has a certificate of its own, of one
// authority: simulated time may run for months in one process.

#include "tests/prove/hook_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "base/status.h"
#include "base/tls.h"
#include "examples/webhook/messages.h"
#include "tests/interpreter/webhook/tls_server.h"

namespace prove {
namespace {

constexpr int kFirstPort = 20'000, kPorts = 10'000;  // The kernel's own begin at 32,768.
constexpr int kBacklog = 64;

sockaddr_in AddressOf(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Returns a socket that listens; -1 when the port is somebody else's.
int Listen(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = AddressOf(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(fd, kBacklog) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

struct Identity {
  int port = 0;
  std::unique_ptr<tls::CertificateAuthority> authority;
  HookIdentity shown;
};

const Identity& Own() {
  static const Identity& identity = *[] {
    auto* made = new Identity;
    for (int i = 0; i < kPorts && made->port == 0; ++i) {
      const int port = kFirstPort + (getpid() + i) % kPorts;
      const int fd = Listen(port);
      if (fd < 0) continue;
      made->port = port;
      close(fd);
    }
    made->authority = tls::CertificateAuthority::Create("prove-webhook").value();
    made->shown = {absl::StrCat("https://127.0.0.1:", made->port), made->authority->cert_pem()};
    return made;
  }();
  return identity;
}

std::string Bytes(const base::HttpResponse& answer) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", answer.code, " Answer\r\nContent-Type: ", answer.content_type,
                   "\r\nContent-Length: ", answer.body.size(), "\r\n");
  for (const auto& [name, value] : answer.headers)
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  return absl::StrCat(head, "\r\n", answer.body);
}

// What the example answers to a request, head and body.
base::HttpResponse RightAnswer(const std::string& request) {
  base::HttpRequest asked;
  asked.method = request.substr(0, request.find(' '));
  asked.body = request.substr(request.find("\r\n\r\n") + 4);
  return example::AnswerTo(asked);
}

std::string OperationOf(const std::string& request) {
  const auto message = json::Parse(request.substr(request.find("\r\n\r\n") + 4));
  return message.ok() ? message->Get({"request", "operation"}).ToString() : "";
}

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

class Server : public HookServer {
 public:
  Server(std::unique_ptr<SSL_CTX, FreeTls> context, HookDecision decide, int listener)
      : context_(std::move(context)), decide_(std::move(decide)), listener_(listener) {
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~Server() override {
    stop_ = true;
    Wake(stopped_);
    acceptor_.join();
    CloseAll();
    for (std::thread& thread : connections_) thread.join();
    close(stopped_);
    close(called_away_);
  }

  bool IsAway() const override { return away_ms_ != 0; }

 private:
  static void Wake(int event) {
    const uint64_t one = 1;
    static_cast<void>(write(event, &one, sizeof one));
  }
  // Waits; returns false when the server is to stop.
  bool Pause(absl::Duration pause) const {
    pollfd stop = {.fd = stopped_, .events = POLLIN, .revents = 0};
    if (pause > absl::ZeroDuration()) {
      poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(pause)));
    }
    return !stop_;
  }

  void Accept() {
    while (!stop_) {
      std::array<pollfd, 3> events = {
          {{listener_, POLLIN, 0}, {stopped_, POLLIN, 0}, {called_away_, POLLIN, 0}}};
      poll(events.data(), events.size(), -1);
      if (events[2].revents != 0) {
        StayAway();
      } else if (events[0].revents != 0) {
        Open();
      }
    }
    close(listener_);
  }

  void StayAway() {
    uint64_t ignored = 0;
    static_cast<void>(read(called_away_, &ignored, sizeof ignored));
    if (away_ms_ == 0) return;  // Two calls at once have asked for it.
    close(listener_);
    CloseAll();
    Pause(absl::Milliseconds(away_ms_.load()));
    listener_ = Listen(Own().port);
    away_ms_ = 0;
  }

  void Open() {
    sockaddr_in from = {};
    socklen_t size = sizeof from;
    const int fd = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC);
    if (fd < 0) return;
    // Nothing may wait for an acknowledgement, whose delay the kernel measures in real time.
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::array<char, INET_ADDRSTRLEN> address = {};
    inet_ntop(AF_INET, &from.sin_addr, address.data(), address.size());
    {
      absl::MutexLock lock(&mu_);
      open_.insert(fd);
    }
    connections_.emplace_back([this, fd, client = std::string(address.data())] {
      Serve(fd, client);
      absl::MutexLock lock(&mu_);
      open_.erase(fd);
      close(fd);
    });
  }

  void CloseAll() {
    absl::MutexLock lock(&mu_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }

  void Serve(int fd, const std::string& client) {
    // OpenSSL writes without MSG_NOSIGNAL. The disposition of the signal would be the daemon's,
    // too.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    const std::unique_ptr<SSL, FreeTls> ssl(SSL_new(context_.get()));
    SSL_set_fd(ssl.get(), fd);
    if (SSL_accept(ssl.get()) != 1) return;
    tests::TlsPeer peer(ssl.get());
    for (std::string request = peer.ReadRequest(); !request.empty(); request = peer.ReadRequest()) {
      if (!Answer(peer, request, client)) break;
    }
    shutdown(fd, SHUT_RDWR);
  }

  // Returns whether the connection goes on.
  bool Answer(tests::TlsPeer& peer, const std::string& request, const std::string& client) {
    const base::HttpResponse right = RightAnswer(request);
    const HookVerdict verdict = decide_({OperationOf(request), client}, right);
    const std::string bytes = Bytes(verdict.instead.value_or(right));
    switch (verdict.kind) {
      case HookVerdict::Kind::kAnswer:
        return Pause(verdict.pause) && peer.Write(bytes);
      case HookVerdict::Kind::kTwice:
        return peer.Write(absl::StrCat(bytes, bytes));
      case HookVerdict::Kind::kCut:
        peer.Write(bytes.substr(0, bytes.size() - right.body.size() / 2 - 1));
        return false;
      case HookVerdict::Kind::kClose:
        return false;
      case HookVerdict::Kind::kSilent:
        peer.AwaitEnd();
        return false;
      case HookVerdict::Kind::kAway:
        away_ms_ = absl::ToInt64Milliseconds(verdict.pause);
        Wake(called_away_);
        return false;
    }
    return false;
  }

  const std::unique_ptr<SSL_CTX, FreeTls> context_;
  const HookDecision decide_;
  int listener_;  // Of the accepting thread.
  const int stopped_ = eventfd(0, EFD_CLOEXEC), called_away_ = eventfd(0, EFD_CLOEXEC);
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> away_ms_ = 0;  // How long it is to be away; 0 when it is not.
  absl::Mutex mu_;
  std::set<int> open_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread>
      connections_;  // Of the accepting thread, and of the destructor after it.
  std::thread acceptor_;
};

}  // namespace

const HookIdentity& IdentityOfHook() { return Own().shown; }

absl::StatusOr<std::unique_ptr<HookServer>> HookServer::Start(HookDecision decide) {
  tls::CertificateAuthority::LeafOptions leaf = {.common_name = "webhook"};
  leaf.ip_addresses = {"127.0.0.1"};
  ASSIGN_OR_RETURN(tls::KeyPair pair, Own().authority->Issue(leaf));
  std::unique_ptr<SSL_CTX, FreeTls> context(SSL_CTX_new(TLS_server_method()));
  RETURN_IF_ERROR(tls::ConfigureServer(context.get(), {.server = std::move(pair)}));
  const int listener = Listen(Own().port);
  if (listener < 0) return absl::UnavailableError(absl::StrCat(Own().shown.url, " is taken"));
  return std::make_unique<Server>(std::move(context), std::move(decide), listener);
}

}  // namespace prove
