// Where the arguments of a running controller manager are found.
#include "lens/preflight/arguments.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/yaml.h"

namespace tests {
namespace {

using Catch::Contains;
using lens::preflight::Arguments;
using lens::preflight::ArgumentsOf;
using lens::preflight::ArgumentsOfText;
using Words = std::vector<std::string>;

// A Deployment with these containers, in YAML.
std::string Deployment(const std::string& containers) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cm, namespace: ks}\n"
         "spec: {template: {spec: {containers: " +
         containers + "}}}\n";
}

absl::StatusOr<Arguments> Of(const std::string& containers) {
  return ArgumentsOf(kube::Object(*yaml::Parse(Deployment(containers))));
}

Words WordsOf(const std::string& text) {
  const auto arguments = ArgumentsOfText("args.txt", text);
  INFO(text << ": " << arguments.status());
  REQUIRE(arguments.ok());
  CHECK(arguments->source == "args.txt");
  return arguments->words;
}

}  // namespace

TEST_CASE("Preflight: arguments are those of command and args, with variables filled in") {
  const auto arguments = Of(R"y([
    {name: proxy, command: [/bin/proxy, --v=9]},
    {name: cm, image: "example.com:5000/karmada-controller-manager:v1.18.2",
     env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: LEVEL, value: "3"},
           {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}},
           {name: SECRET, valueFrom: {secretKeyRef: {name: a, key: b}}}],
     command: [/bin/karmada-controller-manager, "--metrics-bind-address=$(IP):8080"],
     args: ["--v=$(LEVEL)", "--leader-elect-resource-namespace=$(NS)", "--log-dir=$$(IP)",
            "--vmodule=$(SECRET)", "--log-file=$(NOWHERE)"]}])y");
  REQUIRE(arguments.ok());
  CHECK(arguments->source == "Deployment ks/cm");
  CHECK(arguments->image == "example.com:5000/karmada-controller-manager:v1.18.2");
  CHECK(arguments->words == Words{"--metrics-bind-address=127.0.0.1:8080", "--v=3",
                                  "--leader-elect-resource-namespace=ks", "--log-dir=$(IP)"});
  CHECK(arguments->unresolved == Words{"--vmodule=$(SECRET)", "--log-file=$(NOWHERE)"});
}

TEST_CASE("Preflight: a flag goes with the unknown variable that is its value") {
  const auto arguments = Of(R"y([{name: c,
     command: [/bin/karmada-controller-manager],
     args: ["--kube-api-qps", "$(QPS)", "--v=4"]}])y");
  REQUIRE(arguments.ok());
  CHECK(arguments->words == Words{"--v=4"});
  CHECK(arguments->unresolved == Words{"--kube-api-qps=$(QPS)"});
}

TEST_CASE("Preflight: a variable may name those before it") {
  const auto arguments = Of(R"y([{name: karmada-controller-manager,
    env: [{name: DIR, value: /log}, {name: FILE, value: "$(DIR)/x"}, {name: ODD, value: "$(NONE)/x"}],
    args: ["--log-file=$(FILE)", "--log-dir=$(ODD)"]}])y");
  REQUIRE(arguments.ok());
  CHECK(arguments->words == Words{"--log-file=/log/x", "--log-dir=$(NONE)/x"});
}

TEST_CASE("Preflight: the container is found by its name, its program or its image") {
  for (const char* container :
       {"[{name: karmada-controller-manager, image: x, args: [--v=1]}]",
        "[{name: x, image: x, command: [/usr/bin/karmada-controller-manager, --v=1]}]",
        "[{name: x, image: 'r/karmada-controller-manager@sha256:1', args: [--v=1]}]"}) {
    INFO(container);
    REQUIRE(Of(container).ok());
    CHECK(Of(container)->words == Words{"--v=1"});
  }
  const auto none = Of("[{name: karmada-scheduler, image: 'karmada-scheduler:v1'}]");
  CHECK(absl::IsInvalidArgument(none.status()));
  CHECK_THAT(std::string(none.status().message()), Contains("Deployment ks/cm"));
}

TEST_CASE("Preflight: arguments inside of a shell's script are not guessed") {
  const auto shell = Of("[{name: karmada-controller-manager, command: [/bin/sh, -c, 'x --v=1']}]");
  CHECK(absl::IsInvalidArgument(shell.status()));
  CHECK_THAT(std::string(shell.status().message()), Contains("shell") && Contains("--args-file"));
}

TEST_CASE("Preflight: a file may be a list in YAML, in JSON, or words as for a shell") {
  const Words wanted = {"--v=4", "--controllers=*,-remedy", "--skipped-propagating-apis=a; b"};
  CHECK(WordsOf("- --v=4\n- --controllers=*,-remedy\n- '--skipped-propagating-apis=a; b'\n") ==
        wanted);
  CHECK(WordsOf(R"(["--v=4","--controllers=*,-remedy","--skipped-propagating-apis=a; b"])") ==
        wanted);
  CHECK(WordsOf("--v=4 --controllers='*,-remedy'  # all but one\n"
                "--skipped-propagating-apis=\"a; b\"\n") == wanted);
  CHECK(WordsOf("/bin/karmada-controller-manager \\\n  --v=4 \\\n  --controllers=*,-remedy \\\n"
                "  '--skipped-propagating-apis=a; b'") == wanted);
  CHECK(WordsOf("- /bin/karmada-controller-manager\n- --v=4\n") == Words{"--v=4"});
}

TEST_CASE("Preflight: in a list only variables for addresses have a value") {
  const auto arguments = ArgumentsOfText("-", "--metrics-bind-address=$(POD_IP):1 --v=$(LEVEL)");
  REQUIRE(arguments.ok());
  CHECK(arguments->source == "standard input");
  CHECK(arguments->words == Words{"--metrics-bind-address=127.0.0.1:1"});
  CHECK(arguments->unresolved == Words{"--v=$(LEVEL)"});
}

TEST_CASE("Preflight: of several objects in a file the one that runs the program counts") {
  const std::string text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n" +
      Deployment("[{name: karmada-controller-manager, image: x, args: [--v=1]}]");
  const auto arguments = ArgumentsOfText("all.yaml", text);
  REQUIRE(arguments.ok());
  CHECK(arguments->source == "Deployment ks/cm in all.yaml");
  CHECK(arguments->words == Words{"--v=1"});
}

TEST_CASE("Preflight: a file with something else is refused by its name") {
  for (const char* text :
       {"", "hello", "{a: 1}", "[1, 2]", "kind: ConfigMap\nmetadata: {}", "[]"}) {
    INFO(text);
    const auto arguments = ArgumentsOfText("args.txt", text);
    CHECK(absl::IsInvalidArgument(arguments.status()));
    CHECK_THAT(std::string(arguments.status().message()), Contains("args.txt"));
  }
  CHECK_FALSE(ArgumentsOfText("args.txt", "a: [").ok());
}

}  // namespace tests
