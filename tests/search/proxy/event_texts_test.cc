// Texts that watches of the same form share.
#include "search/proxy/internal/event_texts.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "tests/support/fake_clock.h"

namespace search {
namespace {

struct Fixture {
  tests::FakeClock clock;
  EventTexts texts{4000, clock};
  int made = 0;

  std::string Text(const kube::ObjectPtr& object, const std::string& form,
                   const std::string& version) {
    std::string out;
    const auto make = [&](const std::string& v) {
      ++made;
      return absl::StrCat("{", json::Write(v), ":", json::Write(object->name()), ",",
                          json::Write(v), "}");
    };
    texts.Append({object, nullptr, form}, version, make, out);
    return out;
  }
  static kube::ObjectPtr Named(const std::string& name) {
    return kube::Share(
        kube::Object(json::Value::Object({{"metadata", json::Value::Object({{"name", name}})}})));
  }
};

TEST_CASE_METHOD(Fixture, "a text is made once, and has the version of each watch") {
  const kube::ObjectPtr a = Named("a");
  CHECK(Text(a, "table", "1") == R"({"1":"a","1"})");
  CHECK(Text(a, "table", "2\"") == R"({"2\"":"a","2\""})");
  CHECK(made == 1);
  CHECK(Text(a, "other", "2") == R"({"2":"a","2"})");
  CHECK(Text(Named("a"), "table", "2") == R"({"2":"a","2"})");
  CHECK(made == 3);
}

TEST_CASE_METHOD(Fixture, "a text is made again when it tells an old age") {
  const kube::ObjectPtr a = Named("a");
  Text(a, "table", "1");
  clock.Advance(absl::Seconds(2));
  Text(a, "table", "1");
  CHECK(made == 2);
  Text(a, "table", "1");
  CHECK(made == 2);
}

TEST_CASE_METHOD(Fixture, "a text keeps no object") {
  kube::ObjectPtr a = Named("a");
  Text(a, "table", "1");
  const std::weak_ptr<const kube::Object> weak = a;
  a = nullptr;
  CHECK(weak.expired());
}

TEST_CASE_METHOD(Fixture, "the oldest texts go") {
  const kube::ObjectPtr first = Named("first");
  Text(first, "table", "1");
  for (int i = 0; i < 20; ++i) Text(Named(absl::StrCat(i)), "table", "1");
  CHECK(made == 21);
  Text(first, "table", "1");
  CHECK(made == 22);
}

}  // namespace
}  // namespace search
