// The list is written once with a word in the place of its items. What stands before the word and
// behind it, and how far it is indented, is then the same for items of any number and size.

#include "search/proxy/list_frame.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace search {
namespace {

using kube::server::AnswerForm;

constexpr absl::string_view kPlace = "the-items-of-the-list";

// Appends the text, with `indent` before each line that is not empty but for the first.
void AppendIndented(absl::string_view text, absl::string_view indent, std::string& out) {
  for (size_t end; (end = text.find('\n')) != absl::string_view::npos;) {
    absl::StrAppend(&out, text.substr(0, end + 1));
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != '\n') absl::StrAppend(&out, indent);
  }
  absl::StrAppend(&out, text);
}

}  // namespace

ListFrame::ListFrame(const AnswerForm& form,
                     const std::function<json::Value(json::Value items)>& list, bool is_empty)
    : form_(form) {
  json::Value items = json::Value::Array();
  // A list with one item that stands for all: what is before and after it in the text is the head
  // and the tail, in whatever form the client has asked for.
  if (!is_empty) items.Append(kPlace);
  const std::string whole = kube::server::AnswerOf(200, list(std::move(items)), form_).body;
  head_ = whole;
  if (is_empty) return;
  const std::string place = form_.yaml ? std::string(kPlace) : json::Write(kPlace);
  const absl::string_view text = whole;
  // The rows of a Table come last, behind what the author of a definition has written about
  // columns.
  const size_t at = form_.kind == AnswerForm::Kind::kTable ? text.rfind(place) : text.find(place);
  head_ = std::string(text.substr(0, at));
  tail_ = std::string(text.substr(at + place.size()));
  if (!form_.yaml) separator_.push_back(',');
  const size_t line_end = head_.rfind('\n');
  if (line_end == std::string::npos) return;  // Compact text.
  const absl::string_view last_line = text.substr(line_end + 1, at - line_end - 1);
  // YAML has "- " before the first line of an item, and as many spaces before its others.
  indent_ = std::string(last_line.size(), ' ');
  absl::StrAppend(&separator_, "\n", last_line);
}

void ListFrame::AppendItem(const json::Value& item, std::string& out) const {
  std::string text = kube::server::AnswerOf(200, item, form_).body;
  if (absl::EndsWith(text, "\n")) text.pop_back();
  AppendIndented(text, indent_, out);
}

}  // namespace search
