// The answer of a preflight for people.
#ifndef CMD_LENS_PREFLIGHT_TEXT_H_
#define CMD_LENS_PREFLIGHT_TEXT_H_

#include <string>

#include "lens/preflight/report.h"
#include "tool/console.h"

namespace cmd::lens {

// Returns the headline, and a table for each part. What nothing uses, or what is as it is by
// default, is one line with its number.
std::string PreflightText(const ::lens::preflight::Report& report, const tool::Colours& colours);

}  // namespace cmd::lens

#endif  // CMD_LENS_PREFLIGHT_TEXT_H_
