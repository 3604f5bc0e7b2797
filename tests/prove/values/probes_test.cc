#include "tests/prove/values/probes.h"

#include <catch2/catch.hpp>

#include "base/yaml.h"

namespace prove {
namespace {

json::Value Parsed(const char* yaml) {
  const absl::StatusOr<json::Value> value = yaml::Parse(yaml);
  REQUIRE(value.ok());
  return *value;
}

Subject Small() {
  Subject subject;
  subject.schema = Parsed(R"({type: object, properties: {
    spec: {type: object, properties: {
      size: {type: integer, format: int32, minimum: 3},
      mode: {type: string, enum: [A, B]},
      names: {type: array, items: {type: string}},
      inner: {type: object, required: [kind], properties: {kind: {type: string}, big: {type: boolean}}},
      labels: {type: object, additionalProperties: {type: string}}}},
    status: {type: object, properties: {size: {type: integer}}}}})");
  subject.object = Parsed("{spec: {mode: A, names: [x, y], labels: {a/b: c}}}");
  return subject;
}

bool Has(const std::vector<std::string>& probes, const std::string& probe) {
  return std::find(probes.begin(), probes.end(), probe) != probes.end();
}

TEST_CASE("The walk finds values for each property, but what a user does not write") {
  const std::vector<std::string> probes = Probes(Small());
  for (const char* probe :
       {"spec.size =3", "spec.size =-2147483648", "spec.mode =\"B\"", "spec.mode absent",
        "spec.names =[]", "spec.names twice", "spec.names[0] =\"\"", "spec.inner.big =true",
        R"(spec.labels["a/b"] long 253)"}) {
    INFO(probe);
    CHECK(Has(probes, probe));
  }
  CHECK_FALSE(Has(probes, "spec.mode =\"A\""));  // As it is.
  CHECK_FALSE(Has(probes, "spec.size absent"));
  for (const std::string& probe : probes) CHECK(probe.find("status") != 0);
}

TEST_CASE("A probe makes the object that its name says") {
  const Subject subject = Small();
  const auto with = [&](const char* probe) {
    const auto changed = WithProbe(subject, subject.object, probe);
    REQUIRE(changed.ok());
    return (*changed)["spec"];
  };
  CHECK(with("spec.names absent") == Parsed("{mode: A, labels: {a/b: c}}"));
  CHECK(with("spec.names twice")["names"] == Parsed("[x, y, x]"));
  CHECK(with("spec.names[0] absent")["names"] == Parsed("[y]"));
  CHECK(with(R"(spec.labels["a/b"] ="d e")")["labels"] == Parsed("{a/b: d e}"));
  CHECK(with("spec.mode long 4")["mode"] == json::Value("xxxx"));
  CHECK(with(R"(together {"spec":{"size":1,"mode":null}})") ==
        Parsed("{size: 1, names: [x, y], labels: {a/b: c}}"));
}

TEST_CASE("What a probe needs and the object lacks comes from samples, or is the least") {
  Subject subject = Small();
  CHECK((*WithProbe(subject, subject.object, "spec.inner.big =true"))["spec"]["inner"] ==
        Parsed("{kind: some, big: true}"));
  subject.samples = Parsed("{spec.inner: {kind: mine}}");
  CHECK((*WithProbe(subject, subject.object, "spec.inner.big =true"))["spec"]["inner"] ==
        Parsed("{kind: mine, big: true}"));
}

TEST_CASE("What is not a probe is refused") {
  const Subject subject = Small();
  for (const char* probe :
       {"", "spec.size", "spec.size 3", "spec.colour =1", "spec..size =1", "spec.names[x] =1",
        "spec.size =}", "together {", "spec.mode long -1"}) {
    INFO(probe);
    CHECK_FALSE(WithProbe(subject, subject.object, probe).ok());
  }
}

}  // namespace
}  // namespace prove
