#include "lens/plan/secrets.h"

#include <catch2/catch.hpp>

#include "base/yaml.h"

namespace lens::plan {
namespace {

kube::Object Read(const std::string& text) { return kube::Object(*yaml::Parse(text)); }

constexpr char kSecret[] = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";

}  // namespace

TEST_CASE("Plan: values of Secrets are hidden, and different ones can be told apart") {
  const auto [before, after] =
      WithoutSecrets(Read(std::string(kSecret) + "data: {same: MQ==, other: Mg==, gone: Mw==}\n"),
                     Read(std::string(kSecret) + "data: {same: MQ==, other: NA==}\n"));
  CHECK(before.root()["data"] == *yaml::Parse("{same: '***', other: '*** (before)', gone: '***'}"));
  CHECK(after.root()["data"] == *yaml::Parse("{same: '***', other: '*** (after)'}"));
  CHECK(before.name() == "a");
}

TEST_CASE("Plan: whatever form a Secret's values have, they are hidden") {
  for (const char* fields : {"stringData: {a: hush}", "data: hush", "data: [hush]",
                             "data: {a: {b: hush}}", "stringData: {a: hush}\ndata: {a: hush}"}) {
    INFO(fields);
    const kube::Object secret = Read(std::string(kSecret) + fields);
    CHECK(json::Write(WithoutSecrets(secret).root()).find("hush") == std::string::npos);
    const auto [before, after] = WithoutSecrets(Read(kSecret), secret);
    CHECK(before == Read(kSecret));
    CHECK(json::Write(after.root()).find("hush") == std::string::npos);
  }
}

TEST_CASE("Plan: what is no Secret of the core group keeps its values") {
  for (const char* text :
       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n",
        "apiVersion: example.io/v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: b}\n"}) {
    CHECK(WithoutSecrets(Read(text)) == Read(text));
  }
  CHECK(WithoutSecrets(kube::Object()).empty());
}

}  // namespace lens::plan
