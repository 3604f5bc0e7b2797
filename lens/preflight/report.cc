#include "lens/preflight/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lens::preflight {
namespace {

struct PartText {
  Part part;
  absl::string_view name, title;
};
constexpr PartText kTexts[] = {
    {Part::kDeployment, "deployment", "Running controller manager"},
    {Part::kFlags, "flags", "Flags"},
    {Part::kGates, "gates", "Feature gates"},
    {Part::kControllers, "controllers", "Controllers"},
    {Part::kKinds, "kinds", "Kinds of objects"},
    {Part::kRules, "customizations", "ResourceInterpreterCustomizations"},
    {Part::kWebhooks, "webhooks", "Interpreter webhooks"},
    {Part::kMembers, "members", "Member clusters"},
};

const PartText& TextOf(Part part) {
  return *std::find_if(std::begin(kTexts), std::end(kTexts),
                       [part](const PartText& text) { return text.part == part; });
}

json::Value RowAsJson(const Row& row) {
  json::Value value = row.details.is_object() ? row.details : json::Value::Object();
  value.Set("name", row.name);
  value.Set("use", row.use);
  value.Set("grade", GradeName(row.grade));
  value.Set("note", row.note);
  return value;
}

json::Value ReleaseAsJson(const Report& report) {
  json::Value served;
  if (report.served.ok()) served = config::kReleases.TextOf(*report.served);
  return json::Value::Object(
      {{"served", served}, {"behavesAs", config::kReleases.TextOf(report.release)}});
}

}  // namespace

std::string ComparedVersions() { return absl::StrJoin(config::kComparedVersions.Texts(), " and "); }

absl::string_view GradeName(Grade grade) {
  switch (grade) {
    case Grade::kSame:
      return "same";
    case Grade::kDiffers:
      return "differs";
    case Grade::kLost:
      return "lost";
    case Grade::kUnknown:
      return "unknown";
  }
  return "";
}

absl::string_view PartTitle(Part part) { return TextOf(part).title; }
absl::string_view PartName(Part part) { return TextOf(part).name; }

size_t Report::Count(Grade grade) const {
  return std::count_if(rows.begin(), rows.end(),
                       [grade](const Row& row) { return row.grade == grade; });
}

Grade Report::Verdict() const {
  for (const Grade grade : {Grade::kLost, Grade::kUnknown, Grade::kDiffers}) {
    if (Count(grade) > 0) return grade;
  }
  return Grade::kSame;
}

std::string Report::Headline() const {
  const size_t lost = Count(Grade::kLost);
  std::vector<std::string> parts = {
      lost == 0 ? "Nothing that was looked at would be lost"
                : absl::StrCat(lost, lost == 1 ? " thing" : " things", " would be lost")};
  if (const size_t n = Count(Grade::kDiffers); n > 0)
    parts.push_back(absl::StrCat(n, " would differ"));
  if (const size_t n = Count(Grade::kUnknown); n > 0) {
    parts.push_back(absl::StrCat(n, " could not be determined"));
  }
  return absl::StrJoin(parts, ", ");
}

json::Value ReportAsJson(const Report& report) {
  json::Value value = json::Value::Object(
      {{"verdict", GradeName(report.Verdict())},
       {"headline", report.Headline()},
       {"comparedWith", config::kComparedVersions.TextOf(report.release)},
       {"release", ReleaseAsJson(report)},
       {"server", report.server},
       {"arguments", report.arguments.empty() ? json::Value() : json::Value(report.arguments)}});
  for (const Part part : kParts) {
    json::Value rows = json::Value::Array();
    for (const Row& row : report.rows) {
      if (row.part == part) rows.Append(RowAsJson(row));
    }
    value.Set(PartName(part), std::move(rows));
  }
  return value;
}

}  // namespace lens::preflight
