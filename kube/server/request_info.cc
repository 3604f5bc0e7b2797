#include "kube/server/request_info.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kube::server {
namespace {

using Segments = absl::InlinedVector<absl::string_view, 12>;

Segments Split(absl::string_view path) {
  Segments parts;
  for (const absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    parts.push_back(part);
  }
  return parts;
}

absl::string_view VerbOf(absl::string_view method) {
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  return method == "DELETE" ? "delete" : "";
}

// Reads the part after group and version: [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE[/...]]].
void ReadObject(const Segments& parts, size_t at, RequestInfo& info) {
  // True below a namespace, but not for the namespace itself and its subresources.
  const bool scoped = parts[at] == "namespaces" && parts.size() > at + 2 &&
                      parts[at + 2] != "status" && parts[at + 2] != "finalize";
  if (scoped) {
    info.key.ns = std::string(parts[at + 1]);
    at += 2;
  }
  info.gvr.resource = std::string(parts[at]);
  if (parts.size() > at + 1) info.key.name = std::string(parts[at + 1]);
  // The old verb in the path "proxy" has no subresources.
  if (info.verb == "proxy") return;
  if (parts.size() > at + 2) info.subresource = std::string(parts[at + 2]);
  for (size_t i = at + 3; i < parts.size(); ++i) absl::StrAppend(&info.sub_path, "/", parts[i]);
}

void ReadResource(const Segments& parts, size_t at, absl::string_view method, bool watch,
                  RequestInfo& info) {
  info.is_resource = true;
  if (parts[at] == "watch" || parts[at] == "proxy") {
    info.verb = std::string(parts[at++]);
    info.verb_in_path = true;
    if (at == parts.size()) {
      info.is_resource = false;
      return;
    }
  } else {
    info.verb = std::string(VerbOf(method));
  }
  ReadObject(parts, at, info);
  if (!info.key.name.empty()) return;
  if (info.verb == "get") info.verb = watch ? "watch" : "list";
  if (info.verb == "delete") info.verb = "deletecollection";
}

}  // namespace

std::string RequestInfo::ResourceText() const {
  if (!is_resource) return "";
  return subresource.empty() ? gvr.resource : absl::StrCat(gvr.resource, "/", subresource);
}

bool QueryFlag(const base::HttpRequest& request, absl::string_view name) {
  const auto found = std::find_if(request.query.begin(), request.query.end(),
                                  [name](const auto& q) { return q.first == name; });
  if (found == request.query.end()) return false;
  return found->second != "0" && !absl::EqualsIgnoreCase(found->second, "false");
}

RequestInfo ReadRequest(absl::string_view method, absl::string_view path, bool watch) {
  RequestInfo info;
  const Segments parts = Split(path);
  if (parts.size() > 2 && parts[0] == "api") {
    info.gvr.version = std::string(parts[1]);
    ReadResource(parts, 2, method, watch, info);
  } else if (parts.size() > 3 && parts[0] == "apis") {
    info.gvr.group = std::string(parts[1]);
    info.gvr.version = std::string(parts[2]);
    ReadResource(parts, 3, method, watch, info);
  }
  if (!info.is_resource) info.verb = absl::AsciiStrToLower(method);
  return info;
}

RequestInfo ReadRequest(const base::HttpRequest& request) {
  return ReadRequest(request.method, request.path, QueryFlag(request, "watch"));
}

}  // namespace kube::server
