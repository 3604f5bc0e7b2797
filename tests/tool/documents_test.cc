#include "tool/documents.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "tests/support/temp_directory.h"

namespace tool {
namespace {

std::vector<int> LinesOf(absl::string_view text) {
  std::vector<int> lines;
  for (const tool::DocumentText& part : tool::SplitDocuments(text)) lines.push_back(part.line);
  return lines;
}

std::string Joined(const std::vector<std::string>& names, const std::string& directory) {
  std::string out;
  for (const std::string& name : names) out += name.substr(directory.size() + 1) + " ";
  return out;
}

}  // namespace

TEST_CASE("A stream is split where a line begins with three dashes, blank parts left out") {
  CHECK(LinesOf("a: 1\n---\nb: 2\n--- # why\nc: 3\n") == std::vector<int>{1, 2, 4});
  CHECK(LinesOf("# only a comment\n---\n\n---\na: 1") == std::vector<int>{4});
  CHECK(LinesOf("text: |\n  ---\n  more\n----: x\n") == std::vector<int>{1});
  CHECK(LinesOf("").empty());
}

TEST_CASE("Documents know their file, number and line") {
  const auto documents = tool::ParseDocuments("web.yaml", "a: 1\n---\nb: 2\n");
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  CHECK((*documents)[1].Where() == "web.yaml, document 2, line 2");
  CHECK((*documents)[1].value["b"].AsInt() == 2);
  CHECK(tool::ParseDocuments("web.yaml", "a: 1\n")->front().Where() == "web.yaml");
}

TEST_CASE("What cannot be parsed is reported with file, document and the line in the file") {
  const auto documents = tool::ParseDocuments("web.yaml", "a: 1\n---\nb: 2\n c: [\n");
  CHECK_THAT(std::string(documents.status().message()),
             Catch::StartsWith("web.yaml, document 2: invalid YAML at line 4"));
}

TEST_CASE("JSON is read, and lists become their items") {
  const auto documents = tool::ParseDocuments(
      "-", R"({"kind":"PodList","items":[{"kind":"Pod"},{"kind":"Pod","metadata":{"name":"b"}}]})");
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  CHECK((*documents)[1].value.Get({"metadata", "name"}).AsString() == "b");
  CHECK((*documents)[1].path == std::vector<std::string>{"items", "1"});
}

TEST_CASE("A directory means its manifests, and those below only when asked") {
  const tests::TempDirectory dir;
  for (const char* name : {"b.yaml", "a.json", "c.txt", "sub/d.yml"}) dir.Write(name, "a: 1");
  CHECK(Joined(tool::FindFiles({dir.path()}, false).value(), dir.path()) == "a.json b.yaml ");
  CHECK(Joined(tool::FindFiles({dir.path()}, true).value(), dir.path()) ==
        "a.json b.yaml sub/d.yml ");
  CHECK(absl::IsNotFound(tool::FindFiles({dir.path() + "/none"}, false).status()));
}

TEST_CASE("Standard input is read once") {
  std::istringstream in("a: 1");
  tool::DocumentReader reader(in);
  CHECK(reader.Documents("-")->front().file == "standard input");
  CHECK(absl::IsInvalidArgument(reader.Documents("-").status()));
}

}  // namespace tool
