// The cause of each situation in tests/data/lens, and what the report shows of it.
#include "lens/why/diagnosis.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "lens/why/report.h"
#include "tests/lens/why/situations.h"

namespace {

using tests::Situation;

// All lines of a tree.
void Collect(const lens::why::Node& node, std::string& text) {
  text += node.text + "\n";
  for (const lens::why::Node& child : node.children) Collect(child, text);
}

}  // namespace

TEST_CASE("Lens: each broken situation has its true cause in the first line") {
  const std::vector<Situation> situations = tests::ReadSituations();
  CHECK(situations.size() >= 50);
  for (const Situation& situation : situations) {
    INFO(situation.file << ": " << situation.Text("name"));
    const lens::why::Diagnosis diagnosis = lens::why::Diagnose(tests::ChainOf(situation));
    CHECK(diagnosis.headline == situation.Text("headline"));
    const std::string check = diagnosis.cause == nullptr ? "" : diagnosis.cause->check;
    CHECK(check == situation.Text("check"));
    if (situation.document.Has("arrived")) {
      CHECK(diagnosis.arrived == situation.document["arrived"].AsBool());
      continue;
    }
    if (diagnosis.cause == nullptr) continue;
    CHECK(lens::why::GradeName(diagnosis.cause->grade) ==
          situation.document["grade"].ToString("stuck"));
    CHECK(diagnosis.arrived == (diagnosis.cause->grade == lens::why::Grade::kNote));
  }
}

TEST_CASE("Lens: every check is the cause of some situation, and has a name of its own") {
  std::set<std::string> shown;
  for (const Situation& situation : tests::ReadSituations()) {
    for (const lens::why::Finding& finding :
         lens::why::Diagnose(tests::ChainOf(situation)).findings) {
      shown.insert(finding.check);
    }
  }
  std::set<std::string> names;
  for (const lens::why::Check& check : lens::why::AllChecks()) {
    INFO(check.name);
    CHECK(names.insert(check.name).second);
    CHECK(shown.count(check.name) == 1);
  }
}

TEST_CASE("Lens: a difference in the member is reported by its paths: its values may be secret") {
  json::Value document = json::Value::Object();
  document.Set({"members", "member1", "object", "spec", "replicas"}, 7);
  const lens::why::Diagnosis diagnosis =
      lens::why::Diagnose(tests::ChainOf({"spec.replicas differs", document}));
  REQUIRE(diagnosis.cause != nullptr);
  CHECK(diagnosis.cause->evidence == std::vector<std::string>{"spec.replicas"});
}

TEST_CASE("Lens: the report shows every finding, and is the same as JSON") {
  for (const Situation& situation : tests::ReadSituations()) {
    INFO(situation.file << ": " << situation.Text("name"));
    const lens::why::Chain chain = tests::ChainOf(situation);
    const lens::why::Diagnosis diagnosis = lens::why::Diagnose(chain);
    std::string text;
    Collect(lens::why::WayOf(chain, diagnosis), text);
    for (const lens::why::Finding& finding : diagnosis.findings) {
      INFO(text);
      CHECK(text.find(finding.cause) != std::string::npos);
    }
    const json::Value report = lens::why::ReportAsJson(chain, diagnosis);
    CHECK(report["headline"].AsString() == diagnosis.headline);
    CHECK(report["findings"].size() == diagnosis.findings.size());
    CHECK(report["way"]["text"].AsString().find(chain.asked.key.name) != std::string::npos);
  }
}
