// A release is known by what only its definitions have, at a path of the schema of ResourceBinding.
// In an upgrade the definitions are replaced first and the programs afterwards, so this shows the
// release early enough: whoever writes the new fields finds a program that knows them.
//
// An API server that has just started serves the documents of its own kinds first, and those of the
// definitions one by one in the seconds after. So a document that is missing, or in which the kind
// is missing, says nothing yet; a refusal is final.

#include "config/served/served_release.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "config/binding_schema.h"
#include "kube/client/api_error.h"

namespace config {
namespace {

constexpr char kKindExtension[] = "x-kubernetes-group-version-kind";
constexpr absl::Duration kInterval = absl::Seconds(2);
constexpr size_t kMaxDocument = 16 << 20;
constexpr int kOk = 200;
constexpr int kNotModified = 304;

// Where the document is that has the definition of ResourceBinding.
std::string DocumentPath() {
  return absl::StrCat("/openapi/v3/apis/", api::ResourceBindings().gvk.ApiVersion());
}

bool IsBindingSchema(const json::Value& schema) {
  const auto kinds = schema[kKindExtension].items();
  return std::any_of(kinds.begin(), kinds.end(), [](const json::Value& gvk) {
    return gvk["kind"].AsString() == api::ResourceBindings().gvk.kind;
  });
}

bool MayNotBeAsked(const absl::Status& error) {
  return absl::IsPermissionDenied(error) || absl::IsUnauthenticated(error);
}

// What the user can do when a server does not say what it serves.
std::string AdviceFor(const absl::Status& error) {
  const std::string by_flag = absl::StrCat("give it with ", kReleaseFlag);
  if (MayNotBeAsked(error)) {
    return absl::StrCat(by_flag, ", or let this program's user read ", DocumentPath());
  }
  return absl::StrCat("install Karmada's definitions, or ", by_flag);
}

Release Oldest(const absl::Status& error) {
  base::LogWarning(
      "the API server does not show its definitions, so the release of Karmada is not known",
      {{"behaves as", kReleases.TextOf(kOldestRelease)},
       {"error", error},
       {"what to do", AdviceFor(error)}});
  return kOldestRelease;
}

}  // namespace

absl::StatusOr<Release> ReleaseOf(const json::Value& document) {
  for (const json::Member& schema : document["components"]["schemas"].members()) {
    if (IsBindingSchema(schema.value)) return ReleaseOfBindingSchema(schema.value);
  }
  return absl::NotFoundError(absl::StrCat(DocumentPath(), " has no schema of ResourceBinding"));
}

absl::StatusOr<Release> ServedRelease::Ask(const base::StopToken& stop) {
  kube::HttpRequest request;
  request.method = "GET";
  request.path = DocumentPath();
  request.if_none_match = etag_;
  request.max_answer_bytes = kMaxDocument;
  ASSIGN_OR_RETURN(const kube::HttpResponse answer, client_.GetRaw(request, stop));
  if (answer.code == kNotModified && known_.has_value()) return *known_;
  if (answer.code != kOk) return kube::ErrorOfResponse(answer, absl::StrCat("GET ", request.path));
  // The paths are most of the document.
  ASSIGN_OR_RETURN(const json::Value document, json::Parse(answer.body, {.dropped = {"paths"}}));
  ASSIGN_OR_RETURN(const Release release, ReleaseOf(document));
  const auto etag = answer.headers.find("etag");
  etag_ = etag == answer.headers.end() ? "" : etag->second;
  known_ = release;
  return release;
}

absl::StatusOr<Release> AwaitRelease(std::optional<Release> wanted, kube::Client& client,
                                     const ReleaseWait& wait, const base::StopToken& stop) {
  if (wanted.has_value()) return *wanted;
  ServedRelease served(client);
  const base::Clock& clock = client.clock();
  const base::SteadyTime began = clock.SteadyNow();
  bool waits = false;
  for (;;) {
    const absl::StatusOr<Release> release = served.Ask(stop);
    if (release.ok()) return release;
    if (MayNotBeAsked(release.status())) return Oldest(release.status());
    const bool shows_nothing = absl::IsNotFound(release.status());
    if (clock.SteadyNow() - began >= (shows_nothing ? wait.until_shown : wait.patience)) {
      if (shows_nothing) return Oldest(release.status());
      return base::Annotate(release.status(), "finding out the release of Karmada");
    }
    if (!waits && wait.on_wait) RETURN_IF_ERROR(wait.on_wait());
    waits = true;
    if (!clock.SleepFor(kInterval, stop)) return absl::CancelledError("stopped");
  }
}

void LogRelease(Release release, bool wanted) {
  base::LogInfo("release of Karmada",
                {{"behaves as", kReleases.TextOf(release)},
                 {"because of", wanted ? kReleaseFlag : "the control plane's definitions"}});
}

void ShowRelease(Release release, metrics::Registry& registry) {
  registry
      .GetGauge("karmada_emulated_release_info", "The release of Karmada as which this behaves.",
                {{"release", std::string(kReleases.TextOf(release))}})
      .Set(1);
}

}  // namespace config
