// The lines of a watch.
#include <catch2/catch.hpp>

#include "kube/server/api_errors.h"
#include "kube/server/watch_frames.h"

namespace kube::server {
namespace {

const kube::Gvk kConfigMap{"", "v1", "ConfigMap"};

kube::Object Map(const std::string& name) {
  return kube::Object(*json::Parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
      "metadata": {"name": ")" + name +
                                   R"(", "resourceVersion": "7"}})"));
}

json::Value Line(const std::string& line) {
  REQUIRE(line.back() == '\n');
  const auto parsed = json::Parse(line);
  REQUIRE(parsed.ok());
  return *parsed;
}

AnswerForm Form(AnswerForm::Kind kind) {
  AnswerForm form;
  form.kind = kind;
  return form;
}

TEST_CASE("an event is one line around the bytes of its object") {
  CHECK(WatchFrame("ADDED", R"({"kind":"Pod"})") ==
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"}}\n");
  const json::Value error = Line(ErrorFrame(Expired("too old resource version: 1 (683)")));
  CHECK(error["type"].AsString() == "ERROR");
  CHECK(error["object"]["code"].AsInt() == 410);
  CHECK(error["object"]["kind"].AsString() == "Status");
}

TEST_CASE("objects come in the form that was asked for") {
  WatchEncoder plain(Form(AnswerForm::Kind::kPlain), IncludeObject::kMetadata, nullptr);
  CHECK(Line(plain.Event("ADDED", Map("a")))["object"] == Map("a").root());
  WatchEncoder partial(Form(AnswerForm::Kind::kPartial), IncludeObject::kMetadata, nullptr);
  const json::Value object = Line(partial.Event("MODIFIED", Map("a")))["object"];
  CHECK(object["kind"].AsString() == "PartialObjectMetadata");
  CHECK(object["metadata"]["name"].AsString() == "a");
  CHECK_FALSE(object.Has("data"));
}

TEST_CASE("only the first table of a watch has columns") {
  WatchEncoder encoder(Form(AnswerForm::Kind::kTable), IncludeObject::kObject,
                       PrinterOf(kConfigMap));
  const std::string key = encoder.Key();
  const json::Value first = Line(encoder.Event("ADDED", Map("a")))["object"];
  CHECK(first["kind"].AsString() == "Table");
  CHECK(first["columnDefinitions"].size() == 3);
  CHECK(first["metadata"]["resourceVersion"].AsString() == "7");
  CHECK(first["rows"].At(0)["object"] == Map("a").root());
  CHECK(encoder.Key() != key);
  const json::Value second = Line(encoder.Event("ADDED", Map("b")))["object"];
  CHECK(second["columnDefinitions"].is_null());
  CHECK(second["rows"].At(0)["cells"].At(0).AsString() == "b");
}

TEST_CASE("bookmarks have a version and nothing else") {
  WatchEncoder plain(Form(AnswerForm::Kind::kPlain), IncludeObject::kMetadata, nullptr);
  CHECK(Line(plain.Bookmark(kConfigMap, "9", false)) ==
        *json::Parse(R"({"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "ConfigMap",
                         "metadata": {"resourceVersion": "9"}}})"));
  const json::Value end = Line(plain.Bookmark(kConfigMap, "9", true))["object"]["metadata"];
  CHECK(end["annotations"]["k8s.io/initial-events-end"].AsString() == "true");
  WatchEncoder table(Form(AnswerForm::Kind::kTable), IncludeObject::kMetadata,
                     PrinterOf(kConfigMap));
  const json::Value empty = Line(table.Bookmark(kConfigMap, "9", false))["object"];
  CHECK(empty["metadata"]["resourceVersion"].AsString() == "9");
  CHECK(empty["rows"].empty());
  // A row has the annotation, for clients that wait for it.
  const json::Value marked = Line(table.Bookmark(kConfigMap, "9", true))["object"];
  CHECK(marked["rows"].At(0)["object"]["metadata"].Has("annotations"));
}

}  // namespace
}  // namespace kube::server
