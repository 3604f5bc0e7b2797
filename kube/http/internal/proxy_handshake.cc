// HTTP's CONNECT, and SOCKS version 5 (RFC 1928, credentials by RFC 1929): the client offers ways
// to authenticate, the proxy picks one; the client sends credentials, if they are needed, and the
// target, as a name if it has one; the proxy answers with the address that it uses, which is
// ignored.

#include "kube/http/internal/proxy_handshake.h"

#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/internal/request_text.h"
#include "kube/http/internal/resolver.h"
#include "kube/http/internal/response_parser.h"

namespace kube {
namespace {

class HttpConnect : public ProxyHandshake {
 public:
  HttpConnect(const ProxySettings& proxy, const Endpoint& server) : parser_(Options(), {}) {
    RequestText request{.method = "CONNECT", .target = server.Authority()};
    request.headers = {{"Host", request.target}};
    const std::string authorization = proxy.Authorization();
    for (const auto& [name, value] : proxy.headers) {
      const bool overridden =
          !authorization.empty() && absl::EqualsIgnoreCase(name, "Proxy-Authorization");
      if (!overridden) request.headers.emplace_back(name, value);
    }
    if (!authorization.empty()) request.headers.emplace_back("Proxy-Authorization", authorization);
    begin_ = WriteRequest(request);
  }

  std::string Begin() override { return begin_; }

  absl::StatusOr<bool> Take(absl::string_view bytes, std::string&) override {
    RETURN_IF_ERROR(parser_.Feed(bytes));
    if (parser_.head().code == 0) return false;
    if (parser_.head().code == 200) return true;
    return absl::UnavailableError(
        absl::StrCat("it refuses the connection with code ", parser_.head().code));
  }

 private:
  static ResponseParser::Options Options() {
    ResponseParser::Options options;
    options.no_body = true;
    return options;
  }

  std::string begin_;
  ResponseParser parser_;
};

class Socks5 : public ProxyHandshake {
 public:
  Socks5(const ProxySettings& proxy, const Endpoint& server)
      : username_(proxy.username), password_(proxy.password), server_(server) {}

  std::string Begin() override {
    // Version 5, then the number of ways to authenticate and the ways: none (0), by name and
    // password (2).
    return has_credentials() ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
  }

  absl::StatusOr<bool> Take(absl::string_view bytes, std::string& reply) override {
    in_.append(bytes.data(), bytes.size());
    if (state_ == State::kMethod && in_.size() >= 2) {
      RETURN_IF_ERROR(TakeMethod(reply));
    }
    if (state_ == State::kCredentials && in_.size() >= 2) {
      if (in_[1] != 0) return absl::UnavailableError("it refuses the credentials");
      in_.erase(0, 2);
      AskForTarget(reply);
    }
    // Five bytes tell how long the answer is.
    if (state_ != State::kTarget || in_.size() < 5) return false;
    return TakeAnswer();
  }

 private:
  enum class State { kMethod, kCredentials, kTarget };
  static constexpr size_t kMaxText = 255;  // The length of a text is one byte.

  bool has_credentials() const { return !username_.empty() || !password_.empty(); }

  static std::string Text(const std::string& text) {
    return absl::StrCat(std::string(1, static_cast<char>(text.size())), text);
  }

  absl::Status TakeMethod(std::string& reply) {
    if (in_[0] != 5) return absl::UnavailableError("it does not speak SOCKS version 5");
    const char method = in_[1];
    in_.erase(0, 2);
    if (method == 0) {
      AskForTarget(reply);
      return absl::OkStatus();
    }
    if (method != 2 || !has_credentials()) {
      return absl::UnavailableError("it wants credentials that the configuration does not give");
    }
    if (username_.size() > kMaxText || password_.size() > kMaxText) {
      return absl::UnavailableError("SOCKS allows 255 bytes for a user name or password");
    }
    // The version of this sub-negotiation is 1.
    absl::StrAppend(&reply, "\x01", Text(username_), Text(password_));
    state_ = State::kCredentials;
    return absl::OkStatus();
  }

  void AskForTarget(std::string& reply) {
    state_ = State::kTarget;
    // Version 5, the command CONNECT, a reserved byte; then the kind of address: 1 is IPv4, 3 a
    // name, 4 IPv6.
    reply.append("\x05\x01\x00", 3);
    const auto address = NumericAddress(server_.host, server_.port);
    if (!address) {
      reply += absl::StrCat("\x03", Text(server_.host));
    } else if (address->storage.ss_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address->storage);
      reply.push_back(1);
      reply.append(reinterpret_cast<const char*>(&v4->sin_addr), sizeof v4->sin_addr);
    } else {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address->storage);
      reply.push_back(4);
      reply.append(reinterpret_cast<const char*>(&v6->sin6_addr), sizeof v6->sin6_addr);
    }
    reply.push_back(static_cast<char>(server_.port >> 8));
    reply.push_back(static_cast<char>(server_.port & 0xff));
  }

  // The answer is version, code, a reserved byte, kind of address, address, port.
  absl::StatusOr<bool> TakeAnswer() const {
    if (in_[0] != 5) return absl::UnavailableError("it does not speak SOCKS version 5");
    if (in_[1] != 0) return absl::UnavailableError(Refusal(in_[1]));
    constexpr size_t kAround = 6;
    const char kind = in_[3];
    const size_t name = 1 + static_cast<unsigned char>(in_[4]);
    const size_t address = kind == 1 ? 4 : kind == 4 ? 16 : name;
    return in_.size() >= kAround + address;
  }

  static std::string Refusal(char code) {
    static constexpr const char* kReasons[] = {"",
                                               "general failure",
                                               "not allowed by its rules",
                                               "network unreachable",
                                               "host unreachable",
                                               "connection refused",
                                               "time to live expired"};
    const auto number = static_cast<unsigned char>(code);
    const bool known = number < std::size(kReasons);
    return absl::StrCat("it cannot connect: ", known ? kReasons[number] : "unknown reason", " (",
                        number, ")");
  }

  const std::string username_, password_;
  const Endpoint server_;
  State state_ = State::kMethod;
  std::string in_;
};

}  // namespace

std::unique_ptr<ProxyHandshake> NewProxyHandshake(const ProxySettings& proxy,
                                                  const Endpoint& server) {
  switch (proxy.kind) {
    case ProxySettings::Kind::kNone:
      return nullptr;
    case ProxySettings::Kind::kSocks5:
      return std::make_unique<Socks5>(proxy, server);
    default:
      // Requests to http:// servers are sent to the proxy itself, with the whole URL.
      if (server.scheme != "https") return nullptr;
      return std::make_unique<HttpConnect>(proxy, server);
  }
}

}  // namespace kube
