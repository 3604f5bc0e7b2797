#include "cmd/interpret/junit.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"

namespace cmd::interpret {
namespace {

// Returns text that XML can hold: names of files and results of scripts may not be UTF-8.
std::string Characters(absl::string_view text) {
  // JSON's writer replaces each byte that is not UTF-8 by U+FFFD; XML refuses two more characters.
  const json::Value whole = json::Parse(json::Write(json::Value(text))).value_or(json::Value());
  return absl::StrReplaceAll(whole.AsString(),
                             {{"\xef\xbf\xbe", "\xef\xbf\xbd"}, {"\xef\xbf\xbf", "\xef\xbf\xbd"}});
}

std::string Escaped(absl::string_view text) {
  std::string out;
  for (const char c : Characters(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 cannot represent the other control characters.
        if (absl::ascii_iscntrl(c) && c != '\n' && c != '\t') {
          out += '?';
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string SecondsOf(absl::Duration time) {
  return absl::StrFormat("%.6f", absl::ToDoubleSeconds(time));
}

void AppendCase(const TestOutcome& outcome, std::string& xml) {
  absl::StrAppend(&xml, "    <testcase name=\"", Escaped(outcome.name), "\" classname=\"",
                  Escaped(outcome.operation), "\" file=\"", Escaped(outcome.file), "\" line=\"",
                  outcome.line, "\" time=\"", SecondsOf(outcome.time), "\"");
  if (outcome.passed) {
    xml += "/>\n";
    return;
  }
  const std::string first_line = outcome.report.substr(0, outcome.report.find('\n'));
  absl::StrAppend(&xml, ">\n      <failure message=\"", Escaped(first_line), "\">",
                  Escaped(outcome.report), "</failure>\n    </testcase>\n");
}

void AppendSuite(absl::Span<const TestOutcome> outcomes, std::string& xml) {
  absl::Duration time;
  for (const TestOutcome& outcome : outcomes) time += outcome.time;
  const auto failures = std::count_if(outcomes.begin(), outcomes.end(),
                                      [](const TestOutcome& outcome) { return !outcome.passed; });
  absl::StrAppend(&xml, "  <testsuite name=\"", Escaped(outcomes[0].file), "\" tests=\"",
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
