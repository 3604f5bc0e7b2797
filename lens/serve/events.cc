#include "lens/serve/events.h"

#include <algorithm>

#include "lens/fleet/evidence.h"
#include "lens/serve/shown.h"
#include "lens/why/chain.h"

namespace lens::serve {
namespace {

kube::Gvk KindOf(const json::Value& involved) {
  const auto gvk = kube::ParseGvk(involved["apiVersion"].AsString(), involved["kind"].AsString());
  return gvk.ok() ? *gvk : kube::Gvk{"", "", involved["kind"].ToString()};
}

std::string SourceOf(const json::Value& event) {
  const absl::string_view component = event["source"]["component"].AsString();
  return std::string(component.empty() ? event["reportingComponent"].AsString() : component);
}

}  // namespace

std::vector<std::string> EventFields() {
  std::vector<std::string> fields = fleet::EventFields();
  fields.insert(fields.end(), {"series", "source.component", "reportingComponent"});
  return fields;
}

json::Value EventAsJson(const kube::Object& event) {
  const json::Value& root = event.root();
  const json::Value& involved = root["involvedObject"];
  const kube::ObjectKey key{involved["namespace"].ToString(), involved["name"].ToString()};
  const bool warns = root["type"].AsString() == "Warning";
  return json::Value::Object({{"time", TimeAsJson(why::EventTime(event))},
                              {"severity", warns ? "warning" : "normal"},
                              {"what", "event"},
                              {"reason", Shortened(root["reason"].AsString())},
                              {"message", Shortened(root["message"].AsString())},
                              {"count", std::max<int64_t>(root["count"].AsInt(1), 1)},
                              {"from", SourceOf(root)},
                              {"about", SubjectOf(KindOf(involved), key)}});
}

}  // namespace lens::serve
