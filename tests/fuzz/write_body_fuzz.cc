// Translating a body changes the version and the annotation, and nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/match.h"
#include "api/search_keys.h"
#include "search/proxy/internal/write_body.h"

namespace {

std::optional<search::MemberVersions> Decode(absl::string_view version) {
  if (!absl::StartsWith(version, "c-")) return std::nullopt;
  return search::MemberVersions{{"member1", "7"}};
}

// Returns the document without what is translated.
json::Value Rest(json::Value body) {
  if (body["metadata"].is_object()) {
    body.Erase({"metadata", "resourceVersion"});
    if (body["metadata"]["annotations"].is_object()) {
      body.Erase({"metadata", "annotations", api::kCachedFromClusterAnnotation});
    }
  }
  return body;
}

void Check(const std::string& type, const std::string& text) {
  search::InnerRequest inner;
  inner.request.method = "PUT";
  inner.request.headers["content-type"] = type;
  inner.request.body = text;
  const auto body = search::WriteBody::Of(inner, Decode);
  if (!body.ok()) return;
  const auto translated = body->For("member1");
  if (!translated.ok()) std::abort();
  if (type != "application/json") return;
  const auto before = json::Parse(text);
  const auto after = json::Parse(*translated);
  if (before.ok() != after.ok()) std::abort();
  if (!before.ok() || !before->is_object()) return;
  if (Rest(*before) != Rest(*after)) std::abort();
  if (Decode((*after)["metadata"]["resourceVersion"].AsString())) std::abort();
  if ((*after)["metadata"]["annotations"].Has(api::kCachedFromClusterAnnotation)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* type : {"application/json", "application/yaml", "application/json-patch+json",
                           "application/vnd.kubernetes.protobuf"}) {
    Check(type, text);
  }
  return 0;
}
