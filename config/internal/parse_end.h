// How the parsing of a command line ends when the program does not run, for all programs whose
// result has the fields of Parsed.
#ifndef CONFIG_INTERNAL_PARSE_END_H_
#define CONFIG_INTERNAL_PARSE_END_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "config/command_line.h"

namespace config::internal {

// The program prints the text and ends with this code, without running.
template <class Result>
Result Exit(int code, std::string output) {
  Result parsed;
  parsed.outcome = decltype(parsed.outcome)::kExit;
  parsed.exit_code = code;
  parsed.output = std::move(output);
  return parsed;
}

template <class Result>
Result Refused(absl::string_view why, absl::string_view program) {
  return Exit<Result>(kUsageExitCode,
                      absl::StrCat("Error: ", why, "\nRun ", program, " --help for the flags.\n"));
}

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_PARSE_END_H_
