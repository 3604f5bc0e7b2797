// The headline, with what this program was compared with and as which release it behaves, then a
// table for each part. Rows that are quiet are counted in the part's title instead of shown; JSON
// has them.

#include "cmd/lens/preflight_text.h"

#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "config/release.h"
#include "tool/table.h"

namespace cmd::lens {
namespace {

using ::lens::preflight::Grade;
using ::lens::preflight::Part;
using ::lens::preflight::Report;
using ::lens::preflight::Row;

std::string Coloured(Grade grade, absl::string_view text, const tool::Colours& colours) {
  switch (grade) {
    case Grade::kSame:
      return colours.Green(text);
    case Grade::kDiffers:
    case Grade::kUnknown:
      return colours.Yellow(text);
    case Grade::kLost:
      return colours.Red(text);
  }
  return std::string(text);
}

// Cells are one line each, so that the lines after the header are the rows. The grade is coloured
// afterwards, because a table shows colours in its cells as text.
std::string TableOf(const std::vector<const Row*>& rows, const tool::Colours& colours) {
  tool::Table table({"GRADE", "NAME", "IN USE", "NOTE"});
  for (const Row* row : rows) {
    table.Add({std::string(GradeName(row->grade)), row->name, row->use, row->note});
  }
  const std::string whole = table.Text(colours);
  const std::vector<absl::string_view> lines = absl::StrSplit(whole, '\n');
  std::string text = absl::StrCat(lines[0], "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    absl::string_view line = lines[i + 1];
    const absl::string_view grade = GradeName(rows[i]->grade);
    line.remove_prefix(grade.size());
    absl::StrAppend(&text, Coloured(rows[i]->grade, grade, colours),
                    absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

// Returns what is said of the rows that are not shown: "17 without objects".
std::string QuietText(Part part, size_t count) {
  switch (part) {
    case Part::kGates:
    case Part::kControllers:
      return absl::StrCat(count, " as by default");
    case Part::kKinds:
      return absl::StrCat(count, " without objects");
    case Part::kMembers:
      return absl::StrCat(count, " in Push mode");
    default:
      return absl::StrCat(count, " more");
  }
}

std::string PartText(const Report& report, Part part, const tool::Colours& colours) {
  std::vector<const Row*> shown;
  size_t quiet = 0;
  for (const Row& row : report.rows) {
    if (row.part != part) continue;
    if (row.quiet) {
      ++quiet;
    } else {
      shown.push_back(&row);
    }
  }
  const bool is_of_arguments = part <= Part::kControllers;
  if (is_of_arguments && shown.empty() && quiet == 0) return "";
  std::string title = colours.Bold(PartTitle(part));
  if (quiet > 0) {
    absl::StrAppend(&title, ": ", QuietText(part, quiet));
  } else if (shown.empty()) {
    absl::StrAppend(&title, ": none");
  }
  return absl::StrCat("\n", title, "\n", shown.empty() ? "" : TableOf(shown, colours));
}

// Returns "Control plane: Karmada v1.19 by its definitions; behaves as v1.19."
std::string ReleaseText(const Report& report) {
  const std::string served =
      report.served.ok()
          ? absl::StrCat("Karmada ", config::kReleases.TextOf(*report.served),
                         " by its definitions")
          : absl::StrCat("its release is not known (", report.served.status().message(), ")");
  return absl::StrCat("Control plane: ", served, "; behaves as ",
                      config::kReleases.TextOf(report.release), ".");
}

}  // namespace

std::string PreflightText(const Report& report, const tool::Colours& colours) {
  std::string text =
      absl::StrCat(colours.Bold(absl::StrCat(report.Headline(), ".")), "\nCompared with Karmada ",
                   ::lens::preflight::ComparedVersions(), ".\n", ReleaseText(report), "\n");
  if (report.arguments.empty()) {
    absl::StrAppend(&text,
                    "Flags, feature gates and controllers were not looked at; --host-kubeconfig or "
                    "--args-file leads to them.\n");
  }
  for (const Part part : ::lens::preflight::kParts) {
    absl::StrAppend(&text, PartText(report, part, colours));
  }
  if (absl::StrContains(text, "docs/differences.md")) {
    absl::StrAppend(&text,
                    "\ndocs/differences.md is a page in the source of this program, of the version "
                    "that --version prints.\n");
  }
  return text;
}

}  // namespace cmd::lens
