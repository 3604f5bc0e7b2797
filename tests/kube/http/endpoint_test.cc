#include "kube/http/internal/endpoint.h"

#include <catch2/catch.hpp>
#include <string>

#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

TEST_CASE("URLs of all shapes lead somewhere") {
  struct Case {
    const char *url, *host;
    int port;
    const char *path, *authority;
  };
  for (const Case& c : {
           Case{"https://h", "h", 443, "", "h:443"},
           Case{"HTTP://h", "h", 80, "", "h:80"},
           Case{"https://ABC123.gr7.EU-west-1.eks.amazonaws.com",
                "abc123.gr7.eu-west-1.eks.amazonaws.com", 443, "",
                "abc123.gr7.eu-west-1.eks.amazonaws.com:443"},
           Case{"https://[::1]", "::1", 443, "", "[::1]:443"},
           Case{"https://[FD00::5]:6443/x/", "fd00::5", 6443, "/x", "[fd00::5]:6443"},
           Case{"https://u:p@10.0.0.1:1/a/b?c", "10.0.0.1", 1, "/a/b", "10.0.0.1:1"},
       }) {
    CAPTURE(c.url);
    const auto endpoint = ParseEndpoint(c.url, "server");
    INFO(endpoint.status());
    REQUIRE(endpoint.ok());
    CHECK(endpoint->host == c.host);
    CHECK(endpoint->port == c.port);
    CHECK(endpoint->path == c.path);
    CHECK(endpoint->Authority() == c.authority);
  }
  CHECK(ParseEndpoint("https://[::1]", "")->is_ip_address());
  CHECK_FALSE(ParseEndpoint("https://10.0.0", "")->is_ip_address());
}

TEST_CASE("URLs that lead nowhere are refused without showing their password") {
  const std::string endless = "https://" + std::string(300, 'h');
  for (const char* url : {endless.c_str(), "", "h", "https://", "ftp://h",
                          "https://u:secret@h:port", "https://u:secret/x@h", "https://u:secret#x@h",
                          "https://u:secret?x@h", "https://u:se/secret@h:1", "u:secret://x@h",
                          "https://u@[secret]", "https://h:0", "https://h:65536", "https://h:",
                          "https://[::1", "https://[h]", "https://a b", "https://h\r\nX: y"}) {
    CAPTURE(url);
    const absl::Status error = ParseEndpoint(url, "server").status();
    INFO(error);
    CHECK(absl::IsInvalidArgument(error));
    CHECK_THAT(std::string(error.message()), Catch::StartsWith("server: "));
    CHECK_THAT(std::string(error.message()), !Catch::Contains("secret"));
  }
}

TEST_CASE("Messages and metrics show no password of a URL") {
  struct Case {
    const char *url, *plain, *host;
  };
  for (const Case& c : {
           Case{"https://u:p@h:6443/x", "https://h:6443/x", "h:6443"},
           Case{"https://u:p/@h", "https://u:p/@h",
                "u:p"},  // Go's parser ends the host there, too.
           Case{"https://u:p@q@h?z@y", "https://h?z@y", "h"},
           Case{"https://h:1/a@b", "https://h:1/a@b", "h:1"},
           Case{"u:p@h", "h", "h"},
           Case{"https://[::1]:5", "https://[::1]:5", "[::1]:5"},
       }) {
    CHECK(WithoutUserInfo(c.url) == c.plain);
    CHECK(HostOf(c.url) == c.host);
  }
}

}  // namespace kube
