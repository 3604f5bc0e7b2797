// The answer of a preflight: a row for each thing in use, with a grade.
#ifndef LENS_PREFLIGHT_REPORT_H_
#define LENS_PREFLIGHT_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "config/release.h"

namespace lens::preflight {

// What becomes of a thing in use when this program takes upstream's place.
enum class Grade {
  kSame,     // It has the effect that it has upstream.
  kDiffers,  // It is accepted, and its effect is another one, or none; the note says what holds.
  kLost,     // This program refuses it, lacks it, or cannot read it.
  kUnknown,  // It could not be determined; the note says why.
};
// "same", "differs", "lost", "unknown"
absl::string_view GradeName(Grade grade);

// The parts of the answer, in the order in which they are shown.
enum class Part { kDeployment, kFlags, kGates, kControllers, kKinds, kRules, kWebhooks, kMembers };
inline constexpr Part kParts[] = {Part::kDeployment,  Part::kFlags,  Part::kGates,
                                  Part::kControllers, Part::kKinds,  Part::kRules,
                                  Part::kWebhooks,    Part::kMembers};
// For people: "Feature gates"; and the name of the part's array in JSON: "gates".
absl::string_view PartTitle(Part part);
absl::string_view PartName(Part part);

struct Row {
  Part part = Part::kKinds;
  std::string name;  // "--v", "Failover", "works.work.karmada.io"
  std::string use;   // How it is used: "=4", "on", "12 objects"; may be "".
  Grade grade = Grade::kSame;
  std::string note;
  // Further members of the row in JSON; null for none.
  json::Value details;
  // Nothing to say to people about this one: it is as upstream has it by default, or nothing uses
  // it. Only JSON has it.
  bool quiet = false;
};

// Returns the versions of upstream with which this program was compared: "v1.18.2 and v1.19.0-rc.0
// (f8fdd02df)".
std::string ComparedVersions();

struct Report {
  std::string server;  // The version of the control plane's API server.
  // The release of Karmada whose definitions the control plane serves; an error says why that is
  // not known.
  absl::StatusOr<config::Release> served = config::Release::kV1_18;
  config::Release release = config::Release::kV1_18;  // As which this program would behave.
  // Where the daemon's arguments come from; "" when flags, gates and controllers were not looked
  // at.
  std::string arguments;
  std::vector<Row> rows;

  size_t Count(Grade grade) const;
  // The gravest finding: kLost before kUnknown before kDiffers before kSame.
  Grade Verdict() const;
  // One sentence without a full stop: "1 thing would be lost, 2 would differ, ...".
  std::string Headline() const;
};

// Has `verdict`, `headline`, `comparedWith` (the version of the release as which this program would
// behave), `release` with `served` (null when it is not known) and `behavesAs`, `server`,
// `arguments` (null when they were not looked at), and an array for each part.
json::Value ReportAsJson(const Report& report);

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_REPORT_H_
