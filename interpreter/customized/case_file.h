// Files of cases: an operation, its input and the results it must have. The format is that of
// upstream's resourcecustomizations/**/testdata; upstream's own files run as they are.
//
//   CaseFile file = ParseCaseFile(text);
//   for (const Case& c : file.cases) {
//     const CaseResult result = RunCase(c, backend);
//     if (!result.passed) std::cerr << path << ":" << c.line << ": " << result.report;
//   }
//
// One case per YAML document; keys: name, description, operation, desiredObj, observedObj,
// statusItems, inputReplicas and output (a map of result names, see operation_run.h, to values; or,
// beyond upstream's format, `error` alone: a part of the message with which the operation fails).
#ifndef INTERPRETER_CUSTOMIZED_CASE_FILE_H_
#define INTERPRETER_CUSTOMIZED_CASE_FILE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/customized/operation_run.h"
#include "interpreter/interpreter.h"

namespace interpreter::customized {

struct Case {
  int line = 0;  // Line of the case in the text, counted from 1.
  std::string name;
  std::string description;
  Question input;      // As RunOperation takes it.
  json::Value output;  // An object; null when the case expects nothing but success.
};

// A document that is not a case, and the reason.
struct CaseProblem {
  int line = 0;
  std::string message;
};

struct CaseFile {
  std::vector<Case> cases;            // The cases that can be run.
  std::vector<CaseProblem> problems;  // A text that is not YAML has one problem and no cases.
};
CaseFile ParseCaseFile(absl::string_view text);

struct CaseResult {
  bool passed = false;
  // Explains why the case did not pass: the error of the operation, that it should have failed, or,
  // per result, what was expected and what was returned ("-want +got" lines). Ends with a newline.
  std::string report;
  // The names of results that `output` does not mention, but for the message of a health.
  std::vector<std::string> unchecked;
};

// Each result must equal the one in `output`. Quantities in requires, components and dependencies
// are compared by value, components and dependencies in any order; of aggregatedStatus only the
// status is compared. Members whose expected value is "{{EXCLUDE}}" are not compared. A case fails
// when an expected result is not returned, or when the error of the operation is not the expected
// one.
CaseResult RunCase(const Case& c, const Backend& backend);
CaseResult RunCase(const Case& c, const Interpreter& interpreter);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CASE_FILE_H_
