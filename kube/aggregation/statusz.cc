#include "kube/aggregation/statusz.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"

namespace kube::aggregation {
namespace {

constexpr char kGroup[] = "config.k8s.io";
constexpr char kKind[] = "Statusz";
constexpr char kOldVersion[] = "v1alpha1";
// Upstream calls every aggregated server so.
constexpr char kComponent[] = "apiserver";

// In which form an answer is wanted.
struct Form {
  std::string version;  // "" is text.
  bool yaml = false;
};

std::optional<Form> FormOf(absl::string_view clause) {
  const std::vector<absl::string_view> parts = absl::StrSplit(clause, ';');
  std::map<absl::string_view, absl::string_view> parameters;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> parameter =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    parameters[absl::StripAsciiWhitespace(parameter.first)] =
        absl::StripAsciiWhitespace(parameter.second);
  }
  const absl::string_view type = absl::StripAsciiWhitespace(parts[0]);
  const bool has_target =
      parameters.contains("as") || parameters.contains("g") || parameters.contains("v");
  if (!has_target) {
    if (type == "*/*" || type == "text/*" || type == "text/plain") return Form{};
    return std::nullopt;
  }
  const std::string version(parameters["v"]);
  const bool is_known = parameters["as"] == kKind && parameters["g"] == kGroup &&
                        (version == "v1beta1" || version == kOldVersion);
  const bool json = type == "application/json" || type == "application/*" || type == "*/*";
  if (!is_known || (!json && type != "application/yaml")) return std::nullopt;
  return Form{.version = version, .yaml = !json};
}

absl::StatusOr<Form> FormFor(const base::HttpRequest& request) {
  const absl::string_view accept = request.Header("accept");
  if (absl::StripAsciiWhitespace(accept).empty()) return Form{};
  for (const absl::string_view clause : absl::StrSplit(accept, ',')) {
    if (auto form = FormOf(clause)) return *std::move(form);
  }
  return server::NotAcceptable({"application/json", "application/yaml", "text/plain"});
}

int64_t UptimeSeconds(const Statusz& about, absl::Time now) {
  return std::max<int64_t>(0, absl::ToInt64Seconds(now - about.started));
}

std::string TextOf(const Statusz& about, absl::Time now) {
  const int64_t up = UptimeSeconds(about, now);
  return absl::StrCat(
      "\n", kComponent,
      " statusz\n"
      "Warning: This endpoint is not meant to be machine parseable, has no formatting "
      "compatibility guarantees and is for debugging purposes only.\n\nStarted: ",
      absl::FormatTime("%a %b %e %H:%M:%S UTC %Y", about.started, absl::UTCTimeZone()),
      absl::StrFormat("\nUp: %d hr %02d min %02d sec\n", up / 3600, up / 60 % 60, up % 60),
      "Binary version: ", about.version, "\nEmulation version: ", about.version,
      "\nPaths: ", absl::StrJoin(about.paths, " "), "\n");
}

json::Value ObjectOf(const Statusz& about, const std::string& version, absl::Time now) {
  return json::Value::Object(
      {{"kind", kKind},
       {"apiVersion", absl::StrCat(kGroup, "/", version)},
       {"metadata", json::Value::Object({{"name", kComponent}})},
       {"startTime", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", about.started, absl::UTCTimeZone())},
       {"uptimeSeconds", UptimeSeconds(about, now)},
       {"binaryVersion", about.version},
       {"emulationVersion", about.version},
       {"paths", json::Value::Strings(about.paths)}});
}

}  // namespace

base::HttpResponse StatuszAnswer(const base::HttpRequest& request, const Statusz& about,
                                 absl::Time now) {
  const absl::StatusOr<Form> form = FormFor(request);
  if (!form.ok()) return server::ErrorAnswer(form.status());
  if (form->version.empty()) {
    return {.content_type = "text/plain; charset=utf-8", .body = TextOf(about, now)};
  }
  base::HttpResponse answer =
      server::AnswerOf(200, ObjectOf(about, form->version, now), {.yaml = form->yaml});
  if (form->version == kOldVersion) {
    answer.headers.emplace_back("Warning",
                                "299 - \"This version of the statusz endpoint is deprecated. "
                                "Please use a newer version.\"");
  }
  return answer;
}

}  // namespace kube::aggregation
