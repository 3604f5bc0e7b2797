#include "search/proxy/internal/formed_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"

namespace search {
namespace {

using kube::server::AnswerForm;

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

}  // namespace

FormedList::FormedList(const ReadRequest& read, ListAnswer answer)
    : read_(read),
      answer_(std::move(answer)),
      frame_(
          read_.form, [this](json::Value items) { return Frame(std::move(items)); },
          answer_.size() == 0) {}

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

bool FormedList::Append(std::string& out, size_t bytes) {
  if (ended_) return false;
  const size_t enough = out.size() + bytes;
  if (!std::exchange(began_, true)) out += frame_.head();
  while (out.size() < enough) {
    if (AppendItem(out)) continue;
    out += frame_.tail();
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
  if (!std::exchange(first_, false)) out += frame_.separator();
  frame_.AppendItem(ItemOf((*part.objects)[index_++], part.cluster), out);
  return true;
}

}  // namespace search
