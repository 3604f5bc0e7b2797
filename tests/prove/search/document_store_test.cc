#include "tests/prove/search/document_store.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_join.h"

namespace prove {
namespace {

TEST_CASE("documents that are not what the members have are found") {
  const json::Value object = json::Value::Object(
      {{"metadata", json::Value::Object({{"namespace", "one"}, {"name", "a"}, {"uid", "u"}})}});
  const auto document = [](const char* name, const char* version) {
    return json::Value::Object({{"cluster", "member1"},
                                {"namespace", "one"},
                                {"name", name},
                                {"uid", "u"},
                                {"resourceVersion", version}});
  };
  History history;
  history.Add("member1", "one/a", 11, &object);
  const auto found = [&](const std::vector<json::Value>& documents) {
    return absl::StrJoin(JudgeDocuments(history, history.Moment(), documents), "\n");
  };
  CHECK(found({document("a", "11")}).empty());
  CHECK(found({document("a", "10")}) == "documents: member1 one/a is 10 of u instead of 11 of u");
  CHECK(found({}) == "documents: member1 one/a has none");
  CHECK(found({document("a", "11"), document("b", "9")}) ==
        "documents: member1 one/b is not there");
  CHECK(found({document("a", "11"), document("a", "9")}) == "documents: member1 one/a has two");
}

}  // namespace
}  // namespace prove
