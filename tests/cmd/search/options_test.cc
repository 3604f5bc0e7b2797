// The command line of karmada-search.
#include "cmd/search/options.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace cmd {
namespace {

ParsedSearchFlags Parse(std::vector<const char*> words, bool with_etcd = true) {
  words.insert(words.begin(), "karmada-search");
  if (with_etcd) words.push_back("--etcd-servers=https://etcd:2379");
  return ParseSearchFlags(static_cast<int>(words.size()), words.data());
}

TEST_CASE("the arguments of upstream's chart are accepted") {
  const ParsedSearchFlags parsed = Parse(
      {"--kubeconfig=/etc/kubeconfig", "--authentication-kubeconfig=/etc/kubeconfig",
       "--authorization-kubeconfig=/etc/kubeconfig", "--etcd-cafile=/etc/etcd/pki/server-ca.crt",
       "--etcd-certfile=/etc/etcd/pki/karmada.crt", "--etcd-keyfile=/etc/etcd/pki/karmada.key",
       "--tls-cert-file=/etc/kubernetes/pki/karmada.crt",
       "--tls-private-key-file=/etc/kubernetes/pki/karmada.key", "--audit-log-path=-",
       "--audit-log-maxage=0", "--audit-log-maxbackup=0", "--tls-min-version=VersionTLS13",
       "--tls-curve-preferences=29,23", "--v=2", "--bind-address=10.0.0.7"});
  CAPTURE(parsed.output);
  REQUIRE_FALSE(parsed.exit_code.has_value());
  const SearchOptions& o = parsed.options;
  CHECK(o.kubeconfig == "/etc/kubeconfig");
  CHECK(o.serving.only_tls13);
  CHECK(o.serving.tls_groups == "X25519:P-256");
  CHECK(ListenAddressOf(o.serving) == "10.0.0.7:443");
  CHECK(o.storage.etcd_servers == std::vector<std::string>{"https://etcd:2379"});
  CHECK(o.logging.verbosity == 2);
  // Upstream writes nothing either without a policy.
  REQUIRE(o.warnings.size() == 1);
  CHECK_THAT(o.warnings[0], Catch::StartsWith("--audit-log-path has no effect without"));
}

TEST_CASE("flags without effect are answered by a warning") {
  const ParsedSearchFlags parsed =
      Parse({"--enable-priority-and-fairness", "--watch-cache=true", "--profiling=false",
             "--feature-gates=WatchList=false", "--etcd-compaction-interval=0"});
  REQUIRE_FALSE(parsed.exit_code.has_value());
  REQUIRE(parsed.options.warnings.size() == 2);
  CHECK_THAT(parsed.options.warnings[0],
             Catch::StartsWith("--enable-priority-and-fairness=true has no effect: "));
  CHECK_THAT(parsed.options.warnings[1], Catch::StartsWith("--feature-gates=WatchList=false has"));
}

TEST_CASE("all of upstream's flags about the streams of logs are known") {
  const ParsedSearchFlags parsed =
      Parse({"--log-json-split-stream", "--log-json-info-buffer-size=1Mi",
             "--log-text-split-stream", "--log-text-info-buffer-size=1Mi"});
  CAPTURE(parsed.output);
  REQUIRE_FALSE(parsed.exit_code.has_value());
  CHECK(parsed.options.warnings.size() == 4);
  CHECK(Parse({"--log-json-split-stream=false", "--log-json-info-buffer-size=0"})
            .options.warnings.empty());
}

TEST_CASE("flags that others leave without are answered by a warning") {
  const auto warnings = [](std::vector<const char*> words) {
    const ParsedSearchFlags parsed = Parse(std::move(words));
    CAPTURE(parsed.output);
    REQUIRE_FALSE(parsed.exit_code.has_value());
    return parsed.options.warnings;
  };
  // Parse gives --etcd-servers.
  CHECK(warnings({"--registry-storage=custom-resources", "--etcd-prefix=/p"}) ==
        std::vector<std::string>{
            "--etcd-servers has no effect with --registry-storage=custom-resources",
            "--etcd-prefix has no effect with --registry-storage=custom-resources"});
  CHECK(warnings({"--audit-level=Metadata", "--audit-log-maxsize=5"}) ==
        std::vector<std::string>{"--audit-log-maxsize has no effect without --audit-log-path",
                                 "--audit-level=Metadata has no effect without --audit-log-path"});
  const std::vector<std::string> headers = warnings({"--requestheader-group-headers=X-Group"});
  REQUIRE(headers.size() == 1);
  CHECK_THAT(headers[0], Catch::StartsWith("--requestheader-group-headers has no effect without "
                                           "--requestheader-client-ca-file"));
  CHECK(warnings({"--requestheader-group-headers=X-Group", "--requestheader-client-ca-file=/ca"})
            .empty());
  CHECK(warnings({"--audit-level=Metadata", "--audit-log-path=-"}).empty());
}

TEST_CASE("flags on which somebody may rely are refused with the reason") {
  for (const auto& [flag, reason] : std::vector<std::pair<const char*, const char*>>{
           {"--audit-policy-file=/p.yaml", "policies are not evaluated"},
           {"--audit-webhook-config-file=/w", "audit events are written to a file only"},
           {"--encryption-provider-config=/e", "would be stored without encryption"},
           {"--cors-allowed-origins=.*", "browsers get no answers from other origins"},
           {"--tls-cipher-suites=TLS_AES_128_GCM_SHA256", "the suites cannot be chosen"},
           {"--storage-media-type=application/vnd.kubernetes.protobuf", "application/json"},
           {"--tls-curve-preferences=29,1", "no group for exchanging keys of number 1"},
           {"--tls-curve-preferences=29,23,29", "the group 29 is there twice"},
           {"--tls-min-version=VersionTLS10", "is neither VersionTLS12 nor VersionTLS13"}}) {
    CAPTURE(flag);
    const ParsedSearchFlags parsed = Parse({flag});
    CHECK(parsed.exit_code == 2);
    CHECK_THAT(parsed.output, Catch::Contains(reason));
  }
}

TEST_CASE("values that cannot be used are refused") {
  for (const char* flag : {"--secure-port=70000",
                           "--secure-port=x",
                           "--tls-cert-file=/c",
                           "--etcd-keyfile=/k",
                           "--request-timeout=0s",
                           "--goaway-chance=0.5",
                           "--shutdown-delay-duration=-1s",
                           "--max-requests-inflight=-1",
                           "--max-connections=0",
                           "--server-threads=-1",
                           "--watch-history=-1s",
                           "--watch-history-mebibytes=-1",
                           "--cluster-memory-mib=-1",
                           "--audit-level=Request",
                           "--registry-storage=files",
                           "--vmodule=x",
                           "--audit-log-maxage=-1",
                           "--audit-log-maxbackup=-1",
                           "--feature-gates=WatchList",
                           "--feature-gates=ComponentStatusz=maybe",
                           "--emulated-version=kube=1.20",
                           "--emulated-version=newest",
                           "--emulated-karmada-version=v1.17",
                           "--etcd-compaction-interval=soon",
                           "--no-such-flag"}) {
    CAPTURE(flag);
    CHECK(Parse({flag}).exit_code == 2);
  }
  CHECK(Parse({}, false).exit_code == 2);
  CHECK_FALSE(Parse({"--registry-storage=custom-resources"}, false).exit_code.has_value());
}

TEST_CASE("the flags that klog has since v1.19 are accepted, and what they do not do is said") {
  const ParsedSearchFlags usual = Parse({"--legacy-stderr-threshold-behavior=true"});
  REQUIRE_FALSE(usual.exit_code.has_value());
  CHECK(usual.options.warnings.empty());
  const ParsedSearchFlags other =
      Parse({"--legacy_stderr_threshold_behavior=false", "--stderrthreshold=ERROR",
             "--alsologtostderrthreshold=WARNING"});
  REQUIRE_FALSE(other.exit_code.has_value());
  CHECK(other.options.warnings.size() == 3);
}

TEST_CASE("renamed files of the audit log are kept as the release has it, or as the flags say") {
  const auto kept = [](std::vector<const char*> words, config::Release release) {
    ParsedSearchFlags parsed = Parse(std::move(words));
    REQUIRE_FALSE(parsed.exit_code.has_value());
    parsed.options.Emulate(release);
    const AuditOptions& audit = parsed.options.audit;
    CHECK(audit.max_megabytes == 100);
    return std::pair(*audit.max_files, *audit.max_age_days);
  };
  using config::Release;
  CHECK(kept({}, Release::kV1_18) == std::pair(0, 0));
  CHECK(kept({}, Release::kV1_19) == std::pair(100, 366));
  const std::vector<const char*> given = {"--audit-log-path=-", "--audit-level=Metadata",
                                          "--audit-log-maxbackup=0", "--audit-log-maxage=7"};
  CHECK(kept(given, Release::kV1_18) == std::pair(0, 7));
  CHECK(kept(given, Release::kV1_19) == std::pair(0, 7));
}

TEST_CASE("gates of Kubernetes that switch what is here follow the release and the flags") {
  using config::Release;
  struct Expected {
    bool in_v1_18, in_v1_19;
  };
  const auto check = [](std::vector<const char*> words, Expected impersonation, Expected statusz) {
    const ParsedSearchFlags parsed = Parse(std::move(words));
    CAPTURE(parsed.output);
    REQUIRE_FALSE(parsed.exit_code.has_value());
    const KubernetesGates& gates = parsed.options.gates;
    CHECK(gates.ConstrainedImpersonation(Release::kV1_18) == impersonation.in_v1_18);
    CHECK(gates.ConstrainedImpersonation(Release::kV1_19) == impersonation.in_v1_19);
    CHECK(gates.ComponentStatusz(Release::kV1_18) == statusz.in_v1_18);
    CHECK(gates.ComponentStatusz(Release::kV1_19) == statusz.in_v1_19);
    return parsed.options.warnings;
  };
  CHECK(check({}, {false, true}, {false, true}).empty());
  CHECK(check({"--feature-gates=kube:ConstrainedImpersonation=false",
               "--feature-gates=ComponentStatusz=true"},
              {false, false}, {true, true})
            .empty());
  CHECK(check({"--feature-gates=AllBeta=false,ComponentStatusz=true"}, {false, false}, {true, true})
            .empty());
  CHECK(check({"--feature-gates=AllAlpha=true"}, {true, true}, {true, true}).empty());
  const auto emulated = check({"--emulated-version=kube=1.35"}, {false, false}, {false, false});
  REQUIRE(emulated.size() == 1);
  CHECK_THAT(emulated[0], Catch::Contains("decides about the gates ConstrainedImpersonation"));
  CHECK(check({"--emulated-version=1.36"}, {false, true}, {false, true}).size() == 1);
  const auto renamed = check({"--feature-gates=DeclarativeValidationBeta=true,"
                              "DeclarativeValidationTakeover=false,NativeHistograms=true",
                              "--min-compatibility-version=kube=1.35"},
                             {false, true}, {false, true});
  REQUIRE(renamed.size() == 2);
  CHECK_THAT(renamed[0], Catch::StartsWith("--min-compatibility-version=kube=1.35 has no effect"));
  CHECK_THAT(renamed[1], Catch::StartsWith("--feature-gates=DeclarativeValidationBeta=true,"
                                           "DeclarativeValidationTakeover=false,"
                                           "NativeHistograms=true has no effect"));
}

TEST_CASE("names of header fields are compared in lower case") {
  const ParsedSearchFlags parsed = Parse({"--requestheader-username-headers=X-Remote-User,X-User"});
  CHECK(parsed.options.delegation.authentication.requestheader_names.user ==
        std::vector<std::string>{"x-remote-user", "x-user"});
  CHECK(ListenAddressOf({.bind_address = "::", .secure_port = 1}) == "[::]:1");
}

TEST_CASE("help names the flags that have an effect") {
  const ParsedSearchFlags help = Parse({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.output, Catch::Contains("--authorize-cached-reads"));
  CHECK_THAT(help.output, Catch::Contains("--require-complete-answers"));
  CHECK_THAT(help.output, !Catch::Contains("--watch-cache-sizes"));
}

}  // namespace
}  // namespace cmd
