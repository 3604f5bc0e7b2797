// A table of the page belongs to the heading before it, and its first row names the columns; tables
// without a column for reasons are no rows of reasons. Cells are cut at bars that no backslash
// precedes, and lose backticks and the targets of links. A text is looked for word by word, since a
// line of a log or of `kubectl get events` has the reason among others.

#include "lens/explain/reasons.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/spelling.h"

namespace lens::explain {
namespace {

constexpr absl::string_view kOurs = "(ours)";

// Returns "[text](target)" as "text", or "text (target)" for a page of its own.
std::string WithoutLinks(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t middle = text[i] == '[' ? text.find("](", i) : absl::string_view::npos;
    const size_t end = middle == absl::string_view::npos ? middle : text.find(')', middle);
    if (end == absl::string_view::npos ||
        text.substr(i + 1, middle - i - 1).find('[') != absl::string_view::npos) {
      out += text[i++];
      continue;
    }
    const absl::string_view target = text.substr(middle + 2, end - middle - 2);
    absl::StrAppend(&out, text.substr(i + 1, middle - i - 1));
    const bool is_elsewhere =
        !absl::StartsWith(target, "#") && target != text.substr(i + 1, middle - i - 1);
    if (is_elsewhere) absl::StrAppend(&out, " (", target, ")");
    i = end + 1;
  }
  return out;
}

std::string Plain(absl::string_view cell) {
  return absl::StrReplaceAll(WithoutLinks(absl::StripAsciiWhitespace(cell)),
                             {{"`", ""}, {"**", ""}, {"\\|", "|"}});
}

std::vector<std::string> CellsOf(absl::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || line[i - 1] == '\\') {
      cell += line[i];
      continue;
    }
    cells.push_back(Plain(cell));
    cell.clear();
  }
  return cells;
}

std::string Cell(const std::map<std::string, size_t>& columns,
                 const std::vector<std::string>& cells, const std::string& name) {
  const auto found = columns.find(name);
  return found == columns.end() || found->second >= cells.size() ? "" : cells[found->second];
}

// The words of a text: letters, digits, and what reasons may have between them.
std::vector<std::string> WordsOf(absl::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      words.back() += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// The name of the condition, without its status.
std::string ConditionName(const Reason& reason) {
  return std::string(
      absl::StripAsciiWhitespace(reason.condition.substr(0, reason.condition.find(' '))));
}

std::string StatusOf(const Reason& reason) {
  const size_t space = reason.condition.find(' ');
  return space == std::string::npos ? "" : reason.condition.substr(space + 1);
}

// A reason that is an ordinary word means nothing in the middle of a line.
bool IsOrdinary(const std::string& word) { return WordsOf(word).size() == 1 && word.size() < 9; }

}  // namespace

std::vector<Reason> ReasonsOf(absl::string_view page) {
  std::vector<Reason> reasons;
  std::string about;
  std::map<std::string, size_t> columns;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    if (absl::StartsWith(line, "#"))
      about = std::string(absl::StripLeadingAsciiWhitespace(
          absl::StripPrefix(line, absl::StartsWith(line, "## ") ? "##" : "#")));
    if (!absl::StartsWith(line, "|")) {
      columns.clear();
      continue;
    }
    const std::vector<std::string> cells = CellsOf(line);
    if (columns.empty()) {
      for (size_t i = 0; i < cells.size(); ++i) columns[cells[i]] = i;
      continue;
    }
    if (columns.count("reason") == 0 || absl::StartsWith(line, "|---")) continue;
    Reason row{about, Cell(columns, cells, "type"), Cell(columns, cells, "condition"),
               Cell(columns, cells, "reason")};
    row.is_own = absl::StrContains(row.reason, kOurs);
    row.reason =
        std::string(absl::StripAsciiWhitespace(row.reason.substr(0, row.reason.find('('))));
    row.from = Cell(columns, cells, "from");
    row.when = Cell(columns, cells, "when");
    row.means = Cell(columns, cells, "means");
    row.what_to_do = Cell(columns, cells, "what to do");
    reasons.push_back(std::move(row));
  }
  return reasons;
}

std::vector<Reason> Find(const std::vector<Reason>& reasons, absl::string_view text) {
  const std::vector<std::string> words = WordsOf(text);
  const std::set<std::string> known(words.begin(), words.end());
  const bool is_line = words.size() > 2;
  const auto has = [&](const std::string& name) {
    if (name.empty() || (is_line && IsOrdinary(name))) return false;
    return known.count(absl::AsciiStrToLower(name)) > 0;
  };
  std::vector<Reason> found;
  for (const Reason& reason : reasons) {
    for (const absl::string_view each : absl::StrSplit(reason.reason, absl::ByAnyChar(", "))) {
      if (!has(std::string(each))) continue;
      found.push_back(reason);
      break;
    }
  }
  if (!found.empty()) return found;
  const bool says_status = known.count("true") + known.count("false") + known.count("unknown") > 0;
  for (const Reason& reason : reasons) {
    const std::string name = absl::AsciiStrToLower(ConditionName(reason));
    if (name.empty() || known.count(name) == 0) continue;
    const std::string status = absl::AsciiStrToLower(StatusOf(reason));
    if (says_status && !status.empty() && known.count(status) == 0) continue;
    found.push_back(reason);
  }
  return found;
}

std::string Suggestion(const std::vector<Reason>& reasons, absl::string_view text) {
  std::vector<std::string> names;
  for (const Reason& reason : reasons) {
    names.push_back(reason.reason);
    if (!reason.condition.empty()) names.push_back(ConditionName(reason));
  }
  return base::DidYouMean(text, names);
}

json::Value JsonOf(const Reason& reason) {
  return json::Value::Object({{"about", reason.about},
                              {"type", reason.type},
                              {"condition", reason.condition},
                              {"reason", reason.reason},
                              {"ours", reason.is_own},
                              {"from", reason.from},
                              {"when", reason.when},
                              {"means", reason.means},
                              {"whatToDo", reason.what_to_do}});
}

}  // namespace lens::explain
