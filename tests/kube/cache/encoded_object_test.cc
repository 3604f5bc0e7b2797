#include "kube/cache/encoded_object.h"

#include <catch2/catch.hpp>

#include "base/json.h"

namespace kube {
namespace {

const json::Fields kKept({"kind", "metadata.name", "metadata.resourceVersion", "status.phase"});
constexpr char kFrom[] = R"("example.com/from":"m1")";

EncodedPtr Encode(absl::string_view text) {
  auto root = json::Parse(text);
  REQUIRE(root.ok());
  return EncodedObject::Make(Object(*std::move(root)), kKept, "example.com/from");
}

std::string Edited(const EncodedObject& object, const EncodedObject::Edits& edits) {
  std::string out;
  object.AppendTo(out, edits);
  return out;
}

TEST_CASE("an encoded object keeps its whole text and only the wanted fields as values") {
  const auto pod = Encode(
      R"({"status":{"phase":"Running","podIP":"1"},"kind":"Pod","metadata":{"resourceVersion":"7",)"
      R"("name":"a"},"spec":{"x":[1,{"y":"z"}]}})");
  CHECK(pod->text() == R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"},)"
                       R"("spec":{"x":[1,{"y":"z"}]},"status":{"phase":"Running","podIP":"1"}})");
  CHECK(json::Write(pod->root()) ==
        R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"},)"
        R"("status":{"phase":"Running"}})");
  CHECK(pod->Decode().Get({"status", "podIP"}).AsString() == "1");
}

TEST_CASE("an annotation and a version are put into the text while it is copied") {
  const auto plain = Encode(R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}})");
  CHECK(Edited(*plain, {}) == plain->text());
  CHECK(Edited(*plain, {.annotation = kFrom, .version = "abc"}) ==
        R"({"kind":"Pod","metadata":{"annotations":{"example.com/from":"m1"},"name":"a",)"
        R"("resourceVersion":"abc"}})");

  const auto annotated = Encode(
      R"({"metadata":{"annotations":{"b":"{\"metadata\":{\"resourceVersion\":\"1\"}}"},"name":"a",)"
      R"("resourceVersion":"7"}})");
  CHECK(Edited(*annotated, {.annotation = kFrom}) ==
        R"({"metadata":{"annotations":{"example.com/from":"m1",)"
        R"("b":"{\"metadata\":{\"resourceVersion\":\"1\"}}"},"name":"a","resourceVersion":"7"}})");
  CHECK(Edited(*annotated, {.version = "8"}) ==
        R"({"metadata":{"annotations":{"b":"{\"metadata\":{\"resourceVersion\":\"1\"}}"},)"
        R"("name":"a","resourceVersion":"8"}})");
}

TEST_CASE("an annotation that readers add is not kept from the server, lest there be two of them") {
  const auto forged = Encode(
      R"({"metadata":{"annotations":{"example.com/from":"liar"},"name":"a","resourceVersion":"7"}})");
  CHECK(
      Edited(*forged, {.annotation = kFrom}) ==
      R"({"metadata":{"annotations":{"example.com/from":"m1"},"name":"a","resourceVersion":"7"}})");
}

TEST_CASE("an object without metadata or version is copied as it is") {
  CHECK(Edited(*Encode(R"({"kind":"Pod"})"), {.annotation = kFrom, .version = "8"}) ==
        R"({"kind":"Pod"})");
  CHECK(Edited(*Encode(R"({"metadata":{"annotations":{}}})"), {.annotation = kFrom}) ==
        R"({"metadata":{}})");
  CHECK(Edited(*Encode(R"({"metadata":{"resourceVersion":12}})"), {.version = "8"}) ==
        R"({"metadata":{"resourceVersion":12}})");
  CHECK(Edited(*Encode(R"({"metadata":{"name":"a"}})"), {.version = "8"}) ==
        R"({"metadata":{"name":"a"}})");
}

}  // namespace
}  // namespace kube
