#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/client/internal/api_error.h"
#include "kube/client/internal/url.h"
#include "kube/client/rest_mapper.h"

namespace kube {
namespace {

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

// Of one pass, however many group versions the server lists; one that answers takes some seconds.
constexpr absl::Duration kPatience = absl::Minutes(2);
// Group versions that are asked for one by one. Servers have tens to some hundreds.
constexpr int kMaxLegacyVersions = 2000;

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> strings;
  for (const json::Value& item : list.items()) strings.push_back(item.ToString());
  return strings;
}

// One pass over a server. Versions of a group are visited from the preferred one down.
class Pass {
 public:
  Pass(Client& client, const base::StopToken& stop)
      : client_(client), stop_(stop), deadline_(client.clock().SteadyNow() + kPatience) {}

  // `root` is "/api" or "/apis".
  void Visit(const std::string& root);
  absl::StatusOr<Discovery> Finish() &&;

 private:
  absl::StatusOr<json::Value> Fetch(const std::string& path, const char* accept);
  void AddAggregated(const json::Value& groups);
  void AddAggregatedVersion(const std::string& group, const json::Value& version);
  void AddLegacyGroup(const json::Value& group);
  void AddLegacyVersion(const std::string& group, const std::string& version);
  void Add(ApiResource resource);
  void Fail(const std::string& group, const std::string& version);

  Client& client_;
  const base::StopToken& stop_;
  const base::SteadyTime deadline_;
  int legacy_versions_ = 0;
  Discovery result_;
  std::set<std::pair<std::string, std::string>> seen_kinds_;  // Group, kind.
  base::ErrorList errors_;
  bool readable_ = false;  // One root at least gave an answer.
};

absl::StatusOr<json::Value> Pass::Fetch(const std::string& path, const char* accept) {
  const absl::Duration left = deadline_ - client_.clock().SteadyNow();
  if (left <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(
        absl::StrCat("get ", path, ": the server's kinds could not be listed within ",
                     absl::FormatDuration(kPatience)));
  }
  ASSIGN_OR_RETURN(const HttpResponse answer, client_.GetRaw(path, accept, left, stop_));
  if (answer.code != 200) return ErrorOfResponse(answer, absl::StrCat("get ", path));
  auto body = json::Parse(answer.body);
  if (!body.ok()) return absl::InternalError(absl::StrCat("get ", path, ": unreadable answer"));
  return body;
}

void Pass::Visit(const std::string& root) {
  const auto body = Fetch(root, kAggregated);
  if (!body.ok()) {
    errors_.Add(body.status());
    // Whoever compares with an earlier pass must not take what is below this root for gone.
    if (!absl::IsNotFound(body.status())) result_.failed_groups.push_back(root);
    return;
  }
  readable_ = true;
  const json::Value& list = *body;
  if (list["kind"].AsString() == "APIGroupDiscoveryList") {
    AddAggregated(list);
    return;
  }
  for (const json::Value& group : list["groups"].items()) AddLegacyGroup(group);
  // "/api" lists the versions of the core group.
  for (const json::Value& version : list["versions"].items()) {
    AddLegacyVersion("", version.ToString());
  }
}

void Pass::AddAggregated(const json::Value& groups) {
  for (const json::Value& group : groups["items"].items()) {
    const std::string name = group.Get({"metadata", "name"}).ToString();
    for (const json::Value& version : group["versions"].items()) {
      AddAggregatedVersion(name, version);
    }
  }
}

void Pass::AddAggregatedVersion(const std::string& group, const json::Value& version) {
  const std::string name = version["version"].ToString();
  // Stale: the aggregated server behind it cannot be reached; what is listed may be outdated.
  if (version["freshness"].AsString() == "Stale") Fail(group, name);
  for (const json::Value& resource : version["resources"].items()) {
    ApiResource found;
    // Group and version are those of the path, as in client-go's mapper.
    found.resource.gvk = {group, name, resource.Get({"responseKind", "kind"}).ToString()};
    found.resource.plural = resource["resource"].ToString();
    found.resource.namespaced = resource["scope"].AsString() == "Namespaced";
    found.verbs = StringsOf(resource["verbs"]);
    found.short_names = StringsOf(resource["shortNames"]);
    Add(std::move(found));
  }
}

void Pass::AddLegacyGroup(const json::Value& group) {
  const std::string name = group["name"].ToString();
  const std::string preferred = group.Get({"preferredVersion", "version"}).ToString();
  if (!preferred.empty()) AddLegacyVersion(name, preferred);
  for (const json::Value& version : group["versions"].items()) {
    const std::string other = version["version"].ToString();
    if (other != preferred) AddLegacyVersion(name, other);
  }
}

void Pass::AddLegacyVersion(const std::string& group, const std::string& version) {
  if (++legacy_versions_ > kMaxLegacyVersions) {
    if (legacy_versions_ > kMaxLegacyVersions + 1) return;
    errors_.Add(absl::ResourceExhaustedError(
        absl::StrCat("the server lists more than ", kMaxLegacyVersions, " group versions")));
    result_.failed_groups.push_back("/apis");
    return;
  }
  const auto list = Fetch(GroupVersionPath(group, version), "application/json");
  if (!list.ok()) {
    errors_.Add(list.status());
    Fail(group, version);
    return;
  }
  for (const json::Value& resource : (*list)["resources"].items()) {
    ApiResource found;
    found.resource.gvk = {group, version, resource["kind"].ToString()};
    found.resource.plural = resource["name"].ToString();
    found.resource.namespaced = resource["namespaced"].AsBool();
    found.verbs = StringsOf(resource["verbs"]);
    found.short_names = StringsOf(resource["shortNames"]);
    Add(std::move(found));
  }
}

void Pass::Add(ApiResource resource) {
  const Gvk& gvk = resource.resource.gvk;
  if (gvk.kind.empty() || absl::StrContains(resource.resource.plural, '/')) return;
  resource.preferred = seen_kinds_.emplace(gvk.group, gvk.kind).second;
  result_.resources.push_back(std::move(resource));
}

void Pass::Fail(const std::string& group, const std::string& version) {
  result_.failed_groups.push_back(Gvk{group, version, ""}.ApiVersion());
}

absl::StatusOr<Discovery> Pass::Finish() && {
  if (stop_.stop_requested()) return absl::CancelledError("discovery: stopped");
  if (!readable_ || (result_.resources.empty() && !errors_.empty())) {
    return base::Annotate(errors_.Join(), "discovery");
  }
  return std::move(result_);
}

}  // namespace

bool ApiResource::HasVerbs(std::initializer_list<absl::string_view> wanted) const {
  return std::all_of(wanted.begin(), wanted.end(), [this](absl::string_view verb) {
    return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  });
}

absl::StatusOr<Discovery> Discover(Client& client, const base::StopToken& stop) {
  Pass pass(client, stop);
  pass.Visit("/api");
  pass.Visit("/apis");
  return std::move(pass).Finish();
}

}  // namespace kube
