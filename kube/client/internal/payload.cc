#include "kube/client/internal/payload.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

// No code here uses them, and they are a third of what servers send.
constexpr absl::string_view kManagedFields[] = {"metadata", "managedFields"};
constexpr absl::string_view kManagedFieldsOfItems[] = {"items", "*", "metadata", "managedFields"};

// What makes an object one that caches can hold.
constexpr absl::string_view kOfEveryObject[] = {"apiVersion",    "kind",
                                                "metadata.name", "metadata.namespace",
                                                "metadata.uid",  "metadata.resourceVersion"};

absl::StatusOr<json::Value> ParseBody(absl::string_view body, const json::ParseOptions& options) {
  auto root = json::Parse(body, options);
  if (!root.ok()) {
    const std::string why = absl::StrCat("unreadable answer: ", root.status().message());
    // The caller may ask for fewer objects.
    if (absl::IsResourceExhausted(root.status())) return absl::ResourceExhaustedError(why);
    return absl::InternalError(why);
  }
  if (!root->is_object()) return absl::InternalError("unreadable answer: not a JSON object");
  return root;
}

// The shared values are created once for all items of a list.
Object Finish(json::Value root, const json::Value& api_version, const json::Value& kind) {
  if (!root.Has("kind")) root.Set("kind", kind);
  if (!root.Has("apiVersion")) root.Set("apiVersion", api_version);
  return Object(std::move(root));
}

}  // namespace

Object TakeObject(json::Value root, const Gvk& gvk) {
  return Finish(std::move(root), gvk.ApiVersion(), gvk.kind);
}

absl::StatusOr<Object> ParseObject(absl::string_view body, const Gvk& gvk) {
  ASSIGN_OR_RETURN(json::Value root, ParseBody(body, {.dropped = kManagedFields}));
  return TakeObject(std::move(root), gvk);
}

std::optional<json::Fields> WantedFields(absl::Span<const std::string> fields,
                                         absl::string_view prefix,
                                         absl::Span<const std::string> around) {
  if (fields.empty()) return std::nullopt;
  std::vector<std::string> paths(around.begin(), around.end());
  for (const absl::string_view name : kOfEveryObject)
    paths.push_back(absl::StrCat(prefix, ".", name));
  for (const std::string& name : fields) paths.push_back(absl::StrCat(prefix, ".", name));
  return json::Fields(paths);
}

absl::StatusOr<ListPage> ParseList(absl::string_view body, const Gvk& gvk,
                                   absl::Span<const std::string> fields) {
  const std::optional<json::Fields> wanted =
      WantedFields(fields, "items.*", {"apiVersion", "kind", "metadata"});
  ASSIGN_OR_RETURN(json::Value root,
                   ParseBody(body, {.dropped = kManagedFieldsOfItems,
                                    .kept = wanted.has_value() ? &*wanted : nullptr}));
  ListPage page;
  page.resource_version = root.Get({"metadata", "resourceVersion"}).ToString();
  page.continue_token = root.Get({"metadata", "continue"}).ToString();
  if (!root["items"].is_array() && !root["items"].is_null()) {
    return absl::InternalError("unreadable answer: items is not a list");
  }
  const json::Value api_version = gvk.ApiVersion();
  const json::Value kind = gvk.kind;
  json::Value& items = root.Mutable("items");
  const size_t count = items.size();
  page.items.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    page.items.push_back(Finish(std::move(items.MutableAt(i)), api_version, kind));
  }
  return page;
}

}  // namespace kube
