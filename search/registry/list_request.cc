#include "search/registry/list_request.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/json.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

using kube::server::BadRequest;
using kube::server::ListOptions;

absl::StatusOr<int64_t> VersionOf(const ListOptions& options) {
  const std::string& text = options.resource_version;
  int64_t n = 0;
  if (text.empty() || (absl::SimpleAtoi(text, &n) && n >= 0)) return n;
  return BadRequest(absl::StrCat("invalid resource version ", json::Write(text)));
}

absl::Status ReadToken(absl::string_view token, RegistryListRequest& out) {
  std::string text;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    const auto v = json::Parse(text);
    const std::string start = v.ok() ? (*v)["start"].ToString() : "";
    if (v.ok() && (*v)["v"].AsString() == "meta.k8s.io/v1" && (*v)["rv"].AsInt() > 0 &&
        // A name with a slash would lead to keys of other kinds.
        start.find('/') == std::string::npos) {
      out.revision = (*v)["rv"].AsInt();
      // The token names the first key that may follow: the last one with a zero byte.
      out.after = start.substr(0, start.find('\0'));
      out.continued = true;
      return absl::OkStatus();
    }
  }
  return BadRequest("continue key is not valid");
}

}  // namespace

absl::StatusOr<RegistrySelection> RegistrySelection::Of(const ListOptions& options,
                                                        const std::string& name) {
  static const auto* const fields = new kube::server::FieldLabels(
      kube::server::FieldLabels::Of(api::ResourceRegistryResource().gvk));
  ASSIGN_OR_RETURN(kube::server::FieldMatcher matcher, fields->Compile(options.fields));
  return RegistrySelection{options.labels, std::move(matcher), name};
}

bool RegistrySelection::Matches(const kube::Object& registry) const {
  if (!name.empty() && registry.name() != name) return false;
  return labels.Matches(registry.labels()) && fields.Matches(registry.root());
}

bool RegistrySelection::MatchesEverything() const {
  return name.empty() && labels.MatchesEverything() && fields.MatchesEverything();
}

absl::StatusOr<RegistryListRequest> RegistryListRequest::Of(const ListOptions& options) {
  RegistryListRequest out;
  out.limit = options.limit;
  ASSIGN_OR_RETURN(const int64_t version, VersionOf(options));
  if (!options.continue_token.empty()) {
    if (version != 0) {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
    RETURN_IF_ERROR(ReadToken(options.continue_token, out));
    return out;
  }
  out.from_memory = options.resource_version == "0";
  if (options.resource_version_match == ListOptions::Match::kExact) {
    out.revision = version;
  } else {
    out.not_older_than = version;
  }
  return out;
}

std::string RegistryContinueToken(int64_t revision, absl::string_view last_name) {
  const json::Value token =
      json::Value::Object({{"v", "meta.k8s.io/v1"},
                           {"rv", revision},
                           {"start", absl::StrCat(last_name, std::string(1, '\0'))}});
  return absl::WebSafeBase64Escape(json::Write(token));
}

absl::StatusOr<RegistryWatchRequest> RegistryWatchRequest::Of(const ListOptions& options,
                                                              absl::Duration min_timeout) {
  RegistryWatchRequest out;
  ASSIGN_OR_RETURN(out.since, VersionOf(options));
  out.initial = options.send_initial_events.value_or(false);
  out.from_now = !out.initial && out.since == 0;
  out.bookmarks = options.allow_watch_bookmarks;
  out.mark_initial_end = out.initial && out.bookmarks;
  const absl::Duration wanted = options.timeout.value_or(absl::ZeroDuration());
  out.timeout = wanted > absl::ZeroDuration() ? wanted : base::Jitter(min_timeout, 1.0);
  return out;
}

}  // namespace search
