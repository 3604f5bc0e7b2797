// Writes test results as JUnit XML, which CI systems read.
#ifndef CMD_INTERPRET_JUNIT_H_
#define CMD_INTERPRET_JUNIT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace cmd::interpret {

struct TestOutcome {
  std::string file;
  int line = 0;
  std::string name;
  std::string operation;
  absl::Duration time;
  bool passed = false;
  std::string report;  // The text of a failure.
};

// Writes one test suite for each run of consecutive outcomes of one file.
std::string JUnitXml(absl::Span<const TestOutcome> outcomes);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_JUNIT_H_
