// Whom the server believes: the ConfigMap of the cluster and the flags' files, followed live.
#include "kube/aggregation/authentication_config.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/temp_directory.h"

namespace kube::aggregation {
namespace {

using tests::Eventually;

const Resource kConfigMaps{.gvk = {.group = "", .version = "v1", .kind = "ConfigMap"},
                           .plural = "configmaps"};

std::string NewCa() {
  const auto authority = tls::CertificateAuthority::Create("ca");
  REQUIRE(authority.ok());
  return (*authority)->cert_pem();
}

json::Value Data(const std::string& clients, const std::string& proxies) {
  return json::Value::Object({{"client-ca-file", clients},
                              {"requestheader-client-ca-file", proxies},
                              {"requestheader-username-headers", R"(["X-Remote-User"])"},
                              {"requestheader-uid-headers", R"(["X-Remote-Uid"])"},
                              {"requestheader-group-headers", R"(["X-Remote-Group"])"},
                              {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"},
                              {"requestheader-allowed-names", R"(["front-proxy-client"])"}});
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  base::StopSource stop;
  std::unique_ptr<AuthenticationSource> source;

  void Put(const json::Value& data) {
    Object object(json::Value::Object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}}));
    object.Set({"metadata", "namespace"}, "kube-system");
    object.Set({"metadata", "name"}, "extension-apiserver-authentication");
    object.Set({"data"}, data);
    server->Put(kConfigMaps, object);
  }
  absl::Status Start(const AuthenticationOptions& options, bool with_client = true) {
    auto started = AuthenticationSource::Start(options, with_client ? &client : nullptr, clock,
                                               stop.get_token());
    if (!started.ok()) return started.status();
    source = *std::move(started);
    return absl::OkStatus();
  }
};

TEST_CASE("the ConfigMap names the authorities, and what changes in it counts") {
  Fixture f;
  f.Put(Data(NewCa(), NewCa()));
  REQUIRE(f.Start({}).ok());
  const auto first = f.source->Get();
  REQUIRE(first->clients != nullptr);
  REQUIRE(first->front_proxies.has_value());
  CHECK(first->header_names().user == std::vector<std::string>{"x-remote-user"});
  CHECK(first->header_names().uid == std::vector<std::string>{"x-remote-uid"});
  CHECK(first->front_proxies->allowed_names == std::vector<std::string>{"front-proxy-client"});
  REQUIRE(f.server->AwaitWatches(1));
  const auto looked_up = f.source->Get();

  f.Put(Data(NewCa(), NewCa()));
  CHECK(Eventually([&] { return f.source->Get()->clients != looked_up->clients; }));

  // Only this one object is asked for, so that a role for it is enough.
  for (const std::string& request : f.server->Requests()) {
    CHECK(request.find("/namespaces/kube-system/configmaps?") != std::string::npos);
    CHECK(request.find("fieldSelector=metadata.name%3Dextension-apiserver-authentication") !=
          std::string::npos);
  }
}

TEST_CASE("content that cannot be used, and a ConfigMap that is gone, change nothing") {
  Fixture f;
  f.Put(Data(NewCa(), NewCa()));
  REQUIRE(f.Start({}).ok());
  REQUIRE(f.server->AwaitWatches(1));
  const auto before = f.source->Get();
  f.Put(Data("garbage", "-----BEGIN CERTIFICATE-----"));
  // Each application makes a new object, with the parts that could not be replaced.
  REQUIRE(Eventually([&] { return f.source->Get() != before; }));
  CHECK(f.source->Get()->clients == before->clients);
  CHECK(f.source->Get()->front_proxies->authority == before->front_proxies->authority);
  f.server->Erase(kConfigMaps, {"kube-system", "extension-apiserver-authentication"});
  f.Put(Data(NewCa(), NewCa()));
  CHECK(Eventually([&] { return f.source->Get()->clients != before->clients; }));
}

TEST_CASE("a watch that ends is followed by another lookup") {
  Fixture f;
  f.Put(Data(NewCa(), NewCa()));
  REQUIRE(f.Start({}).ok());
  REQUIRE(f.server->AwaitWatches(1));
  const auto before = f.source->Get();
  f.server->EndWatches(absl::OkStatus());
  f.Put(Data(NewCa(), NewCa()));
  CHECK(Eventually([&] {
    f.clock.Advance(absl::Seconds(1));
    return f.source->Get()->clients != before->clients;
  }));
}

TEST_CASE("a ConfigMap that is missing, or lacks something, is fatal unless that is tolerated") {
  Fixture f;
  const absl::Status missing = f.Start({});
  CHECK(absl::IsNotFound(missing));
  CHECK(missing.message() ==
        "looking up the authentication configuration: ConfigMap "
        "kube-system/extension-apiserver-authentication does not exist");

  json::Value data = Data(NewCa(), NewCa());
  data.Set("requestheader-username-headers", "X-Remote-User");
  f.Put(data);
  CHECK(f.Start({}).message() ==
        "looking up the authentication configuration: ConfigMap "
        "kube-system/extension-apiserver-authentication: the key requestheader-username-headers "
        "is not a JSON list of strings");

  AuthenticationOptions tolerant;
  tolerant.tolerate_lookup_failure = true;
  REQUIRE(f.Start(tolerant).ok());
  CHECK_FALSE(f.source->Get()->front_proxies.has_value());
  // What comes later counts; upstream would have to be restarted.
  f.Put(Data(NewCa(), NewCa()));
  CHECK(Eventually([&] {
    f.clock.Advance(absl::Seconds(10));
    return f.source->Get()->front_proxies.has_value();
  }));
}

TEST_CASE("files take precedence, are read again, and without lookup are all there is") {
  tests::TempDirectory directory;
  Fixture f;
  AuthenticationOptions options;
  options.client_ca_file = directory.Write("ca.crt", NewCa());
  options.requestheader_client_ca_file = directory.Write("proxy.crt", NewCa());
  options.requestheader_names.user = {"X-User", " x-other "};
  options.skip_lookup = true;
  REQUIRE(f.Start(options).ok());
  const auto before = f.source->Get();
  REQUIRE(before->clients != nullptr);
  CHECK(before->header_names().user == std::vector<std::string>{"x-user", "x-other"});
  directory.Write("ca.crt", NewCa());
  CHECK(Eventually([&] {
    f.clock.Advance(absl::Minutes(1));
    return f.source->Get()->clients != before->clients;
  }));
  const auto now = f.source->Get();
  directory.Write("ca.crt", "garbage");
  f.clock.AdvanceAndAwait(absl::Minutes(1));
  CHECK(f.source->Get()->clients != nullptr);
  CHECK(f.server->Requests().empty());
}

TEST_CASE("unusable flags are named") {
  Fixture f;
  AuthenticationOptions options;
  options.client_ca_file = "/does/not/exist";
  CHECK(f.Start(options).message() == "--client-ca-file: /does/not/exist does not exist");
  options = {};
  options.requestheader_names.group = {"x-group", " "};
  CHECK(f.Start(options).message() == "--requestheader-group-headers: empty value");
  options = {};
  options.requestheader_allowed_names = {"a"};
  CHECK(f.Start(options).message() ==
        "--requestheader-allowed-names needs --requestheader-client-ca-file");
}

TEST_CASE("without a client nothing is looked up, and nobody is believed") {
  Fixture f;
  REQUIRE(f.Start({}, /*with_client=*/false).ok());
  CHECK(f.source->Get()->clients == nullptr);
  CHECK_FALSE(f.source->Get()->front_proxies.has_value());
}

}  // namespace
}  // namespace kube::aggregation
