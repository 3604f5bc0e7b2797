#include <thread>

#include <catch2/catch.hpp>

#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

ServerBackend& WithWidgets(ServerBackend& backend) {
  REQUIRE(backend.Create(kDefinitions, WidgetDefinition(), false).ok());
  return backend;
}

TEST_CASE("a definition is established and served at once") {
  ServerBackend backend(100);
  const auto definition = backend.Create(kDefinitions, WidgetDefinition(), false);
  REQUIRE(definition.ok());
  CHECK(kube::IsConditionTrue((*definition)->status()["conditions"], "Established"));
  CHECK(kube::IsConditionTrue((*definition)->status()["conditions"], "NamesAccepted"));
  CHECK((*definition)->status()["acceptedNames"]["singular"].AsString() == "widget");
  CHECK((*definition)->status()["storedVersions"] == json::Value::Array({"v1"}));
  CHECK(backend.Find({"example.com", "v1", "Widget"}).plural == "widgets");
  CHECK(backend.Create(kWidgets, Widget("a"), false).ok());
}

TEST_CASE("a definition that is created again while it is being removed can be removed again") {
  ServerBackend backend(100);
  WithWidgets(backend);
  const kube::ObjectKey key = {"", "widgets.example.com"};
  for (int round = 0; round < 100; ++round) {
    absl::Status removed;
    std::thread remover([&] { removed = backend.Delete(kDefinitions, key, {}).status(); });
    while (!backend.Create(kDefinitions, WidgetDefinition(), false).ok()) std::this_thread::yield();
    remover.join();
    REQUIRE(removed.ok());
    REQUIRE(backend.Delete(kDefinitions, key, {}).ok());
    REQUIRE(backend.registry().Find(kWidgets) == nullptr);
    REQUIRE(backend.Create(kDefinitions, WidgetDefinition(), false).ok());
  }
}

TEST_CASE("unknown fields are pruned and absent ones defaulted") {
  ServerBackend backend(100);
  WithWidgets(backend);
  kube::Object o = Widget("a");
  o.Set({"spec", "colour"}, "red");
  o.Set({"spec", "free", "anything"}, 1);
  o.Set({"spec", "parts"}, *json::Parse(R"([{"name":"x","odd":1},{"weight":2}])"));
  o.Set({"extra"}, true);
  const auto created = backend.Create(kWidgets, o, false);
  REQUIRE(created.ok());
  CHECK((*created)->spec() == *json::Parse(R"({"size":3,"mode":"A","replicas":1,
      "free":{"anything":1},"parts":[{"name":"x","weight":5},{"weight":2}]})"));
  CHECK_FALSE((*created)->root().Has("extra"));
}

TEST_CASE("unknown fields are reported as fieldValidation asks") {
  ServerBackend backend(100);
  WithWidgets(backend);
  const ResourceInfoPtr info = backend.registry().Find(kWidgets);
  kube::Object o = Widget("a");
  o.Set({"spec", "colour"}, "red");
  std::vector<std::string> warnings;
  const auto strict = backend.CreateOf(*info, o, {.validation = FieldValidation::kStrict});
  CHECK(ErrorOf(strict.status()).code == 400);
  CHECK(Message(strict.status()) ==
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown "
        "field \"spec.colour\"");
  REQUIRE(backend.CreateOf(*info, o, {.validation = FieldValidation::kWarn, .warnings = &warnings})
              .ok());
  CHECK(warnings == std::vector<std::string>{"unknown field \"spec.colour\""});
}

TEST_CASE("patterns are Go's, and hostile ones cost no more than others") {
  ServerBackend backend(100);
  kube::Object definition = WidgetDefinition();
  json::Value& spec = definition.mutable_root()
                          .Mutable({"spec", "versions"})
                          .MutableAt(1)
                          .Mutable({"schema", "openAPIV3Schema", "properties", "spec"});
  spec.Set({"properties", "note"}, *json::Parse(R"({"type":"string","pattern":"(?i)^(A+)+$"})"));
  REQUIRE(backend.Create(kDefinitions, definition, false).ok());
  kube::Object o = Widget("a");
  o.Set({"spec", "size"}, 1);
  o.Set({"spec", "note"}, std::string(100000, 'a'));
  CHECK(backend.Create(kWidgets, o, false).ok());
  o.Set({"metadata", "name"}, "b");
  o.Set({"spec", "note"}, std::string(100000, 'a') + "!");
  CHECK(ErrorOf(backend.Create(kWidgets, o, false).status()).code == 422);
}

TEST_CASE("objects that violate the schema are refused with kube-apiserver's wording") {
  ServerBackend backend(100);
  WithWidgets(backend);
  struct Case {
    const char* spec;
    const char* message;
  };
  const Case cases[] = {
      {R"({})", "spec.size: Required value"},
      {R"({"size":"big"})",
       "spec.size: Invalid value: \"string\": spec.size in body must be of type "
       "integer: \"string\""},
      {R"({"size":0})",
       "spec.size: Invalid value: 0: spec.size in body should be greater than or "
       "equal to 1"},
      {R"({"size":11})",
       "spec.size: Invalid value: 11: spec.size in body should be less than or "
       "equal to 10"},
      {R"({"size":1,"mode":"C"})",
       "spec.mode: Unsupported value: \"C\": supported values: \"A\", \"B\""},
      {R"({"size":1,"name":"A"})",
       "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'"},
      {R"({"size":1,"name":"abcdef"})", "spec.name: Too long: may not be more than 5 bytes"},
      {R"({"size":1,"port":true})",
       "spec.port: Invalid value: \"boolean\": spec.port in body must be "
       "of type integer,string: \"boolean\""},
      {R"({"size":1,"tags":[]})",
       "spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items"},
      {R"({"size":1,"limits":{"cpu":"x"}})",
       "spec.limits.cpu: Invalid value: \"string\": spec.limits.cpu in body must be of type "
       "integer: "
       "\"string\""},
  };
  for (const Case& c : cases) {
    kube::Object o = Widget("a");
    o.Set({"spec"}, *json::Parse(c.spec));
    const auto refused = backend.Create(kWidgets, o, false);
    CHECK(ErrorOf(refused.status()).code == 422);
    CHECK(Message(refused.status()) ==
          std::string("Widget.example.com \"a\" is invalid: ") + c.message);
  }
  kube::Object fine = Widget("a");
  fine.Set({"spec"}, *json::Parse(R"({"size":10,"port":"http","note":null,"name":"abc"})"));
  CHECK(backend.Create(kWidgets, fine, false).ok());
}

TEST_CASE("nulls of fields that are not nullable vanish") {
  ServerBackend backend(100);
  WithWidgets(backend);
  kube::Object o = Widget("a");
  o.Set({"spec"}, *json::Parse(R"({"size":1,"name":null,"mode":null,"note":null,"free":{"x":null},
      "limits":{"cpu":null,"memory":2},"parts":[{"name":null}]})"));
  const auto stored = backend.Create(kWidgets, o, false);
  REQUIRE(stored.ok());
  CHECK((*stored)->spec() ==
        *json::Parse(R"({"size":1,"mode":"A","replicas":1,"note":null,"free":{"x":null},
            "limits":{"memory":2},"parts":[{"weight":5}]})"));
  o.Set({"spec"}, *json::Parse(R"({"size":1,"tags":[null]})"));
  CHECK(ErrorOf(backend.Create(kWidgets, o, false).status()).code == 422);
  o.Set({"spec"}, *json::Parse(R"({"size":null})"));
  CHECK(Message(backend.Create(kWidgets, o, false).status()) ==
        "Widget.example.com \"a\" is invalid: spec.size: Required value");
}

TEST_CASE("status of a custom resource changes only through its subresource") {
  ServerBackend backend(100);
  WithWidgets(backend);
  kube::Object o = Widget("a");
  o.Set({"status", "phase"}, "early");
  o = **backend.Create(kWidgets, o, false);
  CHECK_FALSE(o.root().Has("status"));

  kube::Object status = o;
  status.Set({"status", "phase"}, "Ready");
  status.Set({"spec", "size"}, 9);
  status.SetLabel("sneaky", "yes");
  status = **backend.Update(kWidgets, status, "status", false);
  CHECK(status.status()["phase"].AsString() == "Ready");
  CHECK(status.spec()["size"].AsInt() == 3);
  CHECK(status.labels().empty());
  CHECK(status.generation() == 1);

  kube::Object spec = status;
  spec.Set({"spec", "size"}, 4);
  spec.Erase({"status"});
  spec = **backend.Update(kWidgets, spec, "", false);
  CHECK(spec.status()["phase"].AsString() == "Ready");
  CHECK(spec.generation() == 2);
}

TEST_CASE("without a status subresource every change but metadata is a new generation") {
  ServerBackend backend(100);
  kube::Object definition = WidgetDefinition();
  definition.mutable_root().Mutable("spec").Mutable("versions").MutableAt(1).Erase("subresources");
  REQUIRE(backend.Create(kDefinitions, definition, false).ok());
  kube::Object o = **backend.Create(kWidgets, Widget("a"), false);
  o.Set({"status", "phase"}, "x");
  o = **backend.Update(kWidgets, o, "", false);
  CHECK(o.generation() == 2);
  CHECK(o.status()["phase"].AsString() == "x");
  o.SetAnnotation("a", "b");
  CHECK((*backend.Update(kWidgets, o, "", false))->generation() == 2);
  CHECK(ErrorOf(backend.Update(kWidgets, o, "status", false).status()).code == 404);
}

TEST_CASE("a PUT of a custom resource needs a resourceVersion") {
  ServerBackend backend(100);
  WithWidgets(backend);
  REQUIRE(backend.Create(kWidgets, Widget("a"), false).ok());
  const auto refused = backend.Update(kWidgets, Widget("a"), "", false);
  CHECK(ErrorOf(refused.status()).code == 422);
  CHECK(Message(refused.status()) ==
        "widgets.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must "
        "be specified for an update");
}

TEST_CASE("one object is seen in every served version") {
  ServerBackend backend(100);
  WithWidgets(backend);
  REQUIRE(backend.Create(kWidgets, Widget("a"), false).ok());
  const kube::Gvr beta{"example.com", "v1beta1", "widgets"};
  const auto seen = backend.Get(beta, {"default", "a"});
  REQUIRE(seen.ok());
  CHECK((*seen)->api_version() == "example.com/v1beta1");
  kube::Object changed = **seen;
  changed.SetLabel("from", "beta");
  REQUIRE(backend.Update(beta, changed, "", false).ok());
  const auto stored = backend.Get(kWidgets, {"default", "a"});
  CHECK((*stored)->api_version() == "example.com/v1");
  CHECK((*stored)->Label("from") == "beta");
}

TEST_CASE("deleting a definition deletes its objects first") {
  ServerBackend backend(100);
  WithWidgets(backend);
  kube::Object guarded = Widget("guarded");
  guarded.AddFinalizer("example.com/guard");
  REQUIRE(backend.Create(kWidgets, Widget("plain"), false).ok());
  const kube::Object created = **backend.Create(kWidgets, guarded, false);
  const auto waiting = backend.Delete(kDefinitions, {"", "widgets.example.com"}, {});
  REQUIRE(waiting.ok());
  REQUIRE(*waiting != nullptr);
  CHECK(absl::IsNotFound(backend.Get(kWidgets, {"default", "plain"}).status()));
  CHECK(ErrorOf(backend.Create(kWidgets, Widget("new"), false).status()).code == 405);

  kube::Object left = **backend.Get(kWidgets, {"default", "guarded"});
  CHECK(left.IsDeleting());
  left.RemoveFinalizer("example.com/guard");
  REQUIRE(backend.Update(kWidgets, left, "", false).ok());
  CHECK(backend.Get(kDefinitions, {"", "widgets.example.com"}).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK(backend.Find({"example.com", "v1", "Widget"}).gvk.empty());
}

TEST_CASE("a definition that makes no sense is refused") {
  ServerBackend backend(100);
  kube::Object misnamed = WidgetDefinition();
  misnamed.Set({"metadata", "name"}, "gadgets.example.com");
  CHECK(Message(backend.Create(kDefinitions, misnamed, false).status())
            .find("must be spec.names.plural+\".\"+spec.group") != std::string::npos);
  kube::Object no_storage = WidgetDefinition();
  no_storage.mutable_root().Mutable("spec").Mutable("versions").MutableAt(1).Set("storage", false);
  CHECK(Message(backend.Create(kDefinitions, no_storage, false).status())
            .find("must have exactly one version marked as storage version") != std::string::npos);
}

}  // namespace
}  // namespace sandbox
