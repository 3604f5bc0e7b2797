#include "cmd/interpret/diagnostics.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/yaml_position.h"

namespace cmd::interpret {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Where a word stands by itself in a line, from 1; 0 when it does not.
int ColumnOfWord(absl::string_view line, absl::string_view word) {
  for (size_t at = line.find(word); !word.empty() && at != absl::string_view::npos;
       at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !IsNameByte(line[at - 1]) || !IsNameByte(word[0]);
    const bool ends = end == line.size() || !IsNameByte(line[end]) || !IsNameByte(word.back());
    if (begins && ends) return static_cast<int>(at) + 1;
  }
  return 0;
}

int FirstColumn(absl::string_view line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == absl::string_view::npos ? 1 : static_cast<int>(at) + 1;
}

std::vector<absl::string_view> LinesOf(const Document& document) {
  return absl::StrSplit(document.text, '\n');
}

absl::string_view LineAt(const std::vector<absl::string_view>& lines, int line) {
  return line >= 1 && static_cast<size_t>(line) <= lines.size() ? lines[line - 1]
                                                                : absl::string_view();
}

// The place of the longest beginning of the path that is there.
std::optional<yaml::Place> FindNearest(const Document& document, const std::string& field) {
  std::vector<absl::string_view> path(document.path.begin(), document.path.end());
  const size_t least = path.size();
  for (const absl::string_view name : absl::StrSplit(field, '.', absl::SkipEmpty())) {
    path.push_back(name);
  }
  for (; path.size() > least; path.pop_back()) {
    if (auto place = yaml::FindPlace(document.text, path)) return place;
  }
  return path.empty() ? std::nullopt : yaml::FindPlace(document.text, path);
}

// The line of the document at which a line of the script stands, if it is written as "|" text.
std::optional<int> LineOfScript(const std::vector<absl::string_view>& lines,
                                const yaml::Position& value, int script_line) {
  const absl::string_view head = LineAt(lines, value.line);
  const auto at = static_cast<size_t>(value.column - 1);
  if (at >= head.size() || head[at] != '|') return std::nullopt;
  return value.line + script_line;
}

// How far the script's lines are indented: its first line with text says.
int IndentOfScript(const std::vector<absl::string_view>& lines, int first) {
  for (int line = first; static_cast<size_t>(line) <= lines.size(); ++line) {
    if (!absl::StripAsciiWhitespace(LineAt(lines, line)).empty()) {
      return FirstColumn(LineAt(lines, line)) - 1;
    }
  }
  return 0;
}

void PlaceInScript(const std::vector<absl::string_view>& lines, const yaml::Position& value,
                   Diagnostic& out) {
  const auto line = LineOfScript(lines, value, out.finding.script_line);
  if (!line) {
    out.script_line = out.finding.script_line;
    return;
  }
  out.line = *line;
  out.source = std::string(LineAt(lines, *line));
  out.column = out.finding.column > 0
                   ? out.finding.column + IndentOfScript(lines, value.line + 1)
                   : ColumnOfWord(out.source, out.finding.token);
  if (out.column == 0) out.column = FirstColumn(out.source);
}

}  // namespace

Diagnostic Locate(const Document& document, Finding finding) {
  Diagnostic out;
  out.finding = std::move(finding);
  out.file = document.file;
  if (document.text.empty()) {  // A live object.
    out.script_line = out.finding.script_line;
    return out;
  }
  const std::vector<absl::string_view> lines = LinesOf(document);
  if (const auto place = FindNearest(document, out.finding.field)) {
    out.line = place->key.line;
    out.column = place->key.column;
    out.source = std::string(LineAt(lines, out.line));
    if (out.finding.script_line > 0) PlaceInScript(lines, place->value, out);
  } else {
    out.line = 1;
    out.column = 1;
  }
  out.line += document.line - 1;
  return out;
}

std::string Render(const Diagnostic& diagnostic, const Colours& colours) {
  const Finding& finding = diagnostic.finding;
  const bool error = finding.severity == Finding::Severity::kError;
  std::string where = diagnostic.file;
  if (diagnostic.line > 0) absl::StrAppend(&where, ":", diagnostic.line, ":", diagnostic.column);
  std::string text = absl::StrCat(colours.Bold(absl::StrCat(where, ":")), " ",
                                  error ? colours.Red("error:") : colours.Yellow("warning:"), " ");
  if (!finding.field.empty()) absl::StrAppend(&text, finding.field, ": ");
  if (diagnostic.script_line > 0) {
    absl::StrAppend(&text, "line ", diagnostic.script_line, " of the script: ");
  }
  absl::StrAppend(&text, finding.message, "\n");
  if (diagnostic.source.empty()) return text;
  const std::string number = absl::StrCat(diagnostic.line);
  // Tabs stay tabs before the caret, so that it stands where it should whatever their width.
  std::string before = diagnostic.source.substr(0, diagnostic.column - 1);
  std::replace_if(before.begin(), before.end(), [](char c) { return c != '\t'; }, ' ');
  absl::StrAppend(&text, "  ", number, " | ", diagnostic.source, "\n  ",
                  std::string(number.size(), ' '), " | ", before,
                  error ? colours.Red("^") : colours.Yellow("^"), "\n");
  return text;
}

json::Value ToJson(const Diagnostic& diagnostic) {
  const Finding& finding = diagnostic.finding;
  json::Value out = json::Value::Object(
      {{"file", diagnostic.file},
       {"severity", finding.severity == Finding::Severity::kError ? "error" : "warning"},
       {"field", finding.field},
       {"message", finding.message}});
  if (diagnostic.line > 0) {
    out.Set("line", diagnostic.line);
    out.Set("column", diagnostic.column);
  }
  if (finding.script_line > 0) out.Set("scriptLine", finding.script_line);
  return out;
}

}  // namespace cmd::interpret
