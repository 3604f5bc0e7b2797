// Composite versions and the origin annotation in the bodies of writes.
#include "search/proxy/internal/write_body.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

// Stands for the composite version {"member1": "714", "member2": "9"}.
constexpr char kBoth[] = "c-both";
constexpr char kOnlyFirst[] = "c-first";
constexpr char kPodPath[] = "/api/v1/namespaces/ns/pods/web";

std::optional<MemberVersions> Decode(absl::string_view version) {
  if (version == kBoth) return MemberVersions{{"member1", "714"}, {"member2", "9"}};
  if (version == kOnlyFirst) return MemberVersions{{"member1", "714"}};
  return std::nullopt;
}

InnerRequest Write(const std::string& method, const std::string& target, const std::string& type,
                   const std::string& body) {
  InnerRequest inner = Inner(method, target);
  inner.request.headers["content-type"] = type;
  inner.request.body = body;
  return inner;
}

std::string Translated(const InnerRequest& inner, const std::string& member = "member1") {
  const auto body = WriteBody::Of(inner, Decode);
  CAPTURE(body.status());
  REQUIRE(body.ok());
  const auto text = body->For(member);
  CAPTURE(text.status());
  REQUIRE(text.ok());
  return *text;
}

std::string TranslatedPut(const std::string& body) {
  return Translated(Write("PUT", kPodPath, "application/json", body));
}

TEST_CASE("a composite version becomes the member's, and nothing else changes") {
  CHECK(TranslatedPut(R"({"metadata":{"resourceVersion":"c-both","name":"web"}})") ==
        R"({"metadata":{"resourceVersion":"714","name":"web"}})");
  // Bytes that a parser would lose: order, spaces, numbers, escapes, unknown and repeated fields.
  CHECK(
      TranslatedPut(" { \"z\" : 1.0, \"a\":12345678901234567890123, \"metadata\" : "
                    "{\"\\u0072esourceVersion\" : \"c-both\" , \"x\":\"\\u00e9\"},\"z\":1e2 }\n") ==
      " { \"z\" : 1.0, \"a\":12345678901234567890123, \"metadata\" : "
      "{\"\\u0072esourceVersion\" : \"714\" , \"x\":\"\\u00e9\"},\"z\":1e2 }\n");
  CHECK(Translated(Write("PUT", kPodPath, "application/json; charset=utf-8",
                         R"({"metadata":{"resourceVersion":"c-both"}})"),
                   "member2") == R"({"metadata":{"resourceVersion":"9"}})");
}

TEST_CASE("the version of a single server stays") {
  for (const std::string body :
       {R"({"metadata":{"resourceVersion":"12345"}})", R"({"metadata":{"resourceVersion":""}})",
        R"({"metadata":{"resourceVersion":7}})", R"({"metadata":{}})", R"({"metadata":null})", "{}",
        R"({"spec":{"metadata":{"resourceVersion":"c-both"}}})", R"({"resourceVersion":"c-both"})",
        R"({"metadata":["resourceVersion","c-both"]})", "[]", "not json", "{\"metadata\":"}) {
    CAPTURE(body);
    CHECK(TranslatedPut(body) == body);
  }
}

TEST_CASE("the annotation that names the member is taken out with its comma") {
  const std::string key = "\"resource.karmada.io/cached-from-cluster\"";
  const auto annotations = [](const std::string& inside) {
    return R"({"metadata":{"annotations":{)" + inside + "}}}";
  };
  CHECK(TranslatedPut(annotations(key + ":\"m\"")) == annotations(""));
  CHECK(TranslatedPut(annotations(key + ":\"m\",\"a\":\"1\"")) == annotations("\"a\":\"1\""));
  CHECK(TranslatedPut(annotations("\"a\":\"1\"," + key + ":\"m\"")) == annotations("\"a\":\"1\""));
  CHECK(TranslatedPut(annotations("\"a\":\"1\" , " + key + " : \"m\" ,\"b\":\"2\"")) ==
        annotations("\"a\":\"1\"  ,\"b\":\"2\""));
  CHECK(TranslatedPut(annotations(" " + key + ":null}, \"x\":{\"y\":{}")) ==
        annotations(" }, \"x\":{\"y\":{}"));
}

TEST_CASE("a version without an entry for the member is a conflict, not an unconditional write") {
  const InnerRequest inner =
      Write("PUT", kPodPath, "application/json", R"({"metadata":{"resourceVersion":"c-first"}})");
  const auto body = WriteBody::Of(inner, Decode);
  REQUIRE(body.ok());
  const kube::server::ApiError error = kube::server::ErrorOf(body->For("member2").status());
  CHECK(error.code == 409);
  CHECK(error.reason == "Conflict");
  CHECK_THAT(error.message, Catch::StartsWith("Operation cannot be fulfilled on pods \"web\": "));
  CHECK(body->For("member1").ok());
}

TEST_CASE("the body says which member its object was read from") {
  const auto origin = [](const std::string& text) {
    const InnerRequest inner = Write("PUT", kPodPath, "application/json", text);
    const auto body = WriteBody::Of(inner, Decode);
    REQUIRE(body.ok());
    return body->origin();
  };
  CHECK(origin("{}") == "");
  CHECK(origin(R"({"metadata":{"resourceVersion":"c-both"}})") == "");
  CHECK(origin(R"({"metadata":{"resourceVersion":"c-first"}})") == "member1");
  CHECK(origin(R"({"metadata":{"resourceVersion":"c-first","annotations":)"
               R"({"resource.karmada.io/cached-from-cluster":"member2"}}})") == "member2");
}

TEST_CASE("a field that is there twice is refused, because readers differ on which one counts") {
  for (const std::string text :
       {R"({"metadata":{"resourceVersion":"1","resourceVersion":"c-both"}})",
        R"({"metadata":{"resourceVersion":"1"},"metadata":{"resourceVersion":"c-both"}})",
        R"({"metadata":{"annotations":{"resource.karmada.io/cached-from-cluster":"a",)"
        R"("resource.karmada.io/cached-from-cluster":"b"}}})"}) {
    CAPTURE(text);
    const InnerRequest inner = Write("PUT", kPodPath, "application/json", text);
    CHECK(CodeOf(WriteBody::Of(inner, Decode).status()) == 400);
  }
}

TEST_CASE("operations of a JSON patch on the annotation that names the member are taken out") {
  const auto operation = [](const std::string& op, const std::string& value = "") {
    const std::string with = value.empty() ? "" : R"(,"value":")" + value + "\"";
    return R"({"op":")" + op +
           R"(","path":"/metadata/annotations/resource.karmada.io~1cached-from-cluster")" + with +
           "}";
  };
  const auto patch = [](const std::string& text, const std::string& target = kPodPath) {
    return Write("PATCH", target, "application/json-patch+json", text);
  };
  const std::string a = R"({"op":"add","path":"/spec/a","value":1})";
  const std::string b = R"({"op":"add","path":"/spec/b","value":2})";
  const std::string add = operation("add", "m"), test = operation("test", "m");
  CHECK(Translated(patch("[" + add + "]")) == "[]");
  CHECK(Translated(patch("[ " + test + " , " + add + ", " + a + "]")) == "[ " + a + "]");
  CHECK(Translated(patch("[" + test + "," + a + " , " + add + "," + operation("remove") + ", " + b +
                         "]")) == "[" + a + ", " + b + "]");
  CHECK(Translated(patch("[" + a + ", " + operation("replace", "m") + " ]")) == "[" + a + " ]");
  CHECK(WriteBody::Of(patch("[" + test + "]"), Decode)->origin() == "m");
  CHECK(WriteBody::Of(patch("[" + operation("remove") + "]"), Decode)->origin() == "");
  // A test that is false for the chosen member is the member's to refuse.
  const std::string other = "[" + test + "," + a + "]";
  CHECK(Translated(patch(other, absl::StrCat(kPodPath, "?cluster=member1"))) == other);
}

TEST_CASE("a JSON patch has a bound, and a version is a text") {
  std::string operations = R"({"op":"test","path":"/a"})";
  for (int i = 1; i < 10'000; ++i) absl::StrAppend(&operations, R"(,{"op":"test","path":"/a"})");
  const auto patch = [](const std::string& text) {
    return WriteBody::Of(Write("PATCH", kPodPath, "application/json-patch+json", text), Decode);
  };
  CHECK(patch(absl::StrCat("[", operations, "]")).ok());
  const absl::Status refused = patch(absl::StrCat("[", operations, ",{}]")).status();
  CHECK(kube::server::ErrorOf(refused).code == 400);
  const std::string odd = R"({"metadata":{"resourceVersion":["c-both"]}})";
  CHECK(Translated(Write("PATCH", kPodPath, "application/merge-patch+json", odd)) == odd);
}

TEST_CASE("patches of all types are translated") {
  const std::string merge = R"({"metadata":{"resourceVersion":"c-both"},"spec":{}})";
  const std::string translated = R"({"metadata":{"resourceVersion":"714"},"spec":{}})";
  for (const std::string type :
       {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    CHECK(Translated(Write("PATCH", kPodPath, type, merge)) == translated);
  }
  const std::string apply = "metadata:\n  resourceVersion: c-both\n  name: web\n";
  CHECK(Translated(Write("PATCH", kPodPath, "application/apply-patch+yaml", apply)) ==
        R"({"metadata":{"name":"web","resourceVersion":"714"}})");
  const std::string untouched = "metadata:\n  name: web # 1.0\n";
  CHECK(Translated(Write("PATCH", kPodPath, "application/apply-patch+yaml", untouched)) ==
        untouched);
  CHECK(Translated(Write("PATCH", kPodPath, "application/json-patch+json",
                         R"([{"op":"test","path":"/metadata/resourceVersion","value":"c-both"},)"
                         R"({"op":"add","path":"/spec/x","value":"c-both"},)"
                         R"({"value":{"resourceVersion":"c-both"},"op":"add","path":"/metadata"},)"
                         R"({"op":"replace","path":"","value":{"metadata":{"annotations":)"
                         R"({"resource.karmada.io/cached-from-cluster":"m"}}}},)"
                         R"({"op":"remove","path":"/spec/y"}])")) ==
        R"([{"op":"test","path":"/metadata/resourceVersion","value":"714"},)"
        R"({"op":"add","path":"/spec/x","value":"c-both"},)"
        R"({"value":{"resourceVersion":"714"},"op":"add","path":"/metadata"},)"
        R"({"op":"replace","path":"","value":{"metadata":{"annotations":{}}}},)"
        R"({"op":"remove","path":"/spec/y"}])");
}

TEST_CASE("preconditions of deletions and evictions are translated") {
  CHECK(Translated(Write("DELETE", kPodPath, "application/json",
                         R"({"preconditions":{"resourceVersion":"c-both"}})")) ==
        R"({"preconditions":{"resourceVersion":"714"}})");
  CHECK(Translated(Write("DELETE", kPodPath, "", "")) == "");
  CHECK(Translated(Write("POST", std::string(kPodPath) + "/eviction", "application/json",
                         R"({"metadata":{"name":"web"},"deleteOptions":)"
                         R"({"preconditions":{"resourceVersion":"c-both"}}})")) ==
        R"({"metadata":{"name":"web"},"deleteOptions":)"
        R"({"preconditions":{"resourceVersion":"714"}}})");
}

TEST_CASE("what an application behind the cluster gets is not looked into") {
  const std::string text = R"({"metadata":{"resourceVersion":"c-both"}})";
  CHECK(Translated(Write("POST", "/api/v1/namespaces/ns/services/s/proxy/x", "text/plain", text)) ==
        text);
}

TEST_CASE("a type in which a version could not be found is refused") {
  for (const std::string type :
       {"application/cbor", "application/apply-patch+cbor", "text/plain"}) {
    CAPTURE(type);
    const InnerRequest inner = Write("PUT", kPodPath, type, "x");
    CHECK(CodeOf(WriteBody::Of(inner, Decode).status()) == 415);
  }
}

// Returns a length-delimited protobuf field. REQUIRES: contents of less than 128 bytes.
std::string Field(int number, const std::string& contents) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  out.push_back(static_cast<char>(contents.size()));
  return out + contents;
}

std::string Envelope(const std::string& object) {
  return std::string("k8s\0", 4) + Field(1, Field(1, "v1") + Field(2, "Pod")) + Field(2, object);
}

TEST_CASE("protobuf bodies are translated by their field numbers") {
  const std::string name = Field(1, "web");
  const std::string other = Field(12, Field(1, "a") + Field(2, "1"));
  const std::string origin =
      Field(12, Field(1, "resource.karmada.io/cached-from-cluster") + Field(2, "m2"));
  const auto pod = [&](const std::string& metadata) {
    return Envelope(Field(1, name + metadata) + Field(2, "spec") + "\x18\x05");
  };
  const std::string type = "application/vnd.kubernetes.protobuf";
  const InnerRequest inner = Write("PUT", kPodPath, type, pod(Field(6, kBoth) + other + origin));
  CHECK(Translated(inner) == pod(Field(6, "714") + other));
  CHECK(WriteBody::Of(inner, Decode)->origin() == "m2");
  CHECK(Translated(Write("PUT", kPodPath, type, pod(Field(6, "15")))) == pod(Field(6, "15")));

  const InnerRequest first = Write("PUT", kPodPath, type, pod(Field(6, kOnlyFirst)));
  CHECK(CodeOf(WriteBody::Of(first, Decode)->For("member2").status()) == 409);

  const std::string options = Envelope(Field(2, Field(2, kBoth)));
  CHECK(Translated(Write("DELETE", kPodPath, type, options)) ==
        Envelope(Field(2, Field(2, "714"))));

  for (const std::string& broken :
       {std::string("k8s\0\x0a\x7f", 6), std::string("k8s\0\xff", 5), std::string("json")}) {
    CHECK(Translated(Write("PUT", kPodPath, type, broken)) == broken);
  }
}

TEST_CASE("a body of two types is refused") {
  InnerRequest inner = Inner("PUT", kPodPath);
  inner.request.body = R"({"metadata":{"resourceVersion":"c-both"}})";
  SetHeader(inner.request, "Content-Type", "application/json");
  CHECK(WriteBody::Of(inner, Decode).ok());
  SetHeader(inner.request, "content-type", "application/yaml");
  CHECK(CodeOf(WriteBody::Of(inner, Decode).status()) == 400);
}

TEST_CASE("a body of many values is read without building them") {
  // As values it would be refused as too large, and the composite version would stay in it.
  std::string many = "[[]";
  for (int i = 0; i < 1'100'000; ++i) many += ",[]";
  const std::string body =
      absl::StrCat(R"({"metadata":{"resourceVersion":"c-both"},"x":)", many, "]}");
  CHECK(absl::StrContains(TranslatedPut(body).substr(0, 60), R"("resourceVersion":"714")"));
}

TEST_CASE("JSON that is sent as YAML is read as JSON, and long YAML is refused") {
  const std::string text(1 << 20, 'x');
  const std::string json =
      absl::StrCat(R"({"metadata":{"resourceVersion":"c-both"},"x":")", text, "\"}");
  CHECK(absl::StrContains(
      Translated(Write("PATCH", kPodPath, "application/apply-patch+yaml", json)).substr(0, 60),
      R"("resourceVersion":"714")"));
  const auto refused = WriteBody::Of(
      Write("PATCH", kPodPath, "application/apply-patch+yaml", absl::StrCat("x: ", text)), Decode);
  CHECK(kube::server::ErrorOf(refused.status()).code == 400);
}

}  // namespace
}  // namespace search
