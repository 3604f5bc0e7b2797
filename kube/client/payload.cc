#include "kube/client/internal/payload.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

// Nobody here reads them, and they are a third of what servers send.
constexpr absl::string_view kManagedFields[] = {"metadata", "managedFields"};
constexpr absl::string_view kManagedFieldsOfItems[] = {"items", "*", "metadata", "managedFields"};

absl::StatusOr<json::Value> ParseBody(absl::string_view body, json::Path managed_fields) {
  json::ParseOptions options;
  options.dropped = managed_fields;
  auto root = json::Parse(body, options);
  if (!root.ok()) {
    return absl::InternalError(absl::StrCat("unreadable answer: ", root.status().message()));
  }
  if (!root->is_object()) return absl::InternalError("unreadable answer: not a JSON object");
  return root;
}

// The shared values are made once for all items of a list.
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
  ASSIGN_OR_RETURN(json::Value root, ParseBody(body, kManagedFields));
  return TakeObject(std::move(root), gvk);
}

absl::StatusOr<ListPage> ParseList(absl::string_view body, const Gvk& gvk) {
  ASSIGN_OR_RETURN(json::Value root, ParseBody(body, kManagedFieldsOfItems));
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
