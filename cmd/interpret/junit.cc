#include "cmd/interpret/junit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tool/xml.h"

namespace cmd::interpret {
namespace {

std::string SecondsOf(absl::Duration time) {
  return absl::StrFormat("%.6f", absl::ToDoubleSeconds(time));
}

void AppendCase(const TestOutcome& outcome, std::string& xml) {
  absl::StrAppend(&xml, "    <testcase name=\"", tool::XmlText(outcome.name), "\" classname=\"",
                  tool::XmlText(outcome.operation), "\" file=\"", tool::XmlText(outcome.file),
                  "\" line=\"", outcome.line, "\" time=\"", SecondsOf(outcome.time), "\"");
  if (outcome.passed) {
    xml += "/>\n";
    return;
  }
  const std::string first_line = outcome.report.substr(0, outcome.report.find('\n'));
  absl::StrAppend(&xml, ">\n      <failure message=\"", tool::XmlText(first_line), "\">",
                  tool::XmlText(outcome.report), "</failure>\n    </testcase>\n");
}

void AppendSuite(absl::Span<const TestOutcome> outcomes, std::string& xml) {
  absl::Duration time;
  for (const TestOutcome& outcome : outcomes) time += outcome.time;
  const auto failures = std::count_if(outcomes.begin(), outcomes.end(),
                                      [](const TestOutcome& outcome) { return !outcome.passed; });
  absl::StrAppend(&xml, "  <testsuite name=\"", tool::XmlText(outcomes[0].file), "\" tests=\"",
                  outcomes.size(), "\" failures=\"", failures, "\" time=\"", SecondsOf(time),
                  "\">\n");
  for (const TestOutcome& outcome : outcomes) AppendCase(outcome, xml);
  xml += "  </testsuite>\n";
}

}  // namespace

std::string JUnitXml(absl::Span<const TestOutcome> outcomes) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  while (!outcomes.empty()) {
    const auto end = std::find_if(outcomes.begin(), outcomes.end(), [&](const auto& outcome) {
      return outcome.file != outcomes[0].file;
    });
    const size_t count = end - outcomes.begin();
    AppendSuite(outcomes.subspan(0, count), xml);
    outcomes.remove_prefix(count);
  }
  return xml + "</testsuites>\n";
}

}  // namespace cmd::interpret
