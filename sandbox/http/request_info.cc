#include "sandbox/http/request_info.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sandbox {
namespace {

using Segments = std::vector<std::string>;

// Reads the part after group and version: [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]].
void ReadObject(const Segments& parts, size_t at, RequestInfo& info) {
  // True below a namespace, but not for the namespace itself and its subresources.
  const bool scoped = parts[at] == "namespaces" && parts.size() > at + 2 &&
                      parts[at + 2] != "status" && parts[at + 2] != "finalize";
  if (scoped) {
    info.key.ns = parts[at + 1];
    at += 2;
  }
  info.gvr.resource = parts[at];
  if (parts.size() > at + 1) info.key.name = parts[at + 1];
  if (parts.size() > at + 2) info.subresource = parts[at + 2];
  // Nothing that is served has a longer path.
  info.is_resource = parts.size() <= at + 3;
}

std::string VerbOf(const base::HttpRequest& request, const RequestInfo& info) {
  const bool collection = info.key.name.empty();
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return collection ? "deletecollection" : "delete";
  if (!info.is_resource) return absl::AsciiStrToLower(request.method);
  if (!collection) return "get";
  return QueryFlag(request, "watch") ? "watch" : "list";
}

}  // namespace

std::string RequestInfo::ResourceText() const {
  if (!is_resource) return "";
  return subresource.empty() ? gvr.resource : absl::StrCat(gvr.resource, "/", subresource);
}

bool QueryFlag(const base::HttpRequest& request, absl::string_view name) {
  const absl::string_view v = request.Query(name);
  return v == "1" || v == "true" || v == "True";
}

RequestInfo ReadRequest(const base::HttpRequest& request) {
  RequestInfo info;
  const Segments parts = absl::StrSplit(request.path, '/', absl::SkipEmpty());
  size_t at = 0;
  if (!parts.empty() && parts[0] == "api" && parts.size() > 2) {
    info.gvr.version = parts[1];
    at = 2;
  } else if (!parts.empty() && parts[0] == "apis" && parts.size() > 3) {
    info.gvr.group = parts[1];
    info.gvr.version = parts[2];
    at = 3;
  }
  if (at != 0) ReadObject(parts, at, info);
  info.verb = VerbOf(request, info);
  return info;
}

}  // namespace sandbox
