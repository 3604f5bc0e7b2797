// A port for a server of another process, which cannot say what it got for port 0.
#ifndef TESTS_SUPPORT_FREE_PORT_H_
#define TESTS_SUPPORT_FREE_PORT_H_

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace tests {

// Returns a port of 127.0.0.1 that was free a moment ago.
inline int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(bind(fd, any, size) == 0);
  REQUIRE(getsockname(fd, any, &size) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace tests

#endif  // TESTS_SUPPORT_FREE_PORT_H_
