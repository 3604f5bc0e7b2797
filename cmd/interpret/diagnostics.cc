// Finds the place of a mistake. A finding names a field, and perhaps a line of the script in that
// field; the place is the line and column of the file in which the user sees it. For a script in a
// block ("|" or ">") the line of the script is mapped to the line of the file; a script in quotes
// has no lines of its own there, so the script's line is shown instead. A field that is absent is
// placed at the nearest one around it that exists. A live object has no file, so only scripts have
// lines.
//
// Lines and columns count from 1, columns count bytes. Numbers of lines are relative to the
// document until Locate adds where the document begins in its file.

#include "cmd/interpret/diagnostics.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/yaml_position.h"
#include "interpreter/customized/customization.h"

namespace cmd::interpret {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Returns the column, from 1, where a word stands by itself in a line and not after a dot; 0 when
// it does not.
int ColumnOfWord(absl::string_view line, absl::string_view word) {
  for (size_t at = line.find(word); !word.empty() && at != absl::string_view::npos;
       at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins =
        at == 0 || (!IsNameByte(line[at - 1]) && line[at - 1] != '.') || !IsNameByte(word[0]);
    const bool ends = end == line.size() || !IsNameByte(line[end]) || !IsNameByte(word.back());
    if (begins && ends) return static_cast<int>(at) + 1;
  }
  return 0;
}

// Returns where the text of a line begins, from 1.
int FirstColumn(absl::string_view line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == absl::string_view::npos ? 1 : static_cast<int>(at) + 1;
}

std::vector<absl::string_view> LinesOf(const tool::Document& document) {
  return absl::StrSplit(document.Text(), '\n');
}

// Returns "" for a line that does not exist. Lines count from 1.
absl::string_view LineAt(const std::vector<absl::string_view>& lines, int line) {
  return line >= 1 && static_cast<size_t>(line) <= lines.size() ? lines[line - 1]
                                                                : absl::string_view();
}

// Returns the place of the longest prefix of the path that exists.
std::optional<yaml::Place> FindNearest(const tool::Document& document, const std::string& field) {
  std::vector<absl::string_view> path(document.path.begin(), document.path.end());
  // The document's own path (an item of a list) is not shortened: another item would be named.
  const size_t least = path.size();
  for (const absl::string_view name :
       absl::StrSplit(field, absl::ByAnyChar(".[]"), absl::SkipEmpty())) {
    path.push_back(name);
  }
  for (; path.size() > least; path.pop_back()) {
    if (auto place = yaml::FindPlace(document.Text(), path)) return place;
  }
  return path.empty() ? std::nullopt : yaml::FindPlace(document.Text(), path);
}

// Returns the indentation of a block's lines, which its first line with text determines.
size_t IndentOfBlock(const std::vector<absl::string_view>& lines, int first) {
  for (int line = first; static_cast<size_t>(line) <= lines.size(); ++line) {
    if (!absl::StripAsciiWhitespace(LineAt(lines, line)).empty()) {
      return static_cast<size_t>(FirstColumn(LineAt(lines, line)) - 1);
    }
  }
  return 0;
}

// A line of the file that holds a line of a script, or a part of it.
struct Segment {
  int line = 0;       // Its number in the document.
  size_t indent = 0;  // The indentation before the text.
  size_t offset = 0;  // Where its text begins in the script's line.
  size_t size = 0;
};

// Follows a script through the lines of its YAML block. After "|" the lines are the same; after ">"
// one line of the script may be folded from several.
class BlockReader {
 public:
  BlockReader(const std::vector<absl::string_view>& lines, int header)
      : lines_(lines), indent_(IndentOfBlock(lines, header + 1)), next_(header + 1) {}

  // Returns the lines that hold the next line of the script; empty when it is blank or cannot be
  // found.
  std::vector<Segment> Next(absl::string_view script_line) {
    std::vector<Segment> segments;
    if (absl::StripAsciiWhitespace(script_line).empty()) return segments;
    while (static_cast<size_t>(next_) <= lines_.size() && Text(next_).empty()) ++next_;
    // Steps over the space between two.
    for (size_t offset = 0; offset < script_line.size(); ++offset) {
      const absl::string_view text = Text(next_);
      // The folding is not as expected: no place is better than a wrong one.
      if (text.empty() || !absl::StartsWith(script_line.substr(offset), text)) return {};
      segments.push_back({next_++, indent_, offset, text.size()});
      offset += text.size();
    }
    return segments;
  }

 private:
  absl::string_view Text(int line) const {
    const absl::string_view whole = LineAt(lines_, line);
    const absl::string_view text = whole.substr(std::min(indent_, whole.size()));
    return absl::EndsWith(text, "\r") ? text.substr(0, text.size() - 1) : text;
  }

  const std::vector<absl::string_view>& lines_;
  const size_t indent_;
  int next_;
};

// Returns the lines that hold the script line of the finding; empty when the script is not written
// as a block.
std::vector<Segment> SegmentsOf(const std::vector<absl::string_view>& lines,
                                const yaml::Position& value, absl::string_view script,
                                int script_line) {
  // The first character of the value tells how it is written.
  const absl::string_view head = LineAt(lines, value.line);
  const auto at = static_cast<size_t>(value.column - 1);
  if (at >= head.size()) return {};
  if (head[at] == '|') {
    // After "|" line 1 of the script is the line behind the one with the "|".
    const int line = value.line + script_line;
    const size_t indent = IndentOfBlock(lines, value.line + 1);
    return {{line, indent, 0, LineAt(lines, line).size()}};
  }
  if (head[at] != '>') return {};
  BlockReader reader(lines, value.line);
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(script, '\n')) {
    std::vector<Segment> segments = reader.Next(line);
    if (++number == script_line) return segments;
  }
  return {};
}

// Returns the segment that contains the finding's column, or else its token.
const Segment& SegmentOf(const std::vector<Segment>& segments,
                         const std::vector<absl::string_view>& lines, const Finding& finding) {
  for (const Segment& segment : segments) {
    const bool has_column = static_cast<size_t>(finding.column) <= segment.offset + segment.size;
    const bool has_token = ColumnOfWord(LineAt(lines, segment.line), finding.token) > 0;
    if (finding.column > 0 ? has_column : has_token) return segment;
  }
  return finding.column > 0 ? segments.back() : segments.front();
}

// Shows the script's own line, for a script whose lines are not lines of the file.
void ShowScript(absl::string_view script, Diagnostic& out) {
  const std::vector<absl::string_view> lines = absl::StrSplit(script, '\n');
  out.script_line = out.finding.script_line;
  out.source = std::string(LineAt(lines, out.script_line));
  out.script_column =
      out.finding.column > 0 ? out.finding.column : ColumnOfWord(out.source, out.finding.token);
  if (out.script_column <= 0) out.script_column = FirstColumn(out.source);
}

void PlaceInScript(const std::vector<absl::string_view>& lines, const yaml::Position& value,
                   absl::string_view script, Diagnostic& out) {
  const auto segments = SegmentsOf(lines, value, script, out.finding.script_line);
  if (segments.empty()) return ShowScript(script, out);
  const Segment& segment = SegmentOf(segments, lines, out.finding);
  out.line = segment.line;
  out.source = std::string(LineAt(lines, out.line));
  out.column = out.finding.column > 0
                   ? out.finding.column + static_cast<int>(segment.indent - segment.offset)
                   : ColumnOfWord(out.source, out.finding.token);
  if (out.column <= 0) out.column = FirstColumn(out.source);
}

// Returns the script as it is run: unfolded, and without the indentation of its block.
std::string ScriptText(const tool::Document& document, const std::string& field) {
  const std::vector<absl::string_view> path = absl::StrSplit(field, '.', absl::SkipEmpty());
  return document.value.Get(path).ToString();
}

// Returns the rest of the path after `beginning`; nullopt when the path does not begin with it.
std::optional<std::string> FieldBelow(const std::vector<std::string>& path,
                                      const std::vector<std::string>& beginning) {
  if (path.size() < beginning.size()) return std::nullopt;
  if (!std::equal(beginning.begin(), beginning.end(), path.begin())) return std::nullopt;
  return absl::StrJoin(path.begin() + static_cast<std::ptrdiff_t>(beginning.size()), path.end(),
                       ".");
}

constexpr size_t kLongestLine = 160;  // In bytes; longer lines are hard to read.

// The part of a line that is shown: all of it, or the part around a column; and the position of the
// column in it.
struct Excerpt {
  std::string text;
  size_t column = 1;
};

Excerpt ExcerptOf(const std::string& line, int column) {
  const size_t at = std::min(static_cast<size_t>(std::max(column, 1)) - 1, line.size());
  if (line.size() <= kLongestLine) return {line, at + 1};
  const auto is_inside = [&](size_t i) {  // Inside a multi-byte character.
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  // The column stands in the middle, if there is enough on both sides.
  size_t begin = at > kLongestLine / 2 ? at - kLongestLine / 2 : 0;
  size_t end = std::min(begin + kLongestLine, line.size());
  while (is_inside(begin)) ++begin;
  while (is_inside(end)) ++end;
  const std::string before = begin > 0 ? "..." : "", after = end < line.size() ? "..." : "";
  return {absl::StrCat(before, line.substr(begin, end - begin), after),
          at - std::min(begin, at) + before.size() + 1};
}

// Returns where `word` begins a word of the text: "a/b" is not found in "ba/b".
size_t FindWord(absl::string_view text, absl::string_view word) {
  size_t at = text.find(word);
  while (at != absl::string_view::npos && at > 0 && !absl::ascii_isspace(text[at - 1])) {
    at = text.find(word, at + 1);
  }
  return at;
}

}  // namespace

Diagnostic Locate(const tool::Document& document, Finding finding) {
  Diagnostic out;
  out.finding = std::move(finding);
  out.file = document.file;
  if (document.text == nullptr) {  // It is a live object.
    if (out.finding.script_line > 0) ShowScript(ScriptText(document, out.finding.field), out);
    return out;
  }
  const std::vector<absl::string_view> lines = LinesOf(document);
  if (const auto place = FindNearest(document, out.finding.field)) {
    out.line = place->key.line;
    out.column = place->key.column;
    out.source = std::string(LineAt(lines, out.line));
    if (out.finding.script_line > 0) {
      PlaceInScript(lines, place->value, ScriptText(document, out.finding.field), out);
    }
  } else {
    out.line = 1;
    out.column = 1;
  }
  out.line += document.line - 1;
  return out;
}

std::string Diagnostic::Place() const {
  std::string place = file;
  if (line > 0) absl::StrAppend(&place, ":", line);
  if (script_line > 0) absl::StrAppend(&place, ", line ", script_line, " of the script");
  return place;
}

std::vector<Diagnostic> RepeatedNames(const tool::Document& document) {
  std::vector<Diagnostic> found;
  const std::vector<absl::string_view> lines = LinesOf(document);
  for (const yaml::RepeatedName& repeated : yaml::FindRepeatedNames(document.Text())) {
    const auto field = FieldBelow(repeated.path, document.path);
    if (!field) continue;  // The name belongs to another item of the list.
    Diagnostic out;
    out.finding.field = *field;
    out.finding.message =
        absl::StrCat("is here twice, first in line ", repeated.first.line + document.line - 1,
                     "; only this one counts");
    out.file = document.file;
    out.line = repeated.again.line + document.line - 1;
    out.column = repeated.again.column;
    out.source = std::string(LineAt(lines, repeated.again.line));
    found.push_back(std::move(out));
  }
  return found;
}

std::optional<Diagnostic> LocateError(const tool::Document& document, absl::string_view message) {
  const std::string name = document.value.Get({"metadata", "name"}).ToString();
  for (const auto& field : interpreter::customized::ScriptFields()) {
    // Errors of scripts begin with the name of the chunk, "<customization>/<field>:<line>:".
    const std::string script = absl::StrCat(name, "/", field.name, ":");
    const size_t at = FindWord(message, script);
    if (at == absl::string_view::npos) continue;
    Finding finding;
    finding.field = absl::StrCat("spec.customizations.", field.name, ".luaScript");
    const absl::string_view rest = message.substr(at + script.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (!absl::SimpleAtoi(rest.substr(0, digits), &finding.script_line)) continue;
    finding.message = std::string(message);
    return Locate(document, std::move(finding));
  }
  return std::nullopt;
}

std::string Render(const Diagnostic& diagnostic, const tool::Colours& colours) {
  const Finding& finding = diagnostic.finding;
  const bool error = finding.severity == Finding::Severity::kError;
  std::string where = diagnostic.file;
  if (diagnostic.line > 0) absl::StrAppend(&where, ":", diagnostic.line, ":", diagnostic.column);
  std::string text = absl::StrCat(colours.Bold(absl::StrCat(tool::OneLine(where), ":")), " ",
                                  error ? colours.Red("error:") : colours.Yellow("warning:"), " ");
  if (!finding.field.empty()) absl::StrAppend(&text, tool::OneLine(finding.field), ": ");
  if (diagnostic.script_line > 0) {
    absl::StrAppend(&text, "line ", diagnostic.script_line, " of the script: ");
  }
  absl::StrAppend(&text, tool::Printable(finding.message), "\n");
  if (diagnostic.source.empty()) return text;
  const bool of_script = diagnostic.script_line > 0;
  const std::string number = absl::StrCat(of_script ? diagnostic.script_line : diagnostic.line);
  const Excerpt excerpt =
      ExcerptOf(diagnostic.source, of_script ? diagnostic.script_column : diagnostic.column);
  // Tabs before the caret stay tabs, so that it stands in the right place whatever their width.
  std::string before = excerpt.text.substr(0, excerpt.column - 1);
  std::replace_if(
      before.begin(), before.end(), [](char c) { return c != '\t'; }, ' ');
  absl::StrAppend(&text, "  ", number, " | ", tool::Printable(excerpt.text), "\n  ",
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
