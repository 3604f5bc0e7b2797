// The layer that answers with Lua: arguments, results, messages.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "interpreter/customized/lua_backend.h"
#include "tests/interpreter/customized/scripts_fixture.h"

namespace {

using interpreter::Operation;
using interpreter::Replicas;
using interpreter::customized::LuaBackend;
using tests::Customize;
using tests::kWidget;
using tests::SetOf;
using tests::Widget;

json::Value Json(absl::string_view text) { return json::Parse(text).value(); }

// Returns a layer with one customization of Widgets, "ric", with one script.
std::unique_ptr<LuaBackend> With(absl::string_view field, absl::string_view script) {
  auto backend = std::make_unique<LuaBackend>(interpreter::customized::LuaBackendOptions());
  backend->Replace(SetOf(Customize("ric", {{field, script}})));
  return backend;
}

std::string TextOf(const absl::StatusOr<json::Value>& value) {
  return value.ok() ? json::Write(*value) : absl::StrCat("error: ", value.status().message());
}
std::string TextOf(const absl::StatusOr<kube::Object>& object) {
  return object.ok() ? json::Write(object->root())
                     : absl::StrCat("error: ", object.status().message());
}
std::string TextOf(const absl::StatusOr<Replicas>& r) {
  return r.ok() ? absl::StrCat(r->replicas, " ", json::Write(r->requirements))
                : absl::StrCat("error: ", r.status().message());
}
std::string TextOf(const absl::StatusOr<interpreter::Health>& health) {
  if (!health.ok()) return absl::StrCat("error: ", health.status().message());
  const std::string message = health->message.empty() ? "" : absl::StrCat(": ", health->message);
  return absl::StrCat(health->healthy ? "true" : "false", message);
}

// The object for which scripts `return <expression>`; it has spec and status.
const kube::Object kObject =
    Widget(R"({"spec":{"size":3,"empty":{},"none":[]},"status":{"old":1}})");

std::string Replica(absl::string_view returned) {
  return TextOf(
      With("replicaResource", absl::StrCat("function GetReplicas(o) return ", returned, " end"))
          ->GetReplicas(kObject));
}
std::string Components(absl::string_view returned) {
  return TextOf(
      With("componentResource", absl::StrCat("function GetComponents(o) return ", returned, " end"))
          ->GetComponents(kObject));
}
std::string Revised(absl::string_view body) {
  return TextOf(With("replicaRevision", absl::StrCat("function ReviseReplica(o, n) ", body, " end"))
                    ->ReviseReplica(kObject, 7));
}
std::string Reflected(absl::string_view returned) {
  return TextOf(
      With("statusReflection", absl::StrCat("function ReflectStatus(o) return ", returned, " end"))
          ->ReflectStatus(kObject));
}
std::string Health(absl::string_view returned) {
  return TextOf(With("healthInterpretation",
                     absl::StrCat("function InterpretHealth(o) return ", returned, " end"))
                    ->InterpretHealth(kObject));
}
std::string Dependencies(absl::string_view returned) {
  return TextOf(With("dependencyInterpretation",
                     absl::StrCat("function GetDependencies(o) return ", returned, " end"))
                    ->GetDependencies(kObject));
}

using Examples = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("GetReplicas gives a count and requirements") {
  const std::string place = "error: ric/replicaResource:1: in GetReplicas: ";
  for (const auto& [returned, answer] : Examples{
           {"2", "2 null"},
           {"2.9", "2 null"},
           {"-2.9", "-2 null"},
           {"o.spec.size, nil", "3 null"},
           {"1, {}", "1 {}"},
           {"1, {resourceRequest = {cpu = 0.5, memory = '1024Mi'}, more = 1}",
            R"(1 {"resourceRequest":{"cpu":"500m","memory":"1Gi"}})"},
           {"nil", place + "returned nil, not a number of replicas"},
           {"true", place + "returned the boolean true, not a number of replicas"},
           {"'2'", place + "returned the string \"2\", not a number of replicas"},
           {"{}", place + "returned a table, not a number of replicas"},
           {"3e9", place + "returned 3000000000 replicas, more than 32 bits hold"},
           {"1, 'x'", place + "returned the string \"x\", not a table of requirements, or nil"},
       }) {
    INFO(returned);
    CHECK(Replica(returned) == answer);
  }
}

TEST_CASE("GetComponents gives a list, or nothing") {
  for (const auto& [returned, answer] : Examples{
           {"nil", "null"},
           {"{}", "[]"},
           {"{{name = 'a', replicas = 2, replicaRequirements = {resourceRequest = {cpu = 1}}}}",
            R"([{"name":"a","replicaRequirements":{"resourceRequest":{"cpu":"1"}},"replicas":2}])"},
           {"'x'",
            "error: ric/componentResource:1: in GetComponents: returned the string \"x\", not a "
            "table of components, or nil"},
           {"{{name = 'a', replicas = 1.5}}",
            "error: ric/componentResource:1: in GetComponents: returned bad components: [0]: "
            "replicas: 1.5 is not a whole number of 64 bits"},
       }) {
    INFO(returned);
    CHECK(Components(returned) == answer);
  }
}

TEST_CASE("nulls that come with the object are left out of typed results, as upstream does") {
  const kube::Object object = Widget(R"({"spec":{
      "labels":{"a":"b","k":null},
      "tolerations":[null,{"key":"a","value":null}],
      "parts":[{"name":"a","replicas":1,"replicaRequirements":null},null],
      "needs":[null,{"apiVersion":"v1","kind":"Secret","name":"s","namespace":null}]}})");
  const auto replicas = With("replicaResource", R"(function GetReplicas(o)
      return 1, {nodeClaim = {nodeSelector = o.spec.labels, tolerations = o.spec.tolerations}}
    end)");
  CHECK(json::Write(replicas->GetReplicas(object).value().requirements) ==
        R"({"nodeClaim":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a"}]}})");
  const auto components =
      With("componentResource", "function GetComponents(o) return o.spec.parts end");
  CHECK(TextOf(components->GetComponents(object)) == R"([{"name":"a","replicas":1}])");
  const auto dependencies =
      With("dependencyInterpretation", "function GetDependencies(o) return o.spec.needs end");
  CHECK(TextOf(dependencies->GetDependencies(object)) ==
        R"([{"apiVersion":"v1","kind":"Secret","name":"s"}])");
}

TEST_CASE("ReviseReplica gives the object, empty containers and all") {
  CHECK(Revised("o.spec.size = n; return o") ==
        R"({"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"w"},)"
        R"("spec":{"empty":{},"none":[],"size":7},"status":{"old":1}})");
  CHECK(Revised("return {kind = 'Widget', spec = {empty = {}, none = {}, other = {}}}") ==
        R"({"kind":"Widget","spec":{"empty":{},"none":[]}})");
  CHECK(Revised("return nil") ==
        "error: ric/replicaRevision:1: in ReviseReplica: returned nil, not the table of an object");
  CHECK(
      Revised("return {}") ==
      "error: ric/replicaRevision:1: in ReviseReplica: returned a table that is not an object, it "
      "has no kind: {}");
  CHECK(
      Revised("return {spec = 1}") ==
      "error: ric/replicaRevision:1: in ReviseReplica: returned a table that is not an object, it "
      "has no kind: {\"spec\":1}");
  const std::string cut =
      Revised("local t = {} for i = 1, 200 do t[i] = '\u20ac' end return {text = table.concat(t)}");
  CHECK_THAT(cut, Catch::EndsWith("\u20ac..."));
  CHECK(cut.size() < 350);
}

TEST_CASE("Retain sees the desired and the observed object") {
  const auto backend = With("retention", R"(
    function Retain(desired, observed)
      desired.spec.paused = observed.spec.paused
      desired.spec.copied = {}
      return desired
    end)");
  const kube::Object desired = Widget(R"({"spec":{"big":9007199254740993,"list":[null,{}]}})");
  const kube::Object observed = Widget(R"({"spec":{"paused":true,"copied":{}}})");
  CHECK(TextOf(backend->Retain(desired, observed)) ==
        R"({"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"w"},)"
        R"("spec":{"big":9007199254740993,"copied":{},"list":[null,{}],"paused":true}})");
}

TEST_CASE(
    "AggregateStatus distinguishes items that are missing from none, and changes the status only") {
  const auto backend = With("statusAggregation", R"(
    function AggregateStatus(o, items)
      if items == nil then return o end
      o.spec = nil
      o.status = {count = #items}
      return o
    end)");
  const kube::Object same = backend->AggregateStatus(kObject, nullptr).value();
  CHECK(same.root().SharesWith(kObject.root()));
  const kube::Object none = backend->AggregateStatus(kObject, Json("[]")).value();
  CHECK(json::Write(none.status()) == R"({"count":0})");
  CHECK(none.spec() == kObject.spec());
  const kube::Object one =
      backend->AggregateStatus(kObject, Json(R"([{"clusterName":"m1"}])")).value();
  CHECK(json::Write(one.status()) == R"({"count":1})");
}

TEST_CASE("AggregateStatus may take the status away") {
  const auto backend =
      With("statusAggregation", "function AggregateStatus(o) o.status = nil return o end");
  CHECK_FALSE(backend->AggregateStatus(kObject, nullptr).value().root().Has("status"));
  CHECK(backend->AggregateStatus(Widget(), nullptr).value() == Widget());
}

TEST_CASE("ReflectStatus gives any table that is an object") {
  const std::string place = "error: ric/statusReflection:1: in ReflectStatus: ";
  for (const auto& [returned, answer] : Examples{
           {"o.status", R"({"old":1})"},
           {"{}", "{}"},
           {"{1, 2}", place + "returned a list, not the table of a status: [1,2]"},
           {"o.spec.none", "{}"},
           {"{a = {}}", "{}"},
           {"nil", place + "returned nil, not the table of a status"},
       }) {
    INFO(returned);
    CHECK(Reflected(returned) == answer);
  }
}

TEST_CASE("InterpretHealth may give a message as well, which must be a string") {
  CHECK(Health("false, '0 of ' .. o.spec.size") == "false: 0 of 3");
  CHECK(Health("true, 'since a while'") == "true: since a while");
  CHECK(Health("false, nil") == "false");
  CHECK(Health("false, ''") == "false");
  CHECK(Health("false, 'first', {}") == "false: first");  // Further results are ignored.
  const std::string place = "error: ric/healthInterpretation:1: in InterpretHealth: ";
  const std::string wanted = ", not a message (a string, or nothing), as its second result";
  CHECK(Health("false, 3") == place + "returned the number 3" + wanted);
  CHECK(Health("true, false") == place + "returned the boolean false" + wanted);
  CHECK(Health("false, {'0 of 3'}") == place + "returned a table" + wanted);
  CHECK(Health("'0 of 3', false") == place + "returned the string \"0 of 3\", not a boolean");
}

TEST_CASE("InterpretHealth gives a boolean") {
  CHECK(Health("true") == "true");
  CHECK(Health("o.status.old == 2") == "false");
  const std::string place = "error: ric/healthInterpretation:1: in InterpretHealth: ";
  CHECK(Health("nil") == place + "returned nil, not a boolean");
  CHECK(Health("1") == place + "returned the number 1, not a boolean");
  CHECK(Health("'yes'") == place + "returned the string \"yes\", not a boolean");
}

TEST_CASE("GetDependencies gives valid references, sorted and each once") {
  const std::string place = "error: ric/dependencyInterpretation:1: in GetDependencies: ";
  for (const auto& [returned, answer] : Examples{
           {"{}", "[]"},
           {"{{apiVersion = 'v1', kind = 'Secret', name = 'b', namespace = 'n'},"
            " {apiVersion = 'v1', kind = 'Secret', name = 'a', namespace = 'n', x = 1},"
            " {apiVersion = 'v1', kind = 'ConfigMap', name = 'c', namespace = 'n'},"
            " {apiVersion = 'v1', kind = 'Secret', name = 'b', namespace = 'n'}}",
            R"([{"apiVersion":"v1","kind":"ConfigMap","name":"c","namespace":"n"},)"
            R"({"apiVersion":"v1","kind":"Secret","name":"a","namespace":"n"},)"
            R"({"apiVersion":"v1","kind":"Secret","name":"b","namespace":"n"}])"},
           {"{{apiVersion = 'v1', name = 'b'}}",
            place + "returned bad dependencies: dependencies[0].kind: Invalid value: \"\": "
                    "missing required kind"},
           {"nil", place + "returned nil, not a table of dependencies"},
       }) {
    INFO(returned);
    CHECK(Dependencies(returned) == answer);
  }
}

TEST_CASE("dependencies are the union of what all scripts return; selectors count by value") {
  const std::string script = R"(function GetDependencies(o) return {
    {apiVersion = 'v1', kind = 'Pod', labelSelector = {matchLabels = {app = '%'}}},
    {apiVersion = 'v1', kind = 'Pod', labelSelector = {matchLabels = {app = 'both'}}}} end)";
  const auto labelled = [&](const std::string& label) {
    std::string text = script;
    return text.replace(text.find('%'), 1, label);
  };
  LuaBackend backend({});
  backend.Replace(SetOf(Customize("b", {{"dependencyInterpretation", labelled("only-b")}}),
                        Customize("a", {{"dependencyInterpretation", labelled("only-a")}})));
  const json::Value all = backend.GetDependencies(Widget()).value();
  std::vector<std::string> labels;
  for (const json::Value& reference : all.items()) {
    labels.push_back(reference.Get({"labelSelector", "matchLabels", "app"}).ToString());
  }
  CHECK(labels == std::vector<std::string>{"both", "only-a", "only-b"});
  CHECK(backend.RuleOf(kWidget, Operation::kInterpretDependency) == "a,b");
}

TEST_CASE("one failing script fails the dependencies of the kind") {
  LuaBackend backend({});
  backend.Replace(SetOf(
      Customize("a", {{"dependencyInterpretation", "function GetDependencies() return {} end"}}),
      Customize("b",
                {{"dependencyInterpretation", "function GetDependencies() error('no') end"}})));
  CHECK_THAT(TextOf(backend.GetDependencies(Widget())),
             Catch::StartsWith("error: b/dependencyInterpretation:1: "));
}

TEST_CASE("a script that does not compile fails the dependencies and names its customization") {
  LuaBackend backend({});
  backend.Replace(SetOf(
      Customize("a", {{"dependencyInterpretation", "function GetDependencies() return {} end"}}),
      Customize("b", {{"dependencyInterpretation", "=="}})));
  const absl::Status status = backend.GetDependencies(Widget()).status();
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(
      std::string(status.message()),
      Catch::StartsWith("customization b customizes the dependencies of this kind, but its script "
                        "cannot be used: b/dependencyInterpretation:1: "));
}

TEST_CASE("a layer that has not been loaded fails every operation instead of having no rule") {
  LuaBackend backend({});
  for (const Operation op : interpreter::kAllOperations) {
    CHECK(backend.Has(kWidget, op) == (op != Operation::kPrune));
    CHECK(backend.RuleOf(kWidget, op) == "");
  }
  const auto not_ready = [](const absl::Status& status) {
    return absl::IsUnavailable(status) && status.message() == "not yet ready to handle request";
  };
  CHECK(not_ready(backend.GetReplicas(Widget()).status()));
  CHECK(not_ready(backend.GetComponents(Widget()).status()));
  CHECK(not_ready(backend.ReviseReplica(Widget(), 1).status()));
  CHECK(not_ready(backend.Retain(Widget(), Widget()).status()));
  CHECK(not_ready(backend.AggregateStatus(Widget(), nullptr).status()));
  CHECK(not_ready(backend.GetDependencies(Widget()).status()));
  CHECK(not_ready(backend.ReflectStatus(Widget()).status()));
  CHECK(not_ready(backend.InterpretHealth(Widget()).status()));
  CHECK(absl::IsUnimplemented(backend.Prune(Widget()).status()));
}

TEST_CASE("a layer that has not been loaded keeps lower layers from answering in its place") {
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(std::make_unique<LuaBackend>(interpreter::customized::LuaBackendOptions()));
  layers.push_back(interpreter::NewNativeBackend());
  const auto chain = interpreter::NewChain(std::move(layers));
  CHECK(chain->HasRule(kWidget, Operation::kInterpretDependency));
  const absl::Status status = chain->ReflectStatus(Widget()).status();
  CHECK(absl::IsUnavailable(status));
  CHECK(status.message() ==
        "InterpretStatus of Widget w by the customization interpreter: not yet ready to handle "
        "request");
}

TEST_CASE("a set may be exchanged while others use it") {
  const auto answering = [](bool healthy) {
    return SetOf(Customize(
        "ric", {{"healthInterpretation", absl::StrCat("function InterpretHealth() return ",
                                                      healthy ? "true" : "false", " end")}}));
  };
  const auto healthy = answering(true), unhealthy = answering(false);
  LuaBackend backend({});
  backend.Replace(healthy);
  std::atomic<int> failures = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int n = 0; n < 300; ++n) failures += backend.InterpretHealth(Widget()).ok() ? 0 : 1;
    });
  }
  for (int n = 0; n < 300; ++n) backend.Replace(n % 2 == 0 ? unhealthy : healthy);
  for (std::thread& reader : readers) reader.join();
  CHECK(failures == 0);
  CHECK(backend.InterpretHealth(Widget()).value());
}

TEST_CASE("another set takes the place of the first") {
  LuaBackend backend({.layer = interpreter::kShippedLayer});
  CHECK(backend.layer() == "shipped");
  backend.Replace(SetOf());
  CHECK_FALSE(backend.Has(kWidget, Operation::kInterpretHealth));
  backend.Replace(SetOf(Customize(
      "first", {{"healthInterpretation", "function InterpretHealth() return true end"}})));
  CHECK(backend.Has(kWidget, Operation::kInterpretHealth));
  CHECK(backend.RuleOf(kWidget, Operation::kInterpretHealth) == "first");
  CHECK(backend.InterpretHealth(Widget()).value());
  backend.Replace(SetOf(Customize(
      "second", {{"healthInterpretation", "function InterpretHealth() return false end"}})));
  CHECK_FALSE(backend.InterpretHealth(Widget()).value());
}

TEST_CASE("a rule that goes between the question and the call is an error, no empty answer") {
  LuaBackend backend({});
  backend.Replace(SetOf());
  const absl::Status status = backend.GetDependencies(Widget()).status();
  CHECK(absl::IsUnavailable(status));
  CHECK(
      status.message() ==
      "the customization of InterpretDependency for \"example.io/v1, Kind=Widget\" has just gone");
  CHECK(absl::IsUnavailable(backend.InterpretHealth(Widget()).status()));
}

TEST_CASE("a script that does not compile answers with the compiler's message") {
  const auto backend = With("healthInterpretation", "function InterpretHealth(");
  CHECK(backend->Has(kWidget, Operation::kInterpretHealth));
  const absl::Status status = backend->InterpretHealth(Widget()).status();
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(std::string(status.message()), Catch::StartsWith("ric/healthInterpretation:1: "));
}

TEST_CASE("a script that keeps running out of its budget is put off") {
  metrics::Registry registry;
  interpreter::customized::LuaBackendOptions options;
  options.metrics = &registry;
  options.budget.memory = size_t{2} << 20;
  options.budget.largest_block = size_t{1} << 20;
  LuaBackend backend(options);
  backend.Replace(SetOf(Customize("hungry", {{"healthInterpretation",
                                              "function InterpretHealth() local t = {} "
                                              "while true do t[#t + 1] = {} end end"}})));
  for (int i = 0; i < 3; ++i) {
    CHECK(absl::IsResourceExhausted(backend.InterpretHealth(Widget()).status()));
  }
  const absl::Status put_off = backend.InterpretHealth(Widget()).status();
  CHECK(absl::IsUnavailable(put_off));
  CHECK_THAT(std::string(put_off.message()),
             Catch::StartsWith("customization hungry ran out of time or memory several times in a "
                               "row on this object, so it is not run; it is tried again "));
  CHECK_THAT(registry.Expose(), Catch::Contains("operation=\"InterpretHealth\"} 3"));
  kube::Object other = Widget();
  other.Set({"metadata", "name"}, "other");  // Another object has three runs of its own.
  CHECK(absl::IsResourceExhausted(backend.InterpretHealth(other).status()));

  options.has_probation = false;
  LuaBackend without(options);
  without.Replace(backend.set());
  for (int i = 0; i < 5; ++i) {
    CHECK(absl::IsResourceExhausted(without.InterpretHealth(Widget()).status()));
  }
}
