// Objects and policies that an API server accepts must not make override policies fill the memory.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "overrides/internal/json_text.h"
#include "overrides/internal/overriders.h"

namespace {

using json::Value;

absl::StatusOr<std::string> PatchText(absl::string_view text, const Value& operations) {
  kube::PatchBudget budget;
  return overrides::PatchJsonText(text, operations, budget);
}

Value ParseJson(absl::string_view text) {
  absl::StatusOr<Value> value = json::Parse(text);
  INFO(value.status());
  REQUIRE(value.ok());
  return *std::move(value);
}

std::string Repeated(absl::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) absl::StrAppend(&repeated, text);
  return repeated;
}

Value ConfigMapOf(const std::string& f, const std::string& g) {
  return Value::Object({{"kind", "ConfigMap"}, {"data", Value::Object({{"f", f}, {"g", g}})}});
}

// Returns the error of YAML operations that add a member to both texts of the ConfigMap.
std::string ErrorOfYaml(const Value& config_map) {
  overrides::Draft draft = {config_map};
  return std::string(overrides::ApplyOverriders(ParseJson(R"({"fieldOverrider": [
          {"fieldPath": "/data/f", "yaml": [{"subPath": "/x", "operator": "add", "value": 1}]},
          {"fieldPath": "/data/g", "yaml": [{"subPath": "/x", "operator": "add", "value": 1}]}]})"),
                                                "spec.overriders", draft)
                         .message());
}

TEST_CASE("YAML that would grow to hundreds of megabytes is refused") {
  const std::string text =
      absl::StrCat("a: &a [0", Repeated(",0", 100000), "]\nb: ", Repeated("{k: ", 380),
                   "[*a,*a,*a,*a,*a,*a,*a,*a]", std::string(380, '}'), "\n");
  CHECK(absl::StartsWith(ErrorOfYaml(ConfigMapOf(text, "{}")),
                         "spec.overriders.fieldOverrider[0]: YAML in /data/f: the YAML text would "
                         "have more than "));
}

TEST_CASE("the YAML of many fields may not grow together, either") {
  const std::string text =
      absl::StrCat("a: &a [0", Repeated(",0", 1000), "]\nb: [*a", Repeated(",*a", 200), "]\n");
  CHECK(ErrorOfYaml(ConfigMapOf(text, "{}")).empty());
  CHECK(absl::StartsWith(ErrorOfYaml(ConfigMapOf(text, text)),
                         "spec.overriders.fieldOverrider[1]: YAML in /data/g: the YAML text would "
                         "have more than "));
}

TEST_CASE("integers of YAML that would be rounded are refused") {
  for (const char* number : {"12345678901234567890", "0xffffffffffffffff", "9223372036854775808"}) {
    CHECK(absl::StrContains(ErrorOfYaml(ConfigMapOf("{}", absl::StrCat("a: [1, ", number, "]"))),
                            "fieldOverrider[1]: YAML in /data/g: the number at \"/a/1\" is beyond "
                            "the range of signed 64-bit integers and would be rounded"));
  }
  for (const char* number : {"9223372036854775807", "-9223372036854775808", "1e30", "0.5"}) {
    CHECK(ErrorOfYaml(ConfigMapOf("{}", absl::StrCat("a: [1, ", number, "]"))).empty());
  }
}

Value PodWith(int containers, const Value& container) {
  Value list = Value::Array();
  for (int i = 0; i < containers; ++i) list.Append(container);
  return Value::Object({{"kind", "Pod"}, {"spec", Value::Object({{"containers", list}})}});
}

TEST_CASE("what an overrider adds to each of many containers is bounded") {
  const std::string large(1000, 'x');
  const Value overriders = ParseJson(GENERATE_COPY(
      absl::StrCat(R"({"imageOverrider": [{"component": "Registry", "operator": "add", "value": ")",
                   large, R"("}]})"),
      absl::StrCat(R"({"argsOverrider": [{"containerName": "c", "operator": "add", "value": [")",
                   large, R"("]}]})")));
  const Value container = ParseJson(R"({"name": "c", "image": "i"})");
  overrides::Draft many = {PodWith(3000, container)};
  CHECK(absl::StrContains(overrides::ApplyOverriders(overriders, "f", many).message(),
                          "overriders add more than 2097152 bytes to the object"));
  overrides::Draft few = {PodWith(1000, container)};
  CHECK(overrides::ApplyOverriders(overriders, "f", few).ok());
}

TEST_CASE("many arguments are removed in a time that grows with their number") {
  Value words = Value::Array();
  for (int i = 0; i < 100000; ++i) words.Append(absl::StrCat("--some-argument-", i));
  Value args = words;
  args.Append("--kept");
  overrides::Draft draft = {PodWith(1, Value::Object({{"name", "c"}, {"args", args}}))};
  const Value overrider =
      Value::Object({{"containerName", "c"}, {"operator", "remove"}, {"value", words}});
  REQUIRE(overrides::ApplyOverriders(Value::Object({{"argsOverrider", Value::Array({overrider})}}),
                                     "f", draft)
              .ok());
  CHECK(draft.root["spec"]["containers"].At(0)["args"] == Value::Array({"--kept"}));
}

long PeakKilobytes() {  // NOLINT: the type of the field.
  rusage usage = {};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_maxrss;
}

TEST_CASE("a large string deep inside JSON text is not copied for each level") {
  const std::string text = absl::StrCat(Repeated(R"({"a":)", 500), R"({"s":")",
                                        std::string(900000, 'x'), R"("})", std::string(500, '}'));
  const Value operations = Value::Array({Value::Object(
      {{"op", "add"}, {"path", absl::StrCat(Repeated("/a", 500), "/t")}, {"value", 1}})});
  const auto before = PeakKilobytes();
  const auto patched = PatchText(text, operations);
  REQUIRE(patched.ok());
  CHECK(patched->size() == text.size() + 6);
  CHECK(PeakKilobytes() - before < 100000);
}

TEST_CASE("operations nest JSON text no deeper than it may be read") {
  Value nested = Value::Object();
  for (int i = 1; i < 300; ++i) nested = Value::Object({{"a", nested}});
  const auto operations = [&](int second) {
    return Value::Array(
        {Value::Object({{"op", "add"}, {"path", "/a"}, {"value", nested}}),
         Value::Object({{"op", "add"}, {"path", Repeated("/a", second)}, {"value", nested}})});
  };
  const auto fits = PatchText("{}", operations(212));
  REQUIRE(fits.ok());
  CHECK(json::Parse(*fits).ok());
  CHECK(absl::EndsWith(PatchText("{}", operations(213)).status().message(),
                       "the result is nested too deeply"));
}

}  // namespace
