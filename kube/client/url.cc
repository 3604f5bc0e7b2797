#include "kube/client/url.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

std::string Escape(absl::string_view text, absl::string_view also_literal) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
        absl::StrContains(also_literal, c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

absl::Status CheckSegment(absl::string_view what, absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(what, " is empty"));
  if (!IsPathSegment(text)) {
    return absl::InvalidArgumentError(absl::StrCat(what, " \"", text, "\" is not a legal name"));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPathSegment(absl::string_view text) {
  return !text.empty() && text != "." && text != ".." && !absl::StrContains(text, '/');
}

std::string EscapeSegment(absl::string_view text) { return Escape(text, ":@!$'()*+,;="); }
std::string EscapeQuery(absl::string_view text) { return Escape(text, ""); }

std::string GroupVersionPath(absl::string_view group, absl::string_view version) {
  return group.empty() ? absl::StrCat("/api/", version)
                       : absl::StrCat("/apis/", group, "/", version);
}

absl::StatusOr<std::string> CollectionPath(const Resource& r, absl::string_view ns) {
  std::string path = GroupVersionPath(r.gvk.group, r.gvk.version);
  if (r.namespaced && !ns.empty()) {
    RETURN_IF_ERROR(CheckSegment("the namespace", ns));
    absl::StrAppend(&path, "/namespaces/", EscapeSegment(ns));
  }
  absl::StrAppend(&path, "/", r.plural);
  return path;
}

absl::StatusOr<std::string> ObjectPath(const Resource& r, const ObjectKey& key,
                                       absl::string_view subresource) {
  if (r.namespaced) RETURN_IF_ERROR(CheckSegment("the namespace", key.ns));
  RETURN_IF_ERROR(CheckSegment("the name", key.name));
  ASSIGN_OR_RETURN(std::string path, CollectionPath(r, key.ns));
  absl::StrAppend(&path, "/", EscapeSegment(key.name));
  if (!subresource.empty()) absl::StrAppend(&path, "/", subresource);
  return path;
}

Query& Query::Add(absl::string_view name, absl::string_view value) {
  if (value.empty()) return *this;
  absl::StrAppend(&text_, text_.empty() ? "?" : "&", name, "=", EscapeQuery(value));
  return *this;
}

}  // namespace kube
