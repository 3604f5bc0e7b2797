// The meaning of configurations, and the problems of bad ones.
#include "interpreter/webhook/configuration.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/tls.h"
#include "base/yaml.h"
#include "interpreter/webhook/failure.h"
#include "tests/interpreter/webhook/hooks.h"

namespace {

using interpreter::webhook::Configuration;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::KindPattern;
using interpreter::webhook::ReadConfiguration;
using tests::Operation;

constexpr char kInterpreterHead[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: conf}
webhooks:
)";
constexpr char kExploringHead[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceExploringWebhookConfiguration
metadata: {name: conf}
webhooks:
)";

Configuration Read(const std::string& text) {
  const auto document = yaml::Parse(text);
  INFO(document.status());
  REQUIRE(document.ok());
  return ReadConfiguration(kube::Object(*document));
}

// A valid webhook with some lines replaced.
struct Lines {
  std::string name = "name: a.example.com";
  std::string client = "clientConfig: {url: 'https://h:8443/p'}";
  std::string rule = "{operations: [Retain], apiGroups: [''], apiVersions: [v1], kinds: [Pod]}";
  std::string versions = "interpreterContextVersions: [v1alpha1]";
  std::string more = "timeoutSeconds: 3";

  std::string Text(const char* head = kInterpreterHead) const {
    return absl::StrCat(head, "- ", name, "\n  ", client, "\n  rules: [", rule, "]\n  ", versions,
                        "\n  ", more, "\n");
  }
};

}  // namespace

TEST_CASE("a webhook of the interpreter's configuration becomes a hook") {
  const Configuration read = Read(Lines().Text());
  CHECK(absl::StrJoin(read.problems, "\n") == "");
  REQUIRE(read.hooks.size() == 1);
  const Hook& hook = read.hooks[0];
  CHECK(hook.uid == "conf/a.example.com");
  CHECK(hook.configuration == "conf");
  CHECK(hook.dialect == Dialect::kInterpreterContext);
  CHECK(hook.client.server == "https://h:8443");
  CHECK(hook.client.path == "/p");
  CHECK(hook.timeout == absl::Seconds(3));
  CHECK(hook.unusable.ok());
  CHECK_FALSE(hook.ignores_failures);
  REQUIRE(hook.rules.size() == 1);
  CHECK(hook.rules[0].operations == std::vector<Operation>{Operation::kRetain});
  CHECK(hook.rules[0].kinds == KindPattern{{""}, {"v1"}, {"Pod"}});
}

TEST_CASE("an exploring webhook has resources, a scope and a failure policy") {
  Lines lines;
  lines.rule =
      "{operations: [ExplorePacking, ExploreHealthy], apiGroups: ['*'], apiVersions: ['*'], "
      "resources: [foos], scope: Cluster}";
  lines.versions = "exploreReviewVersions: [v2, v1alpha1]";
  lines.more = "failurePolicy: Ignore";
  const Configuration read = Read(lines.Text(kExploringHead));
  CHECK(absl::StrJoin(read.problems, "\n") == "");
  REQUIRE(read.hooks.size() == 1);
  const Hook& hook = read.hooks[0];
  CHECK(hook.dialect == Dialect::kExploreReview);
  CHECK(hook.ignores_failures);
  CHECK(hook.timeout == absl::Seconds(10));
  REQUIRE(hook.rules.size() == 1);
  CHECK(hook.rules[0].operations ==
        std::vector<Operation>{Operation::kInterpretHealth, Operation::kPrune});
  CHECK(hook.rules[0].kinds.resources == std::vector<std::string>{"foos"});
  CHECK(hook.rules[0].kinds.scope == KindPattern::Scope::kCluster);
}

TEST_CASE("a star stands for the operations that the dialect has") {
  Lines lines;
  lines.rule = "{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*']}";
  const Configuration read = Read(lines.Text());
  CHECK(read.problems.empty());
  CHECK(read.hooks[0].rules[0].operations == tests::OperationsOf(Dialect::kInterpreterContext));
  CHECK(tests::OperationsOf(Dialect::kInterpreterContext).size() == 8);  // All but Prune.
  CHECK(tests::OperationsOf(Dialect::kExploreReview).size() == 8);       // All but components.
}

TEST_CASE("a service has a path and port 443 unless it says otherwise") {
  Lines lines;
  lines.client = "clientConfig: {service: {namespace: ns, name: s, path: /a/b/}}";
  const Configuration read = Read(lines.Text());
  CHECK(read.problems.empty());
  const auto& client = read.hooks[0].client;
  REQUIRE(client.service.has_value());
  CHECK(client.service->ns == "ns");
  CHECK(client.service->name == "s");
  CHECK(client.service->port == 443);
  CHECK(client.path == "/a/b");
}

TEST_CASE("the CA bundle is PEM in base64") {
  const auto authority = tls::CertificateAuthority::Create("ca");
  REQUIRE(authority.ok());
  Lines lines;
  lines.client = absl::StrCat("clientConfig: {url: 'https://h', caBundle: ",
                              absl::Base64Escape((*authority)->cert_pem()), "}");
  const Configuration read = Read(lines.Text());
  CHECK(read.problems.empty());
  CHECK(read.hooks[0].client.ca_pem == (*authority)->cert_pem());
}

TEST_CASE(
    "what is wrong with a configuration is reported with its field, in the API server's words") {
  struct Case {
    Lines lines;
    const char* problem;
    bool usable = true;
    size_t rules = 1;
  };

  const auto client = [](const std::string& text) {
    return Lines{.client = absl::StrCat("clientConfig: {", text, "}")};
  };
  const auto rule = [](const std::string& text) { return Lines{.rule = text}; };
  const std::vector<Case> cases = {
      {{.name = "name: a"},
       R"(webhooks[0].name: Invalid value: "a": should be a domain with at least two segments separated by dots)"},
      {{.name = "name: A.example.com"},
       R"(webhooks[0].name: Invalid value: "A.example.com": a low)"},
      {client(""),
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
       false},
      {client("url: 'https://h', service: {name: a, namespace: b}"),
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
       false},
      {client("url: 'http://h/p'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[:port]/path)",
       false},
      {client("url: 'https:///p'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired)",
       false},
      {client("url: 'https://u@h/p'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "https://u@h/p": user information is not permitted in the URL)",
       false},
      {client("url: 'https://h/p#f'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "https://h/p#f": fragments are not permitted in the URL)",
       false},
      {client("url: 'https://h/p?q=1'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "https://h/p?q=1": query parameters are not permitted in the URL)",
       false},
      {client("url: 'https://h:99999/p'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "https://h:99999/p": url must be a valid URL)",
       false},
      {client("url: 'https://::1/p'"),
       R"(webhooks[0].clientConfig.url: Invalid value: "https://::1/p": url must be a valid URL)",
       false},
      {client("service: {namespace: ns}"),
       "webhooks[0].clientConfig.service.name: Required value: service name is required", false},
      {client("service: {name: s}"),
       "webhooks[0].clientConfig.service.namespace: Required value: service namespace is required",
       false},
      {client("service: {name: s, namespace: ns, port: 0}"),
       "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be "
       "between 1 and 65535, inclusive",
       false},
      {client("service: {name: s, namespace: ns, path: a}"),
       R"(webhooks[0].clientConfig.service.path: Invalid value: "a": must start with a '/')",
       false},
      {client("service: {name: s, namespace: ns, path: /a//b}"),
       R"(webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty)",
       false},
      {client("url: 'https://h', caBundle: '***'"),
       R"(webhooks[0].clientConfig.caBundle: Invalid value: "<ca bundle>": it is not base64)",
       false},
      {client("url: 'https://h', caBundle: aGVsbG8="),
       R"(webhooks[0].clientConfig.caBundle: Invalid value: "<ca bundle>": certificate authority)",
       false},
      {{.more = "timeoutSeconds: 31"},
       "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
       "seconds"},
      {{.more = "timeoutSeconds: 0"},
       "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 "
       "seconds"},
      {{.versions = "interpreterContextVersions: []"},
       "webhooks[0].interpreterContextVersions: Required value: must specify at least one of "
       "`v1alpha1`",
       false},
      {{.versions = "interpreterContextVersions: [v2]"},
       R"(webhooks[0].interpreterContextVersions: Invalid value: ["v2"]: must include at least one of v1alpha1)",
       false},
      {{.versions = "interpreterContextVersions: [v1alpha1, v1alpha1]"},
       R"(webhooks[0].interpreterContextVersions[1]: Duplicate value: "v1alpha1")"},
      {{.versions = "interpreterContextVersions: [v1alpha1, 1x]"},
       R"(webhooks[0].interpreterContextVersions[1]: Invalid value: "1x": a DNS-1035 label is required)"},
      {rule("{operations: [Prune], apiGroups: [''], apiVersions: [v1], kinds: [Pod]}"),
       R"(webhooks[0].rules[0].operations[0]: Unsupported value: "Prune": supported values: "*", "InterpretReplica", )",
       true, 0},
      {rule("{operations: ['*', Retain], apiGroups: [''], apiVersions: [v1], kinds: [Pod]}"),
       R"(webhooks[0].rules[0].operations: Invalid value: ["*","Retain"]: if '*' is present, must not specify other operations)"},
      {rule("{operations: [Retain], apiGroups: ['*', a], apiVersions: [v1], kinds: [Pod]}"),
       R"(webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups)"},
      {rule("{operations: [Retain], apiGroups: [''], apiVersions: [''], kinds: [Pod]}"),
       "webhooks[0].rules[0].apiVersions[0]: Required value"},
      {rule("{operations: [Retain], apiGroups: [''], apiVersions: [v1]}"),
       "webhooks[0].rules[0].kinds: Required value", true, 0},
      {rule("{apiGroups: [''], apiVersions: [v1], kinds: [Pod]}"),
       "webhooks[0].rules[0].operations: Required value", true, 0},
  };
  for (const Case& c : cases) {
    INFO(c.lines.Text());
    const Configuration read = Read(c.lines.Text());
    REQUIRE(read.problems.size() == 1);
    CHECK_THAT(read.problems[0], Catch::StartsWith(c.problem));
    REQUIRE(read.hooks.size() == 1);
    CHECK(read.hooks[0].unusable.ok() == c.usable);
    CHECK(read.hooks[0].rules.size() == c.rules);
  }
}

TEST_CASE("problems of exploring webhooks") {
  Lines lines;
  lines.rule =
      "{operations: [Retain], apiGroups: [''], apiVersions: [v1], resources: [pods], scope: Some}";
  lines.more = "failurePolicy: Maybe";
  const Configuration read = Read(lines.Text(kExploringHead));
  REQUIRE(read.problems.size() == 4);
  CHECK_THAT(
      read.problems[0],
      Catch::StartsWith(R"(webhooks[0].rules[0].operations[0]: Unsupported value: "Retain")"));
  CHECK(
      read.problems[1] ==
      R"(webhooks[0].rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced")");
  CHECK(
      read.problems[2] ==
      R"(webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore")");
  CHECK(
      read.problems[3] ==
      "webhooks[0].exploreReviewVersions: Required value: must specify at least one of `v1alpha1`");
  CHECK_FALSE(read.hooks[0].ignores_failures);
  CHECK(read.hooks[0].unusable.message() ==
        "could not create ExploreReview objects: webhook does not accept known ExploreReview "
        "versions (v1alpha1)");
}

TEST_CASE("a bad webhook does not take others down, nor does a bad operation its rule") {
  Lines good, bad, again;
  good.rule = "{operations: [Nonsense, Retain], apiGroups: [''], apiVersions: [v1], kinds: [Pod]}";
  bad.name = "name: b.example.com";
  bad.client = "clientConfig: {}";
  const Configuration read =
      Read(absl::StrCat(good.Text(), bad.Text(""), again.Text(""), "- rules: []\n"));
  // The webhooks with a repeated name and without a name are left out.
  REQUIRE(read.hooks.size() == 2);
  CHECK(read.hooks[0].unusable.ok());
  CHECK(read.hooks[0].rules[0].operations == std::vector<Operation>{Operation::kRetain});
  CHECK(read.hooks[1].uid == "conf/b.example.com");
  CHECK_FALSE(read.hooks[1].unusable.ok());
  CHECK_THAT(absl::StrJoin(read.problems, "\n"),
             Catch::Contains(R"(webhooks[2].name: Duplicate value: "a.example.com")") &&
                 Catch::Contains("webhooks[3].name: Required value"));
}

TEST_CASE("values of wrong types are problems, not crashes") {
  for (const char* webhooks :
       {"3", "[3]", "[null]", "{}", "[{name: 3, rules: 3, clientConfig: []}]",
        "[{name: a.b.c, rules: [3], timeoutSeconds: x, interpreterContextVersions: x}]",
        "[{name: a.b.c, clientConfig: {url: 3, caBundle: 3}, rules: [{operations: 3}]}]"}) {
    CAPTURE(webhooks);
    const auto read = Read(absl::StrCat(kInterpreterHead, "  ", webhooks));
    for (const Hook& hook : read.hooks) CHECK_FALSE(hook.unusable.ok());
  }
}
