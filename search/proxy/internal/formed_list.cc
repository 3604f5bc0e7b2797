// The list is written once with a word in the place of its items. What stands before the word and
// behind it, and how far it is indented, is then the same for items of any number and size.

#include "search/proxy/internal/formed_list.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"

namespace search {
namespace {

using kube::server::AnswerForm;

constexpr absl::string_view kPlace = "the-items-of-the-list";

json::Value ListMetadata(const ListAnswer& answer) {
  json::Value metadata = json::Value::Object({{"resourceVersion", answer.version}});
  if (!answer.continue_token.empty()) metadata.Set("continue", answer.continue_token);
  if (answer.remaining.value_or(0) > 0) {
    metadata.Set("remainingItemCount", static_cast<int64_t>(*answer.remaining));
  }
  return metadata;
}

kube::server::TableOptions TableOptionsOf(const ReadRequest& read, bool with_columns) {
  return {.include = read.include, .with_columns = with_columns, .version = read.form.version};
}

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

FormedList::FormedList(const ReadRequest& read, ListAnswer answer)
    : read_(read), answer_(std::move(answer)) {
  const bool is_empty = answer_.size() == 0;
  json::Value items = json::Value::Array();
  // A list with one item that stands for all: what is before and after it in the text is the head
  // and the tail, in whatever form the client has asked for.
  if (!is_empty) items.Append(kPlace);
  const std::string whole = kube::server::AnswerOf(200, Frame(std::move(items)), read_.form).body;
  head_ = whole;
  if (is_empty) return;
  const std::string place = read_.form.yaml ? std::string(kPlace) : json::Write(kPlace);
  const absl::string_view text = whole;
  // The rows of a Table come last, behind what the author of a definition has written about
  // columns.
  const size_t at =
      read_.form.kind == AnswerForm::Kind::kTable ? text.rfind(place) : text.find(place);
  head_ = std::string(text.substr(0, at));
  tail_ = std::string(text.substr(at + place.size()));
  if (!read_.form.yaml) separator_.push_back(',');
  const size_t line_end = head_.rfind('\n');
  if (line_end == std::string::npos) return;  // Compact text.
  const absl::string_view last_line = text.substr(line_end + 1, at - line_end - 1);
  // YAML has "- " before the first line of an item, and as many spaces before its others.
  indent_ = std::string(last_line.size(), ' ');
  absl::StrAppend(&separator_, "\n", last_line);
}

json::Value FormedList::Frame(json::Value items) const {
  if (read_.form.kind == AnswerForm::Kind::kTable) {
    json::Value table = kube::server::TableOf(*read_.printer, {}, ListMetadata(answer_),
                                              TableOptionsOf(read_, true));
    table.Set("rows", std::move(items));
    return table;
  }
  const bool partial = read_.form.kind == AnswerForm::Kind::kPartial;
  return json::Value::Object(
      {{"apiVersion", partial ? absl::StrCat("meta.k8s.io/", read_.form.version)
                              : read_.resource.gvk.ApiVersion()},
       {"items", std::move(items)},
       {"kind",
        partial ? "PartialObjectMetadataList" : absl::StrCat(read_.resource.gvk.kind, "List")},
       {"metadata", ListMetadata(answer_)}});
}

json::Value FormedList::ItemOf(const kube::ObjectPtr& object, const std::string& cluster) const {
  const kube::ObjectPtr decoded = DecodedObject(*object, cluster, "");
  if (read_.form.kind == AnswerForm::Kind::kTable) {
    const json::Value table = kube::server::TableOf(*read_.printer, {decoded}, json::Value(),
                                                    TableOptionsOf(read_, false));
    return table["rows"].At(0);
  }
  if (read_.form.kind == AnswerForm::Kind::kPartial) {
    return kube::server::PartialMetadataOf(*decoded, read_.form.version);
  }
  return decoded->root();
}

std::string FormedList::TextOf(const json::Value& item) const {
  std::string text = kube::server::AnswerOf(200, item, read_.form).body;
  if (absl::EndsWith(text, "\n")) text.pop_back();
  return text;
}

bool FormedList::Append(std::string& out, size_t bytes) {
  if (ended_) return false;
  const size_t enough = out.size() + bytes;
  if (!std::exchange(began_, true)) out += head_;
  while (out.size() < enough) {
    if (AppendItem(out)) continue;
    out += tail_;
    ended_ = true;
    break;
  }
  return true;
}

bool FormedList::AppendItem(std::string& out) {
  while (part_ < answer_.parts.size() && index_ == answer_.parts[part_].objects->size()) {
    ++part_;
    index_ = 0;
  }
  if (part_ == answer_.parts.size()) return false;
  const ListAnswer::Part& part = answer_.parts[part_];
  if (!std::exchange(first_, false)) out += separator_;
  AppendIndented(TextOf(ItemOf((*part.objects)[index_++], part.cluster)), indent_, out);
  return true;
}

}  // namespace search
