// The answer of a preflight as a whole.
#include "lens/preflight/report.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "config/support.h"
#include "lens/preflight/arguments_check.h"
#include "lens/preflight/documented.h"
#include "tests/lens/preflight/fake_plane.h"

namespace tests {
namespace {

using lens::preflight::Grade;
using lens::preflight::Report;

constexpr char kGolden[] = "tests/data/preflight/report.json";

std::string ReadAll(const std::string& file) { return base::ReadFile(file).value_or(""); }

Report ReportOf(std::vector<Grade> grades) {
  Report report;
  for (const Grade grade : grades) report.rows.push_back({.grade = grade});
  return report;
}

// Has something of every part, and of every grade.
Report Mixed() {
  FakePlane plane;
  plane.counts = {{"works", 700}, {"propagationpolicies", 3}};
  plane.forbidden = {"remedies"};
  plane.ServeAs("resourcebindings", {"v1", "v1alpha1"});
  plane.objects["clusters"] = R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}},
                                 {"metadata":{"name":"m2"},"spec":{"syncMode":"Pull"}})";
  plane.objects["resourceinterpretercustomizations"] =
      R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization",
          "metadata":{"name":"maps"},"spec":{"target":{"apiVersion":"v1","kind":"ConfigMap"},
          "customizations":{"healthInterpretation":{"luaScript":"function Other() end"}}}})";
  Report report{.server = "v1.34.1", .arguments = "Deployment karmada-system/cm"};
  auto checked = lens::preflight::CheckArguments(
      {.source = report.arguments,
       .image = "docker.io/karmada/karmada-controller-manager:v1.18.2",
       .words = {"--v=4", "--no-such-flag=1", "--log-dir=/var/log", "--feature-gates=Failover=true",
                 "--controllers=*,-remedy"}});
  REQUIRE(checked.ok());
  report.rows = std::move(checked->rows);
  for (auto& row : lens::preflight::ControllerRows(checked->options)) {
    report.rows.push_back(std::move(row));
  }
  for (auto& row : plane.Rows()) report.rows.push_back(std::move(row));
  return report;
}

}  // namespace

TEST_CASE("Preflight: the gravest row decides, and what is lost before what is unknown") {
  using enum Grade;
  CHECK(ReportOf({}).Verdict() == kSame);
  CHECK(ReportOf({kSame, kDiffers}).Verdict() == kDiffers);
  CHECK(ReportOf({kDiffers, kUnknown, kSame}).Verdict() == kUnknown);
  CHECK(ReportOf({kUnknown, kLost, kDiffers}).Verdict() == kLost);
}

TEST_CASE("Preflight: the headline has the numbers") {
  using enum Grade;
  CHECK(ReportOf({kSame}).Headline() == "Nothing that was looked at would be lost");
  CHECK(ReportOf({kLost}).Headline() == "1 thing would be lost");
  CHECK(ReportOf({kLost, kLost, kDiffers, kUnknown}).Headline() ==
        "2 things would be lost, 1 would differ, 1 could not be determined");
}

// PREFLIGHT_GOLDEN=write writes the file again.
TEST_CASE("Preflight: the JSON has every row, with what programs want to know") {
  const std::string got =
      absl::StrCat(json::Write(lens::preflight::ReportAsJson(Mixed()), {.indent = 2}), "\n");
  const char* mode = std::getenv("PREFLIGHT_GOLDEN");
  if (mode != nullptr && std::string(mode) == "write") std::ofstream(kGolden) << got;
  CHECK(got == ReadAll(kGolden));
}

TEST_CASE("Preflight: docs/support.md compares with the same releases") {
  const std::string page = ReadAll("docs/support.md");
  CHECK(absl::StrContains(page, absl::StrCat("Compared with karmada-controller-manager ",
                                             lens::preflight::ComparedVersions(), ".")));
}

TEST_CASE("Preflight: what is said to differ has a row in docs/differences.md") {
  const std::string page = ReadAll("docs/differences.md");
  for (const lens::preflight::VisibleDifference& difference :
       lens::preflight::VisibleDifferences()) {
    INFO(difference.resource << ": " << difference.row);
    CHECK(absl::StrContains(page, absl::StrCat("\n| ", difference.row)));
  }
  for (const auto& difference :
       {lens::preflight::kRefusedBindings, lens::preflight::kReleasedTemplates,
        lens::preflight::kOldPurgeModes}) {
    CHECK(absl::StrContains(page, absl::StrCat("\n| ", difference.row)));
  }
}

TEST_CASE("Preflight: the differences of every kind have a section in docs/differences.md") {
  const std::string page = ReadAll("docs/differences.md");
  const std::string prefix = "docs/differences.md#";
  for (const config::KindSupport& kind : config::Kinds()) {
    const std::string where = lens::preflight::DifferencesOf(kind);
    INFO(kind.kind << ": " << where);
    CHECK(where.empty() == (kind.state == config::State::kOutside));
    if (where.empty()) continue;
    REQUIRE(absl::StartsWith(where, prefix));
    const std::string heading = absl::StrReplaceAll(where.substr(prefix.size()), {{"-", " "}});
    CHECK(absl::StrContains(absl::AsciiStrToLower(page), absl::StrCat("\n### ", heading, "\n")));
  }
}

}  // namespace tests
