// Parses and matches field selectors, a port of apimachinery's fields package. Terms are sorted by
// their text before they are parsed, as there, which determines which mistake is reported first.
// This file knows no kinds: whether a field may be selected by is checked elsewhere
// (kube/server/field_labels.h), and Matches compares the field at the path of that name.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "kube/meta/selector.h"

namespace kube {
namespace {

// Splits the text at commas without a backslash.
std::vector<absl::string_view> SplitTerms(absl::string_view text) {
  std::vector<absl::string_view> terms;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

absl::Status BadEscape(absl::string_view sequence) {
  // Include the whole character after the backslash, not only its first byte.
  size_t length = std::min<size_t>(sequence.size(), 2);
  while (length < sequence.size() && (sequence[length] & 0xC0) == 0x80) ++length;
  return absl::InvalidArgumentError(absl::StrCat(
      "invalid field selector: invalid escape sequence: ", sequence.substr(0, length)));
}

absl::StatusOr<std::string> Unescape(absl::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') {
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid field selector: unescaped character in value: ", static_cast<int>(c)));
    }
    if (c != '\\') {
      value.push_back(c);
      continue;
    }
    const absl::string_view escaped = text.substr(i + 1, 1);
    if (escaped != "\\" && escaped != "," && escaped != "=") return BadEscape(text.substr(i));
    value.append(escaped.data(), escaped.size());
    ++i;
  }
  return value;
}

absl::StatusOr<FieldSelector::Term> ParseTerm(absl::string_view selector, absl::string_view text) {
  // "a!b=c" has the field "a!b": a lone ! is not an operator.
  const size_t equal = text.find('=');
  if (equal == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid selector: '", selector, "'; can't understand '", text, "'"));
  }
  FieldSelector::Term term;
  absl::string_view field = text.substr(0, equal);
  absl::string_view value = text.substr(equal + 1);
  if (!field.empty() && field.back() == '!') {
    field.remove_suffix(1);
    term.equal = false;
  } else if (!value.empty() && value.front() == '=') {
    value.remove_prefix(1);
  }
  term.field = std::string(field);
  ASSIGN_OR_RETURN(term.value, Unescape(value));
  return term;
}

// Returns the text that Parse reads as this term.
std::string TermText(const FieldSelector::Term& term) {
  return absl::StrCat(
      term.field, term.equal ? "=" : "!=",
      absl::StrReplaceAll(term.value, {{"\\", "\\\\"}, {",", "\\,"}, {"=", "\\="}}));
}

}  // namespace

absl::StatusOr<FieldSelector> FieldSelector::Parse(absl::string_view text) {
  std::vector<absl::string_view> terms = SplitTerms(text);
  std::sort(terms.begin(), terms.end());
  FieldSelector selector;
  for (const absl::string_view term_text : terms) {
    if (term_text.empty()) continue;
    ASSIGN_OR_RETURN(Term term, ParseTerm(text, term_text));
    // "=" selects nothing specific, so it is ignored.
    if (term.field.empty() && term.value.empty()) continue;
    selector.terms_.push_back(std::move(term));
  }
  return selector;
}

std::string FieldSelector::ToString() const {
  return absl::StrJoin(terms_, ",", [](std::string* out, const Term& term) {
    absl::StrAppend(out, TermText(term));
  });
}

}  // namespace kube
