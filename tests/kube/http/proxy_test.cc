#include "kube/http/internal/proxy.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace kube {
namespace {

absl::StatusOr<ProxySettings> SettingsFor(const std::string& server,
                                          std::map<std::string, std::string> variables,
                                          const std::string& proxy_url = "") {
  ConnectionConfig config;
  config.server = server;
  config.proxy_url = proxy_url;
  return ProxySettingsOf(config, [&](const char* name) { return variables[name]; });
}

// Returns the proxy's URL; "" for none.
std::string NameOf(const absl::StatusOr<ProxySettings>& settings) {
  REQUIRE(settings.ok());
  return settings->kind == ProxySettings::Kind::kNone ? "" : settings->Name();
}

}  // namespace

TEST_CASE("The configured proxy wins over the environment and may carry credentials") {
  const auto settings = SettingsFor("https://h", {{"HTTPS_PROXY", "http://other:1"}},
                                    "http://u%40x:p%3A@proxy:3128/");
  REQUIRE(settings.ok());
  CHECK(NameOf(settings) == "http://proxy:3128");
  CHECK(settings->username == "u@x");
  CHECK(settings->password == "p:");
  CHECK(settings->Authorization() == "Basic dUB4OnA6");
  CHECK(NameOf(SettingsFor("https://h", {}, "http://[::1]")) == "http://[::1]:80");
  CHECK(NameOf(SettingsFor("https://h", {}, "https://p")) == "https://p:443");
  CHECK(NameOf(SettingsFor("https://h", {}, "socks5://p")) == "socks5://p:1080");
  CHECK(NameOf(SettingsFor("https://h", {}, "SOCKS5H://p:1")) == "socks5://p:1");
}

TEST_CASE("Proxies that are not supported are refused without showing their password") {
  for (const char* url : {"ftp://u:secret@p", "http://u:secret/x@p:3128", "u:secret#x@p",
                          "socks4://u:secret@p:1", "http://u:secret@", "http://u:secret@h:port"}) {
    CAPTURE(url);
    const absl::Status error = SettingsFor("https://h", {}, url).status();
    CHECK(absl::IsInvalidArgument(error));
    CHECK_THAT(std::string(error.message()), !Catch::Contains("secret"));
  }
}

TEST_CASE("The environment's proxy is taken by scheme, unless $NO_PROXY excepts the host") {
  struct Case {
    const char *server, *no_proxy, *want;
  };
  for (const Case& c : {
           Case{"https://api.example.com:6443", "", "http://s:1"},
           Case{"http://api.example.com", "", "http://p:80"},
           Case{"https://api.example.com", "example.com", ""},
           Case{"https://api.example.com", ".example.com", ""},
           Case{"https://example.com", ".example.com", "http://s:1"},
           Case{"https://badexample.com", "example.com", "http://s:1"},
           Case{"https://API.example.com", "x, api.EXAMPLE.com", ""},
           Case{"https://api.example.com", "*", ""},
           Case{"https://api.example.com", "*.example.com", ""},
           Case{"https://example.com", "*.example.com", "http://s:1"},
           Case{"https://api.example.com:6443", "example.com:6443", ""},
           Case{"https://api.example.com:6443", "example.com:443", "http://s:1"},
           Case{"https://api.example.com", "example.com:443", ""},
           Case{"https://10.1.2.3:6443", "10.1.2.3:6443", ""},
           Case{"https://10.1.2.3:6443", "10.1.2.3:1", "http://s:1"},
           Case{"https://[fd00::5]:443", "[fd00::5]:443", ""},
           Case{"https://[fd00::5]:443", "fd00:0::5", ""},
           Case{"https://api.example.com", ":443, ,.", "http://s:1"},
           Case{"https://10.1.2.3:443", "10.0.0.0/8", ""},
           Case{"https://11.1.2.3:443", "10.0.0.0/8", "http://s:1"},
           Case{"https://[fd00::5]:443", "fd00::/16", ""},
           Case{"https://127.0.0.1:6443", "", ""},
           Case{"https://[::1]:6443", "", ""},
           Case{"https://localhost:6443", "", ""},
       }) {
    CAPTURE(c.server, c.no_proxy);
    const auto settings = SettingsFor(
        c.server, {{"HTTPS_PROXY", "s:1"}, {"http_proxy", "http://p"}, {"NO_PROXY", c.no_proxy}});
    REQUIRE(settings.ok());
    CHECK(NameOf(settings) == c.want);
  }
}

TEST_CASE("A header that would begin another one is refused and named") {
  ConnectionConfig config;
  config.server = "https://10.1.2.3";
  config.proxy_url = "http://p:1";
  const auto none = [](const char*) { return std::string(); };
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"X-Tenant", "a\r\nProxy-Authorization: Basic eA=="},
           {"X-Tenant: b\r\nHost", "evil"},
           {"X-Tenant", "a\n"},
       }) {
    config.proxy_headers = {{"X-Fine", "yes"}, {name, value}};
    const absl::Status error = ProxySettingsOf(config, none).status();
    CHECK(absl::IsInvalidArgument(error));
    CHECK_THAT(std::string(error.message()), Catch::StartsWith("proxy: the header X-Tenant"));
    CHECK_THAT(std::string(error.message()), !Catch::Contains("eA=="));
  }
  config.proxy_headers = {{"X-Fine", "yes and no"}};
  CHECK(ProxySettingsOf(config, none).ok());
}

TEST_CASE("A connection inside a cluster can leave the environment's proxy aside") {
  ConnectionConfig config;
  config.server = "https://10.1.2.3";
  config.ignore_proxy_environment = true;
  const ConnectionConfig copy = config;
  CHECK(NameOf(ProxySettingsOf(copy, [](const char*) { return std::string("http://p:1"); })) == "");
}

}  // namespace kube
