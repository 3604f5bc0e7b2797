#include "kube/server/watch_frames.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"

namespace kube::server {

std::string WatchFrame(absl::string_view type, absl::string_view object) {
  return absl::StrCat("{\"type\":\"", type, "\",\"object\":", object, "}\n");
}

std::string ErrorFrame(const absl::Status& status) {
  return WatchFrame("ERROR", json::Write(StatusJson(ErrorOf(status))));
}

WatchEncoder::WatchEncoder(AnswerForm form, IncludeObject include,
                           std::shared_ptr<const TablePrinter> printer)
    : form_(std::move(form)), include_(include), printer_(std::move(printer)) {}

std::string WatchEncoder::Key() const {
  return absl::StrCat(static_cast<int>(form_.kind), "|", form_.version, "|",
                      static_cast<int>(include_), "|", columns_sent_);
}

std::string WatchEncoder::TableText(const std::vector<kube::ObjectPtr>& objects,
                                    absl::string_view version) const {
  const json::Value metadata = json::Value::Object({{"resourceVersion", version}});
  return json::Write(
      TableOf(*printer_, objects, metadata, {include_, !columns_sent_, form_.version}));
}

std::string WatchEncoder::Text(const kube::Object& object) const {
  switch (form_.kind) {
    case AnswerForm::Kind::kTable:
      return TableText({kube::Share(kube::Object(object))}, object.resource_version());
    case AnswerForm::Kind::kPartial:
      return json::Write(PartialMetadataOf(object, form_.version));
    case AnswerForm::Kind::kPlain:
    case AnswerForm::Kind::kDiscovery:
      break;
  }
  return json::Write(object.root());
}

std::string WatchEncoder::Event(absl::string_view type, const kube::Object& object) {
  std::string line = WatchFrame(type, Text(object));
  Sent();
  return line;
}

std::string WatchEncoder::Bookmark(const kube::Gvk& kind, absl::string_view version,
                                   bool ends_initial_events) {
  json::Value metadata = json::Value::Object({{"resourceVersion", version}});
  if (ends_initial_events) metadata.Set({"annotations", kInitialEventsEnd}, "true");
  const kube::Object object(json::Value::Object(
      {{"kind", kind.kind}, {"apiVersion", kind.ApiVersion()}, {"metadata", std::move(metadata)}}));
  if (form_.kind != AnswerForm::Kind::kTable || ends_initial_events) {
    return Event("BOOKMARK", object);
  }
  // Nothing that a table could show.
  std::string line = WatchFrame("BOOKMARK", TableText({}, version));
  Sent();
  return line;
}

}  // namespace kube::server
