#include "kube/kubeconfig/credentials.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "kube/kubeconfig/internal/exec_plugin.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_directory.h"

namespace kube {
namespace {

constexpr char kApi[] = "client.authentication.k8s.io/v1";

// Configures a plugin that records each run in `runs` and prints `status` with the run's number for
// "%N".
ConnectionConfig WithPlugin(const tests::TempDirectory& dir, const std::string& status) {
  ConnectionConfig config;
  config.server = "https://example";
  config.exec = std::make_unique<ExecPlugin>();
  config.exec->api_version = kApi;
  config.exec->install_hint = "see the manual";
  config.exec->command = dir.WriteScript(
      "plugin", absl::StrCat("echo run >> ", dir.path(), "/runs\n", "n=$(wc -l < ", dir.path(),
                             "/runs)\n", "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"",
                             kApi, "\",\"status\":", status, "}' | sed s/%N/$n/\n"));
  return config;
}

int RunsOf(const tests::TempDirectory& dir) {
  const std::string runs = base::ReadFile(dir.path() + "/runs").value_or("");
  return static_cast<int>(std::count(runs.begin(), runs.end(), '\n'));
}

struct Fixture {
  explicit Fixture(const ConnectionConfig& config)
      : source(*CredentialSource::Create(config, clock)) {}
  absl::StatusOr<CredentialsPtr> Get() {
    return source->Get(clock.SteadyNow() + absl::Seconds(20), {});
  }
  std::string Header() {
    const auto got = Get();
    return got.ok() ? (*got)->authorization : got.status().ToString();
  }
  tests::FakeClock clock;
  std::unique_ptr<CredentialSource> source;
};

}  // namespace

TEST_CASE("Static credentials become the Authorization header") {
  ConnectionConfig config;
  CHECK(Fixture(config).Header().empty());
  config.username = "n";
  config.password = "p:q";
  CHECK(Fixture(config).Header() == "Basic bjpwOnE=");
  config.token = "t";
  CHECK(Fixture(config).Header() == "Bearer t");
}

TEST_CASE("A token of the configuration can be replaced, one that comes from elsewhere cannot") {
  ConnectionConfig config;
  CHECK_FALSE(Fixture(config).source->ReplaceToken("t"));
  config.token = "one";
  {
    Fixture f(config);
    CHECK(f.Header() == "Bearer one");
    const auto before = *f.Get();
    CHECK(f.source->ReplaceToken("two"));
    CHECK(f.Header() == "Bearer two");
    CHECK((*f.Get())->tls == before->tls);  // Connections are kept.
    f.source->Reject(*f.Get());
    CHECK(f.Header() == "Bearer two");
    CHECK_FALSE(f.source->ReplaceToken(""));
  }
  config.token_file = "/nonexistent";
  CHECK_FALSE(Fixture(config).source->ReplaceToken("two"));
}

TEST_CASE("Impersonation becomes headers, one for each value") {
  ConnectionConfig config;
  config.impersonate_user = "u";
  config.impersonate_uid = "7";
  config.impersonate_groups = {"a", "b"};
  config.impersonate_extra = {{"example.org/k", {"v"}}};
  using Headers = std::vector<std::pair<std::string, std::string>>;
  CHECK(ImpersonationHeaders(config) == Headers{{"Impersonate-User", "u"},
                                                {"Impersonate-Uid", "7"},
                                                {"Impersonate-Group", "a"},
                                                {"Impersonate-Group", "b"},
                                                {"Impersonate-Extra-example.org%2fk", "v"}});
}

TEST_CASE("A token file is read again after ten seconds, or at once when the token is refused") {
  const tests::TempDirectory dir;
  ConnectionConfig config;
  config.token = "static";
  config.token_file = dir.Write("token", " one\n");
  Fixture f(config);
  CHECK(f.Header() == "Bearer one");
  dir.Write("token", "two");
  CHECK(f.Header() == "Bearer one");
  f.clock.Advance(absl::Seconds(10));
  CHECK(f.Header() == "Bearer two");
  dir.Write("token", "three");
  f.source->Reject(*f.Get());
  CHECK(f.Header() == "Bearer three");
}

TEST_CASE("Equal credentials are the same object, so a caller sees that a retry is useless") {
  const tests::TempDirectory dir;
  ConnectionConfig config;
  config.token_file = dir.Write("token", "one");
  Fixture f(config);
  const CredentialsPtr first = *f.Get();
  f.source->Reject(first);
  CHECK(*f.Get() == first);
}

TEST_CASE("A token file that vanishes later does not take the token away") {
  const tests::TempDirectory dir;
  ConnectionConfig config;
  config.token_file = dir.Write("token", "one");
  Fixture f(config);
  CHECK(f.Header() == "Bearer one");
  std::filesystem::remove(config.token_file);
  f.clock.Advance(absl::Seconds(11));
  CHECK(f.Header() == "Bearer one");
}

TEST_CASE("A token file that cannot be read at first is an authentication error that names it") {
  ConnectionConfig config;
  config.token_file = "/nonexistent/token";
  Fixture f(config);
  CHECK(absl::IsUnauthenticated(f.Get().status()));
  CHECK_THAT(std::string(f.Get().status().message()), Catch::Contains("/nonexistent/token"));
}

TEST_CASE("A plugin runs once until what it gave expires") {
  const tests::TempDirectory dir;
  // Unix second 1700003600 is an hour after the fake clock's start.
  Fixture f(WithPlugin(dir, R"({"token":"t%N","expirationTimestamp":"2023-11-14T23:13:20Z"})"));
  CHECK(f.Header() == "Bearer t1");
  f.clock.Advance(absl::Minutes(59));
  CHECK(f.Header() == "Bearer t1");
  f.clock.Advance(absl::Minutes(1));
  CHECK(f.Header() == "Bearer t2");
}

TEST_CASE("A plugin runs again when its token is refused, but not for every refusal") {
  const tests::TempDirectory dir;
  Fixture f(WithPlugin(dir, R"({"token":"t%N"})"));
  CHECK(f.Header() == "Bearer t1");
  f.source->Reject(*f.Get());
  CHECK(f.Header() == "Bearer t2");
  f.source->Reject(*f.Get());
  CHECK(f.Header() == "Bearer t2");
  f.clock.Advance(absl::Seconds(5));
  f.source->Reject(*f.Get());
  CHECK(f.Header() == "Bearer t3");
}

TEST_CASE("Many callers share one run of the plugin") {
  const tests::TempDirectory dir;
  Fixture f(WithPlugin(dir, R"({"token":"t%N"})"));
  std::vector<std::string> headers(8);
  std::vector<std::thread> threads;
  for (std::string& header : headers) threads.emplace_back([&] { header = f.Header(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(headers == std::vector<std::string>(8, "Bearer t1"));
  CHECK(RunsOf(dir) == 1);
}

TEST_CASE("A failing plugin is named with its exit code and hint, and left alone for a moment") {
  const tests::TempDirectory dir;
  ConnectionConfig config = WithPlugin(dir, "{}");
  config.exec->command = dir.WriteScript(
      "plugin", absl::StrCat("echo run >> ", dir.path(), "/runs\necho secret\nexit 3\n"));
  Fixture f(config);
  const absl::Status error = f.Get().status();
  CHECK(absl::IsUnauthenticated(error));
  CHECK(error.message() ==
        absl::StrCat("exec plugin ", config.exec->command, ": exit code 3; see the manual"));
  CHECK_FALSE(f.Get().ok());
  CHECK(RunsOf(dir) == 1);
  f.clock.Advance(absl::Seconds(3));
  CHECK_FALSE(f.Get().ok());
  CHECK(RunsOf(dir) == 2);
}

TEST_CASE("A plugin that does not end is killed, with what it started") {
  const tests::TempDirectory dir;
  ConnectionConfig config = WithPlugin(dir, "{}");
  config.exec->command = dir.WriteScript("plugin", "sleep 100 &\nsleep 100\n");
  const absl::Time before = absl::Now();
  const absl::Status late = RunExecPlugin(config, absl::Milliseconds(50), {}).status();
  CHECK(absl::IsUnauthenticated(late));
  CHECK_THAT(std::string(late.message()), Catch::Contains("no end after 50ms"));
  base::StopSource stop;
  stop.request_stop();
  CHECK(absl::IsCancelled(RunExecPlugin(config, absl::Seconds(30), stop.get_token()).status()));
  CHECK(absl::Now() - before < absl::Seconds(25));
}

TEST_CASE("A plugin that is not there is an error, not a crash") {
  const tests::TempDirectory dir;
  ConnectionConfig config = WithPlugin(dir, "{}");
  config.exec->command = "/nonexistent/plugin";
  CHECK_THAT(std::string(RunExecPlugin(config, absl::Seconds(5), {}).status().message()),
             Catch::Contains("no such program"));
}

TEST_CASE("A plugin gets its arguments, its environment, and the cluster when it asks for it") {
  const tests::TempDirectory dir;
  ConnectionConfig config = WithPlugin(dir, "{}");
  config.ca_pem = "CA";
  config.exec->provide_cluster_info = true;
  config.exec->cluster_config = json::Value::Object({{"x", 1}});
  config.exec->args = {"a b"};
  config.exec->env = {{"EXTRA", "e"}};
  config.exec->command = dir.WriteScript(
      "plugin", absl::StrCat("printf '%s' \"$KUBERNETES_EXEC_INFO\" > ", dir.path(), "/info\n",
                             "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"", kApi,
                             "\",\"status\":{\"token\":\"'\"$1-$EXTRA\"'\"}}'\n"));
  const auto credential = RunExecPlugin(config, absl::Seconds(10), {});
  INFO(credential.status());
  REQUIRE(credential.ok());
  CHECK(credential->token == "a b-e");
  CHECK(
      base::ReadFile(dir.path() + "/info").value() ==
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":)"
      R"({"certificate-authority-data":"Q0E=","config":{"x":1},"server":"https://example"},)"
      R"("interactive":false}})");
}

TEST_CASE("Only a complete ExecCredential of the right version is taken") {
  auto parse = [](const std::string& rest) {
    return ParseExecCredential(
        absl::StrCat(R"({"kind":"ExecCredential","apiVersion":")", kApi, "\",", rest, "}"), kApi);
  };
  const auto full =
      parse(R"("status":{"token":"t","clientCertificateData":"c","clientKeyData":"k",)"
            R"("expirationTimestamp":"2023-11-14T23:13:20Z"})");
  REQUIRE(full.ok());
  CHECK(full->certificate.cert_pem == "c");
  CHECK(full->expires == absl::FromUnixSeconds(1'700'003'600));
  for (const char* rest :
       {R"("status":{})", R"("status":null)", R"("status":{"clientKeyData":"secret"})",
        R"("status":{"token":"secret","expirationTimestamp":"soon"})"}) {
    CAPTURE(rest);
    CHECK(absl::IsInvalidArgument(parse(rest).status()));
    CHECK_FALSE(absl::StrContains(parse(rest).status().message(), "secret"));
  }
  CHECK_FALSE(ParseExecCredential("token: secret", kApi).ok());
  CHECK_FALSE(ParseExecCredential(R"({"kind":"ExecCredential","apiVersion":"v2"})", kApi).ok());
  CHECK_FALSE(ParseExecCredential(R"({"kind":"Pod"})", kApi).ok());
}

TEST_CASE("Unusable certificates are refused when the source is made") {
  ConnectionConfig config;
  config.ca_pem = "nonsense";
  tests::FakeClock clock;
  CHECK(absl::IsInvalidArgument(CredentialSource::Create(config, clock).status()));
}

TEST_CASE("Certificates read from files are renewed, and only then are connections made again") {
  const tests::TempDirectory dir;
  const auto authority = *tls::CertificateAuthority::Create("test");
  const tls::KeyPair first = *authority->Issue({.common_name = "one"});
  const tls::KeyPair second = *authority->Issue({.common_name = "two"});
  ConnectionConfig config;
  config.client_certificate = first;
  config.client_certificate_file = dir.Write("crt", first.cert_pem);
  config.client_key_file = dir.Write("key", first.key_pem);
  Fixture f(config);
  const CredentialsPtr before = *f.Get();
  f.clock.Advance(absl::Seconds(11));
  CHECK((*f.Get())->tls == before->tls);
  dir.Write("crt", second.cert_pem);
  f.clock.Advance(absl::Seconds(11));
  CHECK((*f.Get())->tls == before->tls);  // Certificate and key do not match yet.
  dir.Write("key", second.key_pem);
  f.clock.Advance(absl::Seconds(11));
  CHECK((*f.Get())->tls != before->tls);
  CHECK((*f.Get())->certificate.cert_pem == second.cert_pem);
}

TEST_CASE("Authorities that a file names are read again, and those that work are kept") {
  const tests::TempDirectory dir;
  const std::string first = (*tls::CertificateAuthority::Create("first"))->cert_pem();
  const std::string second = (*tls::CertificateAuthority::Create("second"))->cert_pem();
  ConnectionConfig config;
  config.ca_file = dir.Write("ca.crt", first);
  config.ca_pem = first;
  Fixture f(config);
  const CredentialsPtr before = *f.Get();
  CHECK(before->ca_pem == first);
  CHECK(f.source->GetIfFresh() == before);

  f.clock.Advance(absl::Seconds(11));
  CHECK(f.source->GetIfFresh() == nullptr);  // Reading a file may block.
  CHECK(*f.Get() == before);

  dir.Write("ca.crt", second);
  CHECK(*f.Get() == before);
  f.clock.Advance(absl::Seconds(11));
  const CredentialsPtr after = *f.Get();
  CHECK(after->ca_pem == second);
  CHECK(after->tls != before->tls);

  dir.Write("ca.crt", "half a certific");
  f.clock.Advance(absl::Seconds(11));
  CHECK(*f.Get() == after);
  std::filesystem::remove(config.ca_file);
  f.clock.Advance(absl::Seconds(11));
  CHECK(*f.Get() == after);
  dir.Write("ca.crt", first);
  f.clock.Advance(absl::Seconds(11));
  CHECK((*f.Get())->ca_pem == first);
}

TEST_CASE("A file of authorities is no reason to run a plugin again, nor to forget a refusal") {
  const tests::TempDirectory dir;
  const std::string first = (*tls::CertificateAuthority::Create("first"))->cert_pem();
  const std::string second = (*tls::CertificateAuthority::Create("second"))->cert_pem();
  ConnectionConfig config = WithPlugin(dir, R"({"token":"t%N"})");
  config.ca_file = dir.Write("ca.crt", first);
  config.ca_pem = first;
  Fixture f(config);
  CHECK(f.Header() == "Bearer t1");
  dir.Write("ca.crt", second);
  f.clock.Advance(absl::Seconds(11));
  const CredentialsPtr after = *f.Get();
  CHECK(after->ca_pem == second);
  CHECK(after->authorization == "Bearer t1");
  CHECK(RunsOf(dir) == 1);
  f.source->Reject(after);
  CHECK(f.Header() == "Bearer t2");
  CHECK((*f.Get())->ca_pem == second);
}

}  // namespace kube
