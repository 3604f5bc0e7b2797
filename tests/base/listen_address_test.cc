#include "base/listen_address.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"

namespace base {
namespace {

TEST_CASE("addresses to listen on are host:port") {
  struct Case {
    const char* text;
    const char* host;
    int port;
  };
  for (const Case& c : {Case{":8080", "", 8080},
                        {"127.0.0.1:0", "127.0.0.1", 0},
                        {"localhost:65535", "localhost", 65535},
                        {"[::1]:80", "::1", 80},
                        {"[fe80::1%eth0]:80", "fe80::1%eth0", 80}}) {
    INFO(c.text);
    const auto parsed = ParseListenAddress(c.text);
    REQUIRE(parsed.ok());
    CHECK(parsed->host == c.host);
    CHECK(parsed->port == c.port);
  }
}

TEST_CASE("what is no address to listen on is refused by name") {
  for (const char* text : {"", "0", "8080", "localhost", "host:", "host:port", "host:-1",
                           "host:65536", "::1:80", "http://host:80", "/a b:80", "a b:80", "[]:80",
                           "[foo]:80", "[127.0.0.1]:80", ": 80", ":+80"}) {
    INFO(text);
    const absl::Status refused = ParseListenAddress(text).status();
    CHECK(absl::IsInvalidArgument(refused));
    CHECK(refused.message() == "address \"" + std::string(text) + "\" is not host:port");
  }
}

}  // namespace
}  // namespace base
