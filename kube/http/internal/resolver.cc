// Equal questions (of the same host and urgency) that are open at the same time are asked once: the
// first one runs an errand, which calls getaddrinfo on another thread, and further ones only add
// themselves to the waiting ones. The answer closes the question under the lock and is then given
// to all of them, in the order in which they asked and without the lock. Answers are not kept: the
// system does that. A caller that gives up is not removed, so its callback may be called later.

#include "kube/http/internal/resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/internal/errands.h"

namespace kube {
namespace {

using Done = std::function<void(absl::StatusOr<Addresses>)>;

void SetPort(SocketAddress& address, int port) {
  const auto wire = htons(static_cast<uint16_t>(port));
  if (address.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = wire;
  } else {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = wire;
  }
}

absl::StatusOr<Addresses> Ask(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  // No IPv6 addresses on a machine that has none.
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    const char* why = error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error);
    return absl::UnavailableError(
        absl::StrCat("the host name \"", host, "\" cannot be resolved: ", why));
  }
  Addresses out;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    out.push_back(address);
  }
  freeaddrinfo(list);
  if (!out.empty()) return out;
  return absl::UnavailableError(absl::StrCat("the host name \"", host, "\" has no address"));
}

// The callbacks that wait for questions which are being asked.
struct Questions {
  absl::Mutex mu;
  // By host and urgency.
  std::map<std::pair<std::string, bool>, std::vector<Done>> waiting ABSL_GUARDED_BY(mu);
};

Questions& OpenQuestions() {
  static auto* const questions = new Questions;
  return *questions;
}

void AskForAll(const std::string& host, bool urgent) {
  const absl::StatusOr<Addresses> answer = Ask(host);
  std::vector<Done> waiting;
  {
    absl::MutexLock lock(&OpenQuestions().mu);
    waiting = std::move(OpenQuestions().waiting[{host, urgent}]);
    OpenQuestions().waiting.erase({host, urgent});
  }
  for (const Done& done : waiting) done(answer);
}

}  // namespace

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    return absl::StrCat("[", text, "]:", ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  return absl::StrCat(text, ":", ntohs(v4->sin_port));
}

std::optional<SocketAddress> NumericAddress(const std::string& host, int port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    address.storage.ss_family = AF_INET;
    address.size = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    address.storage.ss_family = AF_INET6;
    address.size = sizeof(sockaddr_in6);
  } else {
    return std::nullopt;
  }
  SetPort(address, port);
  return address;
}

void ResolveInBackground(const HostPort& where, Done done) {
  Done with_port = [port = where.port, done = std::move(done)](absl::StatusOr<Addresses> answer) {
    if (answer.ok()) {
      for (SocketAddress& address : *answer) SetPort(address, port);
    }
    done(std::move(answer));
  };
  {
    absl::MutexLock lock(&OpenQuestions().mu);
    std::vector<Done>& waiting = OpenQuestions().waiting[{where.host, where.urgent}];
    waiting.push_back(std::move(with_port));
    if (waiting.size() > 1) return;
  }
  NameLookups().Run({where.host, where.urgent},
                    [host = where.host, urgent = where.urgent] { AskForAll(host, urgent); });
}

}  // namespace kube
