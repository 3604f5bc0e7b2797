// What `list` shows of a control plane, and how metrics are read.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/metrics.h"
#include "cmd/interpret/metrics_text.h"
#include "interpreter/metric_names.h"
#include "tests/cmd/interpret/live_fleet.h"
#include "tests/cmd/interpret/tool.h"

namespace {

using Catch::Contains;
using cmd::interpret::CheckMetricsUrl;
using cmd::interpret::ParseMetrics;
using tests::LiveFleet;
using tests::Ran;

constexpr char kHooks[] = R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: w.example.com
  rules:
  - {operations: [Retain], apiGroups: [example.io], apiVersions: [v1], kinds: [Widget]}
  clientConfig: {service: {namespace: hooks, name: w}}
  interpreterContextVersions: [v1alpha1]
)";

// Serves a registry as a daemon does.
class MetricsEndpoint {
 public:
  MetricsEndpoint() {
    auto server =
        base::HttpServer::Start({}, [this](const base::HttpRequest& request,
                                           const std::shared_ptr<base::HttpResponder>& responder) {
          const bool here = request.path == "/metrics";
          responder->Send({here ? 200 : 404, "text/plain", {}, here ? registry.Expose() : ""});
        });
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", server_->port()); }

  metrics::Registry registry;

 private:
  std::unique_ptr<base::HttpServer> server_;
};

void Observe(metrics::Registry& registry, const std::string& customization,
             const std::string& result, double seconds) {
  registry
      .GetHistogram(
          interpreter::kScriptDurationMetric, "", metrics::DefaultBuckets(),
          {{"customization", customization}, {"operation", "InterpretHealth"}, {"result", result}})
      .Observe(seconds);
}

void SetLoaded(metrics::Registry& registry, const std::string& kind, const std::string& name,
               int generation) {
  registry.GetGauge(interpreter::kLoadedGenerationMetric, "", {{"kind", kind}, {"name", name}})
      .Set(generation);
}

}  // namespace

TEST_CASE("Live list: without metrics it says what is there, and what is not known") {
  LiveFleet live(0);
  live.Create("karmada", {tests::kWidgetHealth, kHooks});
  const Ran ran = live.Run({"list"});
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("CONFIGURATION") && Contains("GENERATION") && Contains("LOADED"));
  CHECK_THAT(ran.out, Contains("widgets") && Contains("example.io/v1 Widget") &&
                          Contains("InterpretHealth") && Contains("unknown"));
  CHECK_THAT(ran.out, Contains("hooks/w.example.com") && Contains("Retain"));
  CHECK_THAT(ran.err, Contains("known with --metrics-url only"));
  CHECK_THAT(live.Run({"list", "Widget", "--operation", "Retain"}).out,
             !Contains("InterpretHealth"));
  CHECK(live.Run({"list", "Gizmo"}).err == "No rules found.\n");
  CHECK(live.Run({"list", "Widgt"}).err == "No rules found; did you mean Widget?\n");
}

TEST_CASE("Live list: metrics say whether a generation is loaded, and what its calls cost") {
  LiveFleet live(0);
  live.Create("karmada", {tests::kWidgetHealth, kHooks});
  MetricsEndpoint daemon;
  const std::vector<std::string> list = {"list", "-o", "json", "--metrics-url", daemon.url()};
  const auto rules = [&] {
    const Ran ran = live.Run(list);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return json::Parse(ran.out).value();
  };
  SetLoaded(daemon.registry, "ResourceInterpreterWebhookConfiguration", "hooks", 7);
  Observe(daemon.registry, "widgets", "success", 0.5);
  Observe(daemon.registry, "widgets", "success", 0.25);
  Observe(daemon.registry, "widgets", "error", 0.25);
  Observe(daemon.registry, "gadgets", "error", 9);
  const json::Value before = rules();
  REQUIRE(before.size() == 2);
  const json::Value& widgets = before.At(0);
  CHECK(widgets["name"].AsString() == "widgets");
  CHECK(widgets["generation"].AsInt() == 1);
  CHECK(widgets["loaded"].AsBool(true) == false);
  CHECK(widgets["calls"].AsInt() == 3);
  CHECK(widgets["errors"].AsInt() == 1);
  CHECK(widgets["seconds"].AsDouble() == 1);
  const json::Value& hook = before.At(1);
  CHECK(hook["loadedGeneration"].AsInt() == 7);
  CHECK(hook["loaded"].AsBool(true) == false);
  CHECK(hook["calls"].AsInt(-1) == 0);

  SetLoaded(daemon.registry, "ResourceInterpreterCustomization", "widgets", 1);
  CHECK(rules().At(0)["loaded"].AsBool());
  const Ran table = live.Run({"list", "--metrics-url", daemon.url()});
  CHECK_THAT(table.out, Contains("yes") && Contains("no, generation 7") && Contains("333.3 ms"));

  daemon.registry
      .GetGauge(interpreter::kConfigurationProblemsMetric, "",
                {{"kind", "ResourceInterpreterCustomization"}, {"name", "widgets"}})
      .Set(2);
  CHECK(rules().At(0)["problems"].AsInt() == 2);
  CHECK_THAT(live.Run({"list", "--metrics-url", daemon.url()}).out, Contains("yes, 2 problems"));
}

TEST_CASE("Live list: metrics of another program are no numbers") {
  LiveFleet live(0);
  live.Create("karmada", {tests::kWidgetHealth});
  MetricsEndpoint other;
  other.registry.GetGauge("workqueue_depth", "", {}).Set(3);
  const Ran ran = live.Run({"list", "--metrics-url", other.url()});
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Contains("say nothing of an interpreter"));
  CHECK_THAT(ran.out, Contains("unknown") && !Contains(" 0 "));
}

TEST_CASE("Live list: a kubeconfig of another cluster is named, and what it lacks") {
  LiveFleet live(1);
  const std::string member =
      live.directory().Write("member1", live.fleet().Kubeconfig("member1").value());
  const Ran ran = tests::RunTool({"list", "--kubeconfig", member});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Contains("does not serve config.karmada.io/v1alpha1: is it the API server of "
                               "a Karmada control plane?"));
  const std::string nobody = live.directory().Write(
      "nobody", R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],)"
                R"("clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}]})");
  const Ran silent = tests::RunTool({"list", "--kubeconfig", nobody});
  CHECK(silent.code == 2);
  CHECK_THAT(silent.err,
             Contains("asking http://127.0.0.1:1 what it serves, by kubeconfig " + nobody));
}

TEST_CASE("Live list: each customization has its own numbers, also of one kind and operation") {
  LiveFleet live(0);
  std::string other = tests::kWidgetHealth;
  other.replace(other.find("widgets"), 7, "gadgets");
  live.Create("karmada", {tests::kWidgetHealth, other});
  MetricsEndpoint daemon;
  Observe(daemon.registry, "widgets", "success", 1);
  const Ran ran = live.Run({"list", "-o", "json", "--metrics-url", daemon.url()});
  INFO(ran.out);
  const json::Value rules = json::Parse(ran.out).value();
  REQUIRE(rules.size() == 2);
  CHECK(rules.At(0)["calls"].AsInt(-1) == 0);
  CHECK(rules.At(1)["calls"].AsInt(-1) == 1);
}

TEST_CASE(
    "Live list: an event says which generation was loaded, unless the object was made again") {
  LiveFleet live(0);
  live.Create("karmada", {tests::kWidgetHealth});
  const auto object = live.fleet().control_plane().backend().Get(
      {"config.karmada.io", "v1alpha1", "resourceinterpretercustomizations"}, {"", "widgets"});
  REQUIRE(object.ok());
  const auto event = [](const std::string& name, absl::string_view uid, int generation) {
    return absl::StrCat("apiVersion: v1\nkind: Event\nmetadata: {name: ", name,
                        ", namespace: default}\ninvolvedObject: {apiVersion: "
                        "config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, name: "
                        "widgets, uid: ",
                        uid, "}\nreason: ConfigurationLoaded\nmessage: Generation ", generation,
                        " is loaded and answers from now on.\ntype: Normal\n");
  };
  live.Create("karmada", {event("old", "another-uid", 1)});
  CHECK_THAT(live.Run({"list"}).out, !Contains("(event)"));
  live.Create("karmada", {event("new", (*object)->uid(), 1)});
  const Ran ran = live.Run({"list"});
  INFO(ran.out << ran.err);
  CHECK_THAT(ran.out, Contains("yes (event)"));
}

TEST_CASE("Live list: what cannot be used is an error that names it") {
  LiveFleet live(0);
  for (const char* url : {"localhost:8080", "ftp://x", "http://", "http://u:p@x", "http:// "}) {
    const Ran ran = live.Run({"list", "--metrics-url", url});
    CHECK(ran.code == 2);
    CHECK_THAT(ran.err, Contains(absl::StrCat("\"", url, "\" is not http[s]://HOST")));
  }
  MetricsEndpoint daemon;
  const Ran missing = live.Run({"list", "--metrics-url", daemon.url() + "/other"});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Contains("/other: the server answers 404"));
  CHECK(live.Run({"list", "--metrics-url", "http://127.0.0.1:1"}).code == 2);
  CHECK_THAT(live.Run({"list", "--no-shipped"}).err, Contains("leave out --no-shipped"));
  CHECK_THAT(tests::RunTool({"list", "-f", "x.yaml", "--metrics-url", daemon.url()}).err,
             Contains("leave out -f and --webhook"));
}

TEST_CASE("Metrics text: labels may hold any text, and lines that are no samples are left out") {
  const auto samples = ParseMetrics(
      "# HELP a b\na 1\nb{x=\"q\\\"}\\\\,\\n\",y=\"\"} 2.5 1700000000\nc{x=\"open} 3\nd\ne{} NaN\n"
      "f{x} 1\ng{a=\"1\"} word\n");
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].name == "a");
  CHECK(samples[0].value == 1);
  CHECK(samples[1].labels.at("x") == "q\"}\\,\n");
  CHECK(samples[1].labels.at("y").empty());
  CHECK(samples[1].value == 2.5);
  CHECK(samples[2].name == "e");
  CHECK(CheckMetricsUrl("https://[::1]:8080/x/metrics").ok());
}
