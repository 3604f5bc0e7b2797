// Decodes and checks the parameters of a list or watch in apiserver's order: what cannot be decoded
// is a 400 and ends the reading, what does not fit together is collected into one 422. Defaults are
// set between the two, as there: a watch from "" or "0" counts as one with sendInitialEvents, if
// the server has that feature. Whether the objects can be selected by the given fields is not known
// here.

#include "kube/server/list_options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/request_info.h"

namespace kube::server {
namespace {

constexpr char kMatch[] = "resourceVersionMatch";
constexpr char kInitialEvents[] = "sendInitialEvents";

// Returns nullptr when the parameter is absent.
const std::string* Find(const base::HttpRequest& request, absl::string_view name) {
  const auto found = std::find_if(request.query.begin(), request.query.end(),
                                  [name](const auto& q) { return q.first == name; });
  return found == request.query.end() ? nullptr : &found->second;
}

// As Go's strconv.ParseInt, with its messages.
absl::Status ReadInt(const base::HttpRequest& request, absl::string_view name,
                     std::optional<int64_t>& out) {
  const std::string* text = Find(request, name);
  if (text == nullptr) return absl::OkStatus();
  int64_t n = 0;
  // Abseil takes blanks around a number, Go does not.
  if (absl::SimpleAtoi(*text, &n) && text->find(' ') == std::string::npos) {
    out = n;
    return absl::OkStatus();
  }
  const size_t sign = !text->empty() && ((*text)[0] == '-' || (*text)[0] == '+') ? 1 : 0;
  const bool digits =
      text->size() > sign && text->find_first_not_of("0123456789", sign) == std::string::npos;
  return BadRequest(absl::StrCat("strconv.ParseInt: parsing \"", *text,
                                 "\": ", digits ? "value out of range" : "invalid syntax"));
}

// Whether the kind has these fields is checked by FieldLabels.
absl::Status ReadSelectors(const base::HttpRequest& request, ListOptions& options) {
  auto labels = kube::LabelSelector::Parse(request.Query("labelSelector"));
  if (!labels.ok()) {
    return BadRequest(absl::StrCat("unable to parse requirement: ", labels.status().message()));
  }
  auto fields = kube::FieldSelector::Parse(request.Query("fieldSelector"));
  if (!fields.ok()) return BadRequest(fields.status().message());
  options.labels = *std::move(labels);
  options.fields = *std::move(fields);
  return absl::OkStatus();
}

absl::Status ReadNumbers(const base::HttpRequest& request, ListOptions& options) {
  std::optional<int64_t> limit, seconds;
  RETURN_IF_ERROR(ReadInt(request, "timeoutSeconds", seconds));
  RETURN_IF_ERROR(ReadInt(request, "limit", limit));
  options.limit = limit.value_or(0);
  if (seconds.has_value()) options.timeout = absl::Seconds(*seconds);
  return absl::OkStatus();
}

// The value of resourceVersionMatch while it is being checked.
struct MatchText {
  std::string text;
  bool Is(absl::string_view value) const { return text == value; }
};

// SetListOptionsDefaults: a watch from "" or "0" begins with the objects that there are.
void SetDefaults(ListOptions& options, MatchText& match) {
  const bool any = options.resource_version.empty() || options.resource_version == "0";
  if (!options.watch || !any || options.send_initial_events || !match.text.empty()) return;
  options.send_initial_events = true;
  options.initial_events_by_default = true;
  match.text = "NotOlderThan";
}

void ValidateWatch(const ListOptions& options, const MatchText& match, bool watch_list,
                   FieldErrors& errors) {
  if (options.send_initial_events) {
    if (!match.Is("NotOlderThan")) {
      errors.Forbidden(kMatch,
                       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (!watch_list) {
      errors.Forbidden(kInitialEvents,
                       "sendInitialEvents is forbidden for watch unless the WatchList feature "
                       "gate is enabled");
    }
  }
  if (match.text.empty()) return;
  if (!options.send_initial_events) {
    errors.Forbidden(kMatch,
                     "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                     "provided");
  }
  if (!match.Is("NotOlderThan")) errors.NotSupported(kMatch, match.text, {"NotOlderThan"});
  if (!options.continue_token.empty()) {
    errors.Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided");
  }
}

void ValidateList(const ListOptions& options, const MatchText& match, FieldErrors& errors) {
  if (!match.text.empty()) {
    if (options.resource_version.empty()) {
      errors.Forbidden(kMatch,
                       "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      errors.Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (!match.Is("Exact") && !match.Is("NotOlderThan")) {
      errors.NotSupported(kMatch, match.text, {"Exact", "NotOlderThan", ""});
    }
    if (match.Is("Exact") && options.resource_version == "0") {
      errors.Forbidden(kMatch,
                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) {
    errors.Forbidden(kInitialEvents, "sendInitialEvents is forbidden for list");
  }
}

}  // namespace

absl::StatusOr<ListOptions> ListOptions::Read(const base::HttpRequest& request,
                                              const Rules& rules) {
  ListOptions options;
  RETURN_IF_ERROR(ReadSelectors(request, options));
  options.watch = rules.watch || QueryFlag(request, "watch");
  options.allow_watch_bookmarks = QueryFlag(request, "allowWatchBookmarks");
  options.resource_version = std::string(request.Query("resourceVersion"));
  RETURN_IF_ERROR(ReadNumbers(request, options));
  options.continue_token = std::string(request.Query("continue"));
  if (Find(request, kInitialEvents) != nullptr) {
    options.send_initial_events = QueryFlag(request, kInitialEvents);
  }
  MatchText match{std::string(request.Query(kMatch))};
  // It precedes the validation: the defaults have to fit, too.
  if (rules.watch_list) SetDefaults(options, match);
  FieldErrors errors;
  if (options.watch) {
    ValidateWatch(options, match, rules.watch_list, errors);
  } else {
    ValidateList(options, match, errors);
  }
  RETURN_IF_ERROR(errors.ToStatus({"meta.k8s.io", "ListOptions"}, ""));
  if (match.Is("Exact")) options.resource_version_match = Match::kExact;
  if (match.Is("NotOlderThan")) options.resource_version_match = Match::kNotOlderThan;
  return options;
}

}  // namespace kube::server
