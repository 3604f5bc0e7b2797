// The cause of each situation in tests/data/lens, and what the report shows of it.
#include "lens/why/diagnosis.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/reasons.h"
#include "base/files.h"
#include "base/yaml.h"
#include "lens/why/report.h"
#include "tests/lens/why/situations.h"

namespace {

using tests::Situation;

// All lines of a tree.
void Collect(const lens::why::Node& node, std::string& text) {
  text += node.text + "\n";
  for (const lens::why::Node& child : node.children) Collect(child, text);
}

// A situation with what is read and concluded of it.
struct Case {
  Situation situation;
  lens::why::Chain chain;
  lens::why::Diagnosis diagnosis;
};

// Returns the finding that the situation is about: the cause, or a note about what has arrived.
const lens::why::Finding* Subject(const Situation& situation,
                                  const lens::why::Diagnosis& diagnosis) {
  if (situation.Text("grade") != "note" || diagnosis.cause != nullptr) return diagnosis.cause;
  for (const lens::why::Finding& finding : diagnosis.findings) {
    if (finding.check == situation.Text("check")) return &finding;
  }
  return nullptr;
}

// Every situation; they are made once for all tests.
const std::vector<Case>& Cases() {
  static const auto& cases = *[] {
    auto* made = new std::vector<Case>;
    for (const Situation& situation : tests::ReadSituations()) {
      lens::why::Chain chain = tests::ChainOf(situation);
      lens::why::Diagnosis diagnosis = lens::why::Diagnose(chain);
      made->push_back({situation, std::move(chain), std::move(diagnosis)});
    }
    return made;
  }();
  return cases;
}

// Returns the phrases in backticks of the first column of the tables of docs/on-call.md that say
// what to do about a first line: those of templates, and those of objects of Karmada's own.
std::vector<std::vector<std::string>> PhrasesOnCall() {
  std::vector<std::vector<std::string>> tables;
  bool is_inside = false;
  const std::string text = base::ReadFile("docs/on-call.md").value();
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "| the first line says |")) {
      tables.emplace_back();
      is_inside = true;
      continue;
    }
    if (!absl::StartsWith(line, "| ")) is_inside = is_inside && absl::StartsWith(line, "|-");
    if (!is_inside || absl::StartsWith(line, "|-")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    const std::vector<std::string> parts = absl::StrSplit(cells[1], '`');
    for (size_t i = 1; i < parts.size(); i += 2) {
      tables.back().push_back(absl::AsciiStrToLower(parts[i]));
    }
  }
  return tables;
}

// Returns whether the line has the parts of the phrase between "...", one after the other.
bool HasPhrase(absl::string_view line, absl::string_view phrase) {
  const std::string lower = absl::AsciiStrToLower(line);
  size_t at = 0;
  for (const absl::string_view part : absl::StrSplit(phrase, "...")) {
    at = lower.find(std::string(part), at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

}  // namespace

TEST_CASE("Lens: each broken situation has its true cause in the first line") {
  CHECK(Cases().size() >= 100);
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    INFO(situation.file << ": " << situation.Text("name"));
    const lens::why::Finding* subject = Subject(situation, diagnosis);
    const bool aside = subject != diagnosis.cause;
    if (aside) CHECK(absl::StrContains(diagnosis.headline, " has arrived in "));
    CHECK((aside ? subject->cause : diagnosis.headline) == situation.Text("headline"));
    const std::string advice = aside ? subject->advice : diagnosis.advice;
    if (situation.document.Has("advice")) CHECK(advice == situation.Text("advice"));
    CHECK((subject == nullptr ? "" : subject->check) == situation.Text("check"));
    if (situation.document.Has("arrived")) {
      CHECK(diagnosis.arrived == situation.document["arrived"].AsBool());
      continue;
    }
    if (subject == nullptr) continue;
    CHECK(lens::why::GradeName(subject->grade) == situation.document["grade"].ToString("stuck"));
    CHECK(diagnosis.arrived == (subject->grade == lens::why::Grade::kNote));
  }
}

TEST_CASE("Lens: every check is the cause of some situation, and has a name of its own") {
  std::set<std::string> shown;
  for (const Case& one : Cases()) {
    for (const lens::why::Finding& finding : one.diagnosis.findings) shown.insert(finding.check);
  }
  std::set<std::string> names;
  for (const lens::why::Check& check : lens::why::AllChecks()) {
    INFO(check.name);
    CHECK(names.insert(check.name).second);
    CHECK(shown.count(check.name) == 1);
  }
}

TEST_CASE("Lens: docs/on-call.md has each first line, and no line that nothing says") {
  const std::vector<std::vector<std::string>> tables = PhrasesOnCall();
  REQUIRE(tables.size() == 2);
  std::set<std::string> said;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    INFO(situation.file << ": " << situation.Text("name") << ": " << diagnosis.headline);
    bool is_there = false;
    for (const std::vector<std::string>& table : tables) {
      const bool is_of_own = &table == &tables[1];
      if (is_of_own && !lens::why::IsOwnGroup(chain.asked.gvk.group)) continue;
      for (const std::string& phrase : table) {
        if (!HasPhrase(diagnosis.headline, phrase)) continue;
        said.insert(phrase);
        is_there = true;
      }
    }
    const bool is_bad =
        diagnosis.cause != nullptr && diagnosis.cause->grade != lens::why::Grade::kNote;
    if (is_bad) CHECK(is_there);
  }
  for (const std::vector<std::string>& table : tables) {
    for (const std::string& phrase : table) {
      INFO(phrase);
      CHECK((said.count(phrase) == 1 || phrase == "fits ... by now"));  // tests/data/advice has it.
    }
  }
}

TEST_CASE("Lens: a difference in the member is reported by its paths: its values may be secret") {
  json::Value document = json::Value::Object();
  document.Set({"members", "member1", "object", "spec", "replicas"}, 7);
  const lens::why::Diagnosis diagnosis =
      lens::why::Diagnose(tests::ChainOf({"spec.replicas differs", document}));
  REQUIRE(diagnosis.findings.size() == 1);
  CHECK(diagnosis.findings[0].evidence == std::vector<std::string>{"spec.replicas"});
}

TEST_CASE("Lens: clusters that keep an earlier state of a released template are named") {
  std::vector<std::string> causes;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    if (situation.Text("name") != "a policy has released the template, which was edited since") {
      continue;
    }
    for (const lens::why::Finding& finding : diagnosis.findings) {
      if (finding.check == "template-held-back") causes.push_back(finding.cause);
    }
  }
  CHECK(causes == std::vector<std::string>{
                      "member1 keeps an earlier state of Deployment shop/web, because no policy "
                      "governs it any more",
                      "member2 keeps an earlier state of Deployment shop/web, because no policy "
                      "governs it any more"});
}

// Returns what is found besides in the situation, by the names of the checks.
std::vector<std::string> ChecksIn(const std::string& name) {
  std::vector<std::string> checks;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    if (situation.Text("name") != name) continue;
    for (const lens::why::Finding& finding : diagnosis.findings) checks.push_back(finding.check);
  }
  return checks;
}

TEST_CASE("Lens: each taint of a cluster says since when it is there, and who sets it") {
  std::vector<std::string> notes;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    if (situation.Text("name") != "a cluster has taints, of a policy and of somebody") continue;
    for (const lens::why::Finding& finding : diagnosis.findings) {
      notes.push_back(finding.cause + "; " + finding.advice);
    }
  }
  CHECK(notes == std::vector<std::string>{
                     "Cluster member1 gets nothing new that does not tolerate its taint "
                     "zone=edge:NoSchedule, since 2026-01-01T10:00:00Z, which ClusterTaintPolicy "
                     "edges is for; see the conditions of ClusterTaintPolicy edges, by which it is "
                     "set and taken away",
                     "Cluster member1 gets nothing new that does not tolerate its taint "
                     "broken:NoExecute, by kubectl-edit, who has written the taints last; when it "
                     "shall get something again: karmadactl taint clusters member1 "
                     "broken:NoExecute-"});
}

TEST_CASE("Lens: nobody is told to wait a moment for a policy that waits itself") {
  CHECK(ChecksIn("the policy is lazy") == std::vector<std::string>{"policy-lazy"});
  CHECK(ChecksIn("a lazy policy was changed") == std::vector<std::string>{"policy-lazy"});
  const std::vector<std::string> waiting = {"dependent-overrides"};
  CHECK(ChecksIn("the policy waits for an override") == waiting);
  CHECK(ChecksIn("the policy that selects it waits for an override") == waiting);
}

TEST_CASE("Lens: nobody is told to wait a moment beside what stops the template there") {
  int stopped = 0;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    INFO(situation.file << ": " << situation.Text("name"));
    std::set<std::string> stuck;  // Clusters; "" for all of them.
    for (const lens::why::Finding& finding : diagnosis.findings) {
      if (finding.grade == lens::why::Grade::kStuck) stuck.insert(finding.cluster);
      const bool is_stopped = stuck.count("") > 0 || stuck.count(finding.cluster) > 0;
      stopped += is_stopped ? 1 : 0;
      CHECK_FALSE((is_stopped && finding.advice == lens::why::kWaitAMoment));
    }
  }
  CHECK(stopped > 0);
}

TEST_CASE("Lens: a scheduler of another name is not looked for under the usual one") {
  CHECK(ChecksIn("a scheduler that nobody runs") == std::vector<std::string>{"scheduler-unknown"});
}

TEST_CASE("Lens: an override is shown at the Works that were made with it") {
  std::map<std::string, std::string> ways;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    Collect(lens::why::WayOf(chain, diagnosis), ways[situation.Text("name")]);
  }
  constexpr char kShown[] = "override: OverridePolicy shop/paused";
  CHECK_THAT(
      ways["an override policy has gone, and what it has made of the manifest is still there"],
      Catch::Contains(kShown));
  const std::string released = ways["a template without a policy gets no override"];
  CHECK_THAT(
      released,
      Catch::Contains(
          "member2 does not get what the override policies make of Deployment shop/web now"));
  CHECK_THAT(released, !Catch::Contains(kShown));
}

TEST_CASE("Lens: the report shows every finding, and is the same as JSON") {
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    INFO(situation.file << ": " << situation.Text("name"));
    std::string text;
    Collect(lens::why::WayOf(chain, diagnosis), text);
    for (const lens::why::Finding& finding : diagnosis.findings) {
      INFO(text);
      CHECK(text.find(finding.cause) != std::string::npos);
    }
    const json::Value report = lens::why::ReportAsJson(chain, diagnosis);
    CHECK(report["headline"].AsString() == lens::why::AsSentence(diagnosis.headline));
    CHECK(report["findings"].size() == diagnosis.findings.size());
    CHECK(report["way"]["text"].AsString().find(chain.asked.key.name) != std::string::npos);
  }
}

TEST_CASE("Lens: a cluster that is not ready is not marked as fine") {
  int seen = 0;
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    INFO(situation.file << ": " << situation.Text("name"));
    for (const lens::why::Node& node : lens::why::WayOf(chain, diagnosis).children) {
      if (!absl::StartsWith(node.text, "cluster ") || !absl::EndsWith(node.text, ": not ready")) {
        continue;
      }
      CHECK(node.mark != lens::why::Mark::kFine);
      ++seen;
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("Lens: an object of Karmada's own is shown with its conditions, and without a way") {
  for (const auto& [situation, chain, diagnosis] : Cases()) {
    if (situation.Text("name") != "an object of Karmada's own reports that it fails") continue;
    std::string text;
    Collect(lens::why::WayOf(chain, diagnosis), text);
    CHECK(absl::StrContains(text,
                            "conditions\nAbleToScale=False (FailedGetScale: no such target)\n"));
    CHECK(absl::StrContains(
        text, "Warning events\n2026-01-01T11:00:00Z FailedGetScale: no such target\n"));
    CHECK_FALSE(absl::StrContains(text, "policy: "));
    CHECK_FALSE(absl::StrContains(text, "binding: "));
    return;
  }
  FAIL("there is no such situation");
}

TEST_CASE("Lens: a cluster in pull mode is shown with what its agent does, and with its version") {
  const auto report_of = [](const std::string& annotations) {
    const json::Value document = yaml::Parse(absl::StrCat(R"(
ask: {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, namespace: "", name: member1}
patch: {Cluster member1: {spec: {syncMode: Pull}}}
objects:
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata: {name: member1, namespace: karmada-cluster, annotations: {)",
                                                          annotations, R"(}}
  spec: {leaseDurationSeconds: 40, renewTime: "2026-01-01T11:59:55.000000Z"}
)"))
                                     .value();
    const lens::why::Chain chain = tests::ChainOf({"an agent", document});
    const lens::why::Diagnosis diagnosis = lens::why::Diagnose(chain);
    std::string text;
    Collect(lens::why::WayOf(chain, diagnosis), text);
    return text;
  };
  constexpr char kUnknown[] =
      "\nkarmada-agent renews its Lease; it has not written its version there, which upstream's "
      "never does\n";
  CHECK_THAT(report_of(""), Catch::Contains(kUnknown));
  CHECK_THAT(report_of(R"(agent.karmada.io/renewed-by: "v0.1.0 2026-01-01T11:59:55.000000Z")"),
             Catch::Contains("\nkarmada-agent v0.1.0 renews its Lease\n"));
  // That of an agent before the one that renewed it.
  CHECK_THAT(report_of(R"(agent.karmada.io/renewed-by: "v0.1.0 2026-01-01T11:00:00.000000Z")"),
             Catch::Contains(kUnknown));
}

TEST_CASE("Lens: an object in the way is recognised by the message that the daemon writes") {
  json::Value applied = json::Value::Object({{"type", "Applied"}, {"status", "False"}});
  applied.Set("message", api::message::ObjectExistsUnmanaged("Deployment", {"shop", "web"}, "m"));
  json::Value document = json::Value::Object();
  document.Set({"patch", "Work karmada-es-member1/web-work", "status", "conditions"},
               json::Value::Array({applied}));
  const lens::why::Diagnosis diagnosis =
      lens::why::Diagnose(tests::ChainOf({"an object in the way", document}));
  CHECK(absl::StrContains(diagnosis.headline,
                          "member1 already has such an object that Karmada does not manage"));
}
