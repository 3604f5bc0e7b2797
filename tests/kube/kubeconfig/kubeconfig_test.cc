#include "kube/kubeconfig/kubeconfig.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/internal/kubeconfig_files.h"
#include "tests/support/temp_directory.h"

namespace kube {
namespace {

// Returns a kubeconfig with one context and these fields of its cluster and its user (flow style,
// without braces).
std::string Kubeconfig(const std::string& cluster, const std::string& user) {
  return absl::StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
      "contexts:\n- name: main\n  context: {cluster: c, user: u}\n"
      "clusters:\n- name: c\n  cluster: {",
      cluster, "}\nusers:\n- name: u\n  user: {", user, "}\n");
}
const char kServer[] = "server: 'https://example:6443'";

// Calls LoadConnectionConfigFrom with these environment variables.
absl::StatusOr<ConnectionConfig> Load(const KubeconfigOptions& options,
                                      std::map<std::string, std::string> variables,
                                      const std::string& service_account = "/nonexistent") {
  ConfigEnvironment environment;
  environment.variable = [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  environment.service_account_directory = service_account;
  return LoadConnectionConfigFrom(options, environment);
}

// As Load, of the context's name.
std::string ContextOf(const KubeconfigOptions& options,
                      std::map<std::string, std::string> variables = {}) {
  ConfigEnvironment environment;
  environment.variable = [&](const char* name) { return variables[name]; };
  return CurrentContextFrom(options, environment).value();
}

}  // namespace

TEST_CASE("The context that a kubeconfig means by default is known by its name") {
  const tests::TempDirectory dir;
  dir.Write("config", Kubeconfig(kServer, "token: t"));
  dir.Write("empty", "");
  const std::string path = dir.path() + "/config";
  CHECK(ContextOf({path, ""}) == "main");
  CHECK(ContextOf({path, "other"}) == "other");
  CHECK(ContextOf({"", ""}, {{"KUBECONFIG", dir.path() + "/empty:" + path}}) == "main");
  CHECK(ContextOf({"", ""}, {{"KUBERNETES_SERVICE_HOST", "h"}, {"KUBERNETES_SERVICE_PORT", "1"}}) ==
        "");
}

TEST_CASE("A kubeconfig's cluster fields all arrive") {
  const auto config =
      ParseKubeconfig(Kubeconfig("server: 'https://example:6443/prefix', tls-server-name: other, "
                                 "proxy-url: 'http://p:1', certificate-authority-data: Q0E=",
                                 "token: t, as: somebody"),
                      "", "");
  REQUIRE(config.ok());
  CHECK(config->server == "https://example:6443/prefix");
  CHECK(config->tls_server_name == "other");
  CHECK(config->proxy_url == "http://p:1");
  CHECK(config->ca_pem == "CA");
  CHECK_FALSE(config->insecure_skip_tls_verify);
  CHECK(config->token == "t");
  CHECK(config->impersonate_user == "somebody");
}

TEST_CASE("PEM text that is unusable is traced to its cluster or user, and its file") {
  const tests::TempDirectory dir;
  dir.Write("ca.crt", "nonsense");
  struct Case {
    std::string cluster, user, want;
  };
  for (const Case& c :
       {Case{"certificate-authority: ca.crt", "token: t",
             absl::StrCat("cluster \"c\", file ", dir.path(), "/ca.crt: certificate authority: ")},
        Case{"certificate-authority-data: Q0E=", "token: t",
             "cluster \"c\", field certificate-authority-data: certificate authority: "},
        Case{"tls-server-name: s", "client-certificate: ca.crt, client-key: ca.crt",
             absl::StrCat("user \"u\", file ", dir.path(), "/ca.crt with file ", dir.path(),
                          "/ca.crt: client certificate: ")},
        Case{"tls-server-name: s", "client-certificate-data: Q0E=, client-key-data: Q0E=",
             "user \"u\", field client-certificate-data with field client-key-data: "}}) {
    const auto config =
        ParseKubeconfig(Kubeconfig(absl::StrCat(kServer, ", ", c.cluster), c.user), dir.path(), "");
    REQUIRE(config.ok());
    const absl::Status error = NewHttpTransport(*config).status();
    CHECK(absl::IsInvalidArgument(error));
    CHECK_THAT(std::string(error.message()),
               Catch::StartsWith(c.want) && Catch::EndsWith("no PEM block found"));
  }
}

TEST_CASE("A kubeconfig says whom to impersonate") {
  const auto config = ParseKubeconfig(
      Kubeconfig(kServer,
                 "as: somebody, as-uid: '7', as-groups: [a, 'b,c'], as-user-extra: {k/1: [v, w]}"),
      "", "");
  INFO(config.status());
  REQUIRE(config.ok());
  CHECK(config->impersonate_uid == "7");
  CHECK(config->impersonate_groups == std::vector<std::string>{"a", "b,c"});
  REQUIRE(config->impersonate_extra.size() == 1);
  CHECK(config->impersonate_extra[0].first == "k/1");
  CHECK(config->impersonate_extra[0].second == std::vector<std::string>{"v", "w"});

  const auto refused = ParseKubeconfig(Kubeconfig(kServer, "as-groups: [a]"), "", "");
  CHECK(absl::IsInvalidArgument(refused.status()));
  CHECK_THAT(std::string(refused.status().message()), Catch::Contains("as is missing"));
}

TEST_CASE("Connections that differ in their token alone are known as such") {
  ConnectionConfig a;
  a.server = "https://h";
  a.token = "one";
  ConnectionConfig b = a;
  b.default_namespace = "shop";
  CHECK(SameConnection(a, b));
  CHECK_FALSE(DifferOnlyInToken(a, b));
  b.token = "two";
  CHECK_FALSE(SameConnection(a, b));
  CHECK(DifferOnlyInToken(a, b));
  SECTION("but not when anything else differs") { b.ca_pem = "other"; }
  SECTION("but not when the roots are those of another file") { b.ca_file = "/other"; }
  SECTION("but not when there is no token any more") { b.token.clear(); }
  SECTION("but not when a file gives the token") { a.token_file = b.token_file = "/f"; }
  CHECK_FALSE(DifferOnlyInToken(a, b));
}

TEST_CASE("A context's namespace is reported, and copied") {
  const auto config = ParseKubeconfig(
      "contexts:\n- name: main\n  context: {cluster: c, namespace: shop}\n"
      "clusters:\n- name: c\n  cluster: {server: 'https://example:6443'}\n",
      "", "main");
  REQUIRE(config.ok());
  const ConnectionConfig copy = *config;
  CHECK(copy.default_namespace == "shop");
}

TEST_CASE("Each way to authenticate is read") {
  const tests::TempDirectory dir;
  dir.Write("keys/tls.crt", "CERT");
  dir.Write("keys/tls.key", "KEY");
  dir.Write("ca.crt", "FILE CA");
  auto parse = [&](const std::string& user, const std::string& cluster = kServer) {
    auto config = ParseKubeconfig(Kubeconfig(cluster, user), dir.path(), "");
    INFO(config.status());
    REQUIRE(config.ok());
    return *config;
  };

  SECTION("nothing") { CHECK(parse("").token.empty()); }
  SECTION("certificate inline") {
    const auto config = parse("client-certificate-data: Q0VSVA==, client-key-data: S0VZ");
    CHECK(config.client_certificate.cert_pem == "CERT");
    CHECK(config.client_certificate.key_pem == "KEY");
    CHECK(config.client_certificate_file.empty());
  }
  SECTION("certificate by file, relative to the kubeconfig, remembered for rotation") {
    const auto config = parse("client-certificate: keys/tls.crt, client-key: keys/tls.key");
    CHECK(config.client_certificate.cert_pem == "CERT");
    CHECK(config.client_certificate.key_pem == "KEY");
    CHECK(config.client_certificate_file == dir.path() + "/keys/tls.crt");
    CHECK(config.client_key_file == dir.path() + "/keys/tls.key");
  }
  SECTION("inline data wins over a file") {
    const auto config = parse(
        "client-certificate: gone, client-certificate-data: Q0VSVA==, client-key: keys/tls.key");
    CHECK(config.client_certificate.cert_pem == "CERT");
    CHECK(config.client_certificate_file.empty());
  }
  SECTION("CA by file") {
    const auto config = parse("", std::string(kServer) + ", certificate-authority: ca.crt");
    CHECK(config.ca_pem == "FILE CA");
    CHECK(config.ca_file == dir.path() + "/ca.crt");
  }
  SECTION("an inline CA wins over a file") {
    const auto config = parse("", std::string(kServer) +
                                      ", certificate-authority: ca.crt, "
                                      "certificate-authority-data: Q0E=");
    CHECK(config.ca_pem == "CA");
    CHECK(config.ca_file.empty());
  }
  SECTION("no verification") {
    CHECK(parse("", std::string(kServer) + ", insecure-skip-tls-verify: true")
              .insecure_skip_tls_verify);
  }
  SECTION("token file") { CHECK(parse("tokenFile: t").token_file == dir.path() + "/t"); }
  SECTION("basic") {
    const auto config = parse("username: name, password: pass");
    CHECK(config.username == "name");
    CHECK(config.password == "pass");
  }
  SECTION("exec plugin") {
    const auto config = parse(
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/plugin, args: [a, b], "
        "env: [{name: NAME, value: VALUE}], installHint: install it, provideClusterInfo: true, "
        "interactiveMode: IfAvailable}",
        std::string(kServer) +
            ", extensions: [{name: client.authentication.k8s.io/exec, extension: {x: 1}}]");
    REQUIRE(config.exec != nullptr);
    CHECK(config.exec->command == dir.path() + "/bin/plugin");
    CHECK(config.exec->args == std::vector<std::string>{"a", "b"});
    CHECK(config.exec->env == std::vector<std::pair<std::string, std::string>>{{"NAME", "VALUE"}});
    CHECK(config.exec->install_hint == "install it");
    CHECK(config.exec->provide_cluster_info);
    CHECK(config.exec->cluster_config["x"].AsInt() == 1);
    const ConnectionConfig copy = config;
    REQUIRE(copy.exec != nullptr);
    CHECK(copy.exec->command == config.exec->command);
  }
}

TEST_CASE("Unusable kubeconfigs are refused with context and field named, never with a secret") {
  struct Case {
    std::string cluster, user, want;
  };
  const std::string server = kServer;
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, ";
  for (const Case& c : {
           Case{"", "", "cluster \"c\": field server is missing"},
           Case{"server: example", "",
                "field server is \"example\", not an http:// or https:// URL"},
           Case{"server: 5", "", "field server is not a string"},
           Case{server + ", insecure-skip-tls-verify: maybe", "",
                "field insecure-skip-tls-verify is not true or false"},
           Case{server + ", insecure-skip-tls-verify: true, certificate-authority-data: Q0E=", "",
                "field certificate-authority contradicts"},
           Case{server + ", certificate-authority-data: '%%'", "",
                "field certificate-authority-data is not valid base64"},
           Case{server + ", certificate-authority: /nonexistent/ca", "",
                "field certificate-authority names a file: /nonexistent/ca does not exist"},
           Case{server, "client-certificate-data: c2VjcmV0",
                "user \"u\": field client-key is missing"},
           Case{server, "client-key-data: c2VjcmV0", "field client-certificate is missing"},
           Case{server, "client-key-data: 'secret!', client-certificate-data: QQ==",
                "field client-key-data is not valid base64"},
           Case{server, "auth-provider: {name: gcp}", "field auth-provider is no longer supported"},
           Case{server, "exec: {command: x}", "field exec.apiVersion is \"\""},
           Case{server, "exec: {apiVersion: client.authentication.k8s.io/v1}",
                "field exec.command is missing"},
           Case{server,
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: "
                "Always}",
                "field exec.interactiveMode is Always"},
           Case{server, exec + "interactiveMode: 5}", "field interactiveMode is not a string"},
           Case{server, exec + "args: [a, 5]}",
                "field exec.args holds something that is not a string"},
           Case{server, exec + "args: a}", "field exec.args is not a list"},
           Case{server, exec + "env: {name: A}}", "field exec.env is not a list"},
           Case{server, exec + "env: [A=b]}",
                "field exec.env holds something that is not a mapping"},
           Case{server, exec + "env: [{name: A, value: 5}]}",
                "field exec.env holds a name or a value that is not a string"},
           Case{server, exec + "env: [{name: true, value: secret}]}",
                "field exec.env holds a name or a value that is not a string"},
       }) {
    CAPTURE(c.cluster, c.user);
    const absl::Status error = ParseKubeconfig(Kubeconfig(c.cluster, c.user), "", "").status();
    CHECK(absl::IsInvalidArgument(error));
    CHECK_THAT(std::string(error.message()), Catch::Contains("context \"main\": "));
    CHECK_THAT(std::string(error.message()), Catch::Contains(c.want));
    CHECK_FALSE(absl::StrContains(error.message(), "secret"));
  }
}

TEST_CASE("Contexts, clusters and users that do not exist are named") {
  const std::string text = Kubeconfig(kServer, "");
  CHECK(ParseKubeconfig(text, "", "other").status().message() ==
        "context \"other\" does not exist");
  CHECK(ParseKubeconfig("kind: Config", "", "").status().message() == "current-context is not set");
  CHECK(ParseKubeconfig("{contexts: [{name: a, context: {cluster: x}}]}", "", "a")
            .status()
            .message() == "context \"a\": cluster \"x\" does not exist");
  CHECK_FALSE(ParseKubeconfig("[]", "", "").ok());
  CHECK_FALSE(ParseKubeconfig("kind: Pod", "", "").ok());
  CHECK_FALSE(ParseKubeconfig("a: [", "", "").ok());
  CHECK_FALSE(ParseKubeconfig("clusters: {}", "", "").ok());
}

TEST_CASE("Files of $KUBECONFIG are merged, the first definition wins, paths start at their file") {
  const tests::TempDirectory dir;
  const std::string first =
      dir.Write("one/config",
                "current-context: main\nusers: [{name: u, user: {tokenFile: t}}]\ncontexts: []\n");
  const std::string second = dir.Write("two/config", Kubeconfig(kServer, "tokenFile: other"));
  const auto config =
      Load({}, {{"KUBECONFIG", absl::StrCat("/nonexistent:", first, "::", second)}});
  INFO(config.status());
  REQUIRE(config.ok());
  CHECK(config->server == "https://example:6443");
  CHECK(config->token_file == dir.path() + "/one/t");

  // kubectl skips empty files of the list, too.
  const std::string empty = dir.Write("empty", "# nothing\n");
  CHECK(Load({}, {{"KUBECONFIG", absl::StrCat(empty, ":", first, ":", second)}}).ok());
  CHECK(absl::IsNotFound(Load({}, {{"KUBECONFIG", empty}}).status()));

  const absl::Status none = Load({}, {{"KUBECONFIG", "/nonexistent:/neither"}}).status();
  CHECK(absl::IsNotFound(none));
  CHECK_THAT(std::string(none.message()), Catch::Contains("/nonexistent:/neither"));
}

TEST_CASE("The flag comes before $KUBECONFIG, the pod's own account and ~/.kube/config") {
  const tests::TempDirectory dir;
  auto server = [&](const std::string& name) {
    return Kubeconfig(absl::StrCat("server: 'https://", name, "'"), "");
  };
  const std::string flag = dir.Write("flag", server("flag"));
  std::map<std::string, std::string> variables = {
      {"KUBECONFIG", dir.Write("env", server("env"))},
      {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
      {"KUBERNETES_SERVICE_PORT", "443"},
      {"HOME", dir.path()},
  };
  dir.Write(".kube/config", server("home"));
  dir.Write("account/token", "t");
  dir.Write("account/ca.crt", "CA");
  const std::string account = dir.path() + "/account";

  CHECK(Load({.path = flag}, variables, account)->server == "https://flag");
  CHECK(Load({}, variables, account)->server == "https://env");
  variables.erase("KUBECONFIG");
  const auto in_cluster = Load({}, variables, account);
  REQUIRE(in_cluster.ok());
  CHECK(in_cluster->server == "https://10.0.0.1:443");
  CHECK(in_cluster->token_file == account + "/token");
  CHECK(in_cluster->ca_pem == "CA");
  CHECK(in_cluster->ca_file == account + "/ca.crt");
  variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  CHECK(Load({}, variables, account)->server == "https://[fd00::1]:443");
  CHECK_THAT(std::string(Load({}, variables).status().message()),
             Catch::Contains("in-cluster configuration: /nonexistent/ca.crt"));
  variables.erase("KUBERNETES_SERVICE_HOST");
  CHECK(Load({}, variables)->server == "https://home");
  variables["HOME"] = "/nonexistent";
  const absl::Status none = Load({}, variables).status();
  CHECK(absl::IsNotFound(none));
  CHECK_THAT(std::string(none.message()), Catch::Contains("/nonexistent/.kube/config"));
}

TEST_CASE("A file that cannot be loaded is named") {
  const tests::TempDirectory dir;
  CHECK(absl::IsNotFound(Load({.path = "/nonexistent"}, {}).status()));
  CHECK(Load({.path = dir.path()}, {}).status() ==
        absl::InvalidArgumentError(
            absl::StrCat("kubeconfig ", dir.path(), " cannot be read: Is a directory")));
  for (const char* text : {"", "\n", "# nothing\n"}) {
    const std::string empty = dir.Write("empty", text);
    CHECK(Load({.path = empty}, {}).status() ==
          absl::InvalidArgumentError(absl::StrCat("kubeconfig ", empty, " is empty")));
  }
  const std::string broken = dir.Write("broken", Kubeconfig("", ""));
  CHECK_THAT(std::string(Load({.path = broken}, {}).status().message()),
             Catch::StartsWith("kubeconfig " + broken + ": context \"main\""));
}

}  // namespace kube
