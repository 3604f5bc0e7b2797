// The check asks for /version; an answer that is not that of a Kubernetes API server is final,
// since waiting would not help. It then asks /apis every two seconds, with one warning and one call
// of on_wait, until an API version that makes a control plane is served or the patience is over. A
// server that does not say what it serves is taken to serve everything. That some versions are
// missing is a warning only.

#include "controllers/process/server_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/control_plane.h"
#include "api/resources.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/client/refused_credentials.h"

namespace controllers {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(2);
constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kUnauthorized = 401;
constexpr size_t kShownBytes = 200;

std::set<std::string> KarmadaApis() {
  std::set<std::string> versions;
  for (const kube::Resource& resource :
       {api::PropagationPolicies(), api::ResourceBindings(), api::Works(), api::Clusters(),
        api::InterpreterCustomizations(), api::WorkloadRebalancers(), api::Remedies(),
        api::FederatedHpas(), api::MultiClusterServices(), api::ServiceImports()}) {
    versions.insert(resource.gvk.ApiVersion());
  }
  return versions;
}

std::string Shown(const std::string& body) {
  return base::CutText(absl::StrReplaceAll(body, {{"\r", " "}, {"\n", " "}}), kShownBytes);
}

// Returns the version in the server's answer, such as "v1.31.0".
absl::StatusOr<std::string> VersionOf(const kube::HttpResponse& answer, const ServerCheck& check) {
  const std::string& host = check.host;
  if (answer.code == kUnauthorized) {
    return absl::UnauthenticatedError(absl::StrCat("the Karmada API server ", host,
                                                   " refuses the credentials of ", check.flag, " ",
                                                   kube::kRefusedCredentials));
  }
  if (answer.code != kOk && answer.code != kNotFound) {
    return absl::UnavailableError(absl::StrCat("the Karmada API server ", host,
                                               " answered GET /version with ", answer.code, ": ",
                                               Shown(answer.body)));
  }
  const auto document = json::Parse(answer.body);
  const std::string version = document.ok() ? (*document)["gitVersion"].ToString() : "";
  if (answer.code == kOk && !version.empty()) return version;
  return absl::InvalidArgumentError(absl::StrCat(
      host, " is not a Kubernetes API server: it answered GET /version with ", answer.code,
      " and \"", Shown(answer.body), "\". ", check.flag, " has to lead to the Karmada API server"));
}

// Returns Karmada's API versions that the server does not serve; none when it does not list what it
// serves.
std::vector<std::string> MissingApis(kube::Client& client, const base::StopToken& stop) {
  const auto answer = client.GetRaw("/apis", stop);
  if (!answer.ok() || answer->code != kOk) return {};
  const auto document = json::Parse(answer->body);
  if (!document.ok() || (*document)["kind"].AsString() != "APIGroupList") return {};
  std::set<std::string> missing = KarmadaApis();
  for (const json::Value& group : (*document)["groups"].items()) {
    for (const json::Value& version : group["versions"].items()) {
      missing.erase(version["groupVersion"].ToString());
    }
  }
  return {missing.begin(), missing.end()};
}

// Returns whether at least one of the versions is served that make a server a control plane.
bool IsControlPlane(const std::vector<std::string>& missing) {
  const std::set<std::string> versions = KarmadaApis();
  return std::any_of(versions.begin(), versions.end(), [&](const std::string& version) {
    return api::IsControlPlaneGroup(version.substr(0, version.find('/'))) &&
           std::find(missing.begin(), missing.end(), version) == missing.end();
  });
}

std::string NoKarmada(const ServerCheck& check, const std::string& version,
                      const std::vector<std::string>& missing) {
  return absl::StrCat(check.host, " is a Kubernetes ", version,
                      " API server without the APIs of a Karmada control plane (",
                      absl::StrJoin(missing, ", "), "): either ", check.flag,
                      " leads to another cluster than the Karmada control "
                      "plane, a member for "
                      "example, or Karmada's definitions still have to be installed there");
}

}  // namespace

absl::Status CheckServer(kube::Client& client, const ServerCheck& check, const base::Clock& clock,
                         const base::StopToken& stop) {
  const auto answer = client.GetRaw("/version", stop);
  RETURN_IF_ERROR(base::Annotate(answer.status(), "reaching the Karmada API server"));
  ASSIGN_OR_RETURN(const std::string version, VersionOf(*answer, check));
  const base::SteadyTime deadline = clock.SteadyNow() + check.patience;
  bool warned = false;
  std::vector<std::string> missing = MissingApis(client, stop);
  while (!IsControlPlane(missing)) {
    const std::string what = NoKarmada(check, version, missing);
    if (clock.SteadyNow() >= deadline) return absl::FailedPreconditionError(what);
    if (!warned) {
      const std::string waiting = absl::FormatDuration(check.patience);
      if (check.cluster.empty()) base::LogWarning(what, {{"waiting", waiting}});
      if (!check.cluster.empty()) {
        base::LogWarning(what, {{"cluster", check.cluster}, {"waiting", waiting}});
      }
      if (check.on_wait) RETURN_IF_ERROR(check.on_wait());
    }
    warned = true;
    if (!clock.SleepFor(kInterval, stop)) return absl::CancelledError("stopped");
    missing = MissingApis(client, stop);
  }
  if (warned) base::LogInfo("Karmada's APIs are served now");
  if (!missing.empty()) {
    base::LogWarning(
        "the API server does not serve all of Karmada's APIs; controllers that need them wait, and "
        "the process ends when one has waited for --cluster-cache-sync-timeout",
        {{"missing", absl::StrJoin(missing, ", ")},
         {"timeout", absl::FormatDuration(check.patience)}});
  }
  return absl::OkStatus();
}

}  // namespace controllers
