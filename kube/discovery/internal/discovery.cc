// A pass requests two documents, "/api" and "/apis", in their aggregated form, with the ETags of an
// earlier pass; for an answer 304 the earlier result is used. A server without aggregated discovery
// answers with lists of groups and versions, which are then requested one by one, each time.

#include "kube/discovery/internal/discovery_pass.h"

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
#include "kube/client/api_error.h"
#include "kube/client/url.h"

namespace kube {
namespace {

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

// Limits one pass, however many group versions the server lists; a server that answers needs some
// seconds.
constexpr absl::Duration kPatience = absl::Minutes(2);
// The most group versions that are requested one by one. Servers have tens to some hundreds.
constexpr int kMaxLegacyVersions = 2000;

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> strings;
  for (const json::Value& item : list.items()) strings.push_back(item.ToString());
  return strings;
}

std::string EtagOf(const HttpResponse& answer) {
  const auto header = answer.headers.find("etag");
  return header == answer.headers.end() ? "" : header->second;
}

// Returns whether a failed group belongs to the root. Versions of the core group have no group
// part; roots that failed as a whole do not belong to themselves.
bool IsBelow(const std::string& root, const std::string& failed_group) {
  const size_t slash = failed_group.find('/');
  return root == "/api" ? slash == std::string::npos : slash != std::string::npos && slash > 0;
}

// One pass over a server. Versions of a group are visited from the preferred one down.
class Pass {
 public:
  Pass(Client& client, const DiscoveryState& before, const base::StopToken& stop)
      : client_(client),
        before_(before),
        stop_(stop),
        deadline_(client.clock().SteadyNow() + kPatience) {}

  absl::StatusOr<DiscoveryState> Run() &&;

 private:
  absl::StatusOr<HttpResponse> Ask(HttpRequest request);
  // `root` is "/api" or "/apis". The code of the answer is 304 only if `before_` is still valid.
  absl::StatusOr<HttpResponse> AskRoot(const std::string& root);
  void Take(const std::string& root, const absl::StatusOr<HttpResponse>& answer);
  absl::Status Read(const std::string& root, const HttpResponse& answer);
  // Takes over the earlier pass's results for that root.
  void Keep(const std::string& root);
  void AddAggregated(const json::Value& groups);
  void AddAggregatedVersion(const std::string& group, const json::Value& version);
  void AddLegacyGroup(const json::Value& group);
  void AddLegacyVersion(const std::string& group, const std::string& version);
  void Add(ApiResource resource);
  void Fail(const std::string& group, const std::string& version);

  Client& client_;
  const DiscoveryState& before_;
  const base::StopToken& stop_;
  const base::SteadyTime deadline_;
  int legacy_versions_ = 0;
  Discovery result_;
  std::map<std::string, std::string> etags_;
  std::set<std::pair<std::string, std::string>> seen_kinds_;  // Pairs of group and kind.
  base::ErrorList errors_;
  bool readable_ = false;  // True if at least one root could be read.
};

absl::StatusOr<json::Value> BodyOf(const std::string& path, const HttpResponse& answer) {
  auto body = json::Parse(answer.body);
  if (!body.ok()) return absl::InternalError(absl::StrCat("get ", path, ": unreadable answer"));
  return body;
}

absl::StatusOr<HttpResponse> Pass::Ask(HttpRequest request) {
  const absl::Duration left = deadline_ - client_.clock().SteadyNow();
  if (left <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(
        absl::StrCat("get ", request.path, ": the server's kinds could not be listed within ",
                     absl::FormatDuration(kPatience)));
  }
  request.method = "GET";
  request.timeout = left;
  ASSIGN_OR_RETURN(HttpResponse answer, client_.GetRaw(request, stop_));
  const bool unchanged = answer.code == 304 && !request.if_none_match.empty();
  if (answer.code == 200 || unchanged) return answer;
  return ErrorOfResponse(answer, absl::StrCat("get ", request.path));
}

absl::StatusOr<HttpResponse> Pass::AskRoot(const std::string& root) {
  HttpRequest request{.path = root, .accept = kAggregated};
  const auto known = before_.etags.find(root);
  if (before_.found != nullptr && known != before_.etags.end()) {
    request.if_none_match = known->second;
  }
  ASSIGN_OR_RETURN(HttpResponse answer, Ask(request));
  if (answer.code != 304) return answer;
  const std::string etag = EtagOf(answer);
  if (etag.empty() || etag == request.if_none_match) return answer;
  // The server calls a document unchanged that was never read.
  request.if_none_match.clear();
  return Ask(request);
}

bool IsUnchanged(const absl::StatusOr<HttpResponse>& answer) {
  return answer.ok() && answer->code == 304;
}

void Pass::Take(const std::string& root, const absl::StatusOr<HttpResponse>& answer) {
  if (IsUnchanged(answer)) {
    Keep(root);
    return;
  }
  const absl::Status read = answer.ok() ? Read(root, *answer) : answer.status();
  if (read.ok()) return;
  errors_.Add(read);
  // A comparison with an earlier pass must not regard the resources of this root as gone.
  if (!absl::IsNotFound(read)) result_.failed_groups.push_back(root);
}

void Pass::Keep(const std::string& root) {
  readable_ = true;
  etags_[root] = before_.etags.at(root);
  for (const ApiResource& known : before_.found->resources) {
    if (known.resource.gvk.group.empty() == (root == "/api")) result_.resources.push_back(known);
  }
  for (const std::string& failed : before_.found->failed_groups) {
    if (IsBelow(root, failed)) result_.failed_groups.push_back(failed);
  }
}

absl::Status Pass::Read(const std::string& root, const HttpResponse& answer) {
  ASSIGN_OR_RETURN(const json::Value list, BodyOf(root, answer));
  readable_ = true;
  if (list["kind"].AsString() == "APIGroupDiscoveryList") {
    if (const std::string etag = EtagOf(answer); !etag.empty()) etags_[root] = etag;
    AddAggregated(list);
    return absl::OkStatus();
  }
  for (const json::Value& group : list["groups"].items()) AddLegacyGroup(group);
  // "/api" lists the versions of the core group.
  for (const json::Value& version : list["versions"].items()) {
    AddLegacyVersion("", version.ToString());
  }
  return absl::OkStatus();
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
  // Stale means that the aggregated server cannot be reached; the listed resources may be outdated.
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
  // The first one too many is reported, the others are skipped.
  if (++legacy_versions_ > kMaxLegacyVersions) {
    if (legacy_versions_ > kMaxLegacyVersions + 1) return;
    errors_.Add(absl::ResourceExhaustedError(
        absl::StrCat("the server lists more than ", kMaxLegacyVersions, " group versions")));
    result_.failed_groups.push_back("/apis");
    return;
  }
  const std::string path = GroupVersionPath(group, version);
  const auto answer = Ask({.path = path});
  const auto list = answer.ok() ? BodyOf(path, *answer) : answer.status();
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
  // Versions are visited from the preferred one down, so the first one that has the kind is its
  // preferred one.
  resource.preferred = seen_kinds_.emplace(gvk.group, gvk.kind).second;
  result_.resources.push_back(std::move(resource));
}

void Pass::Fail(const std::string& group, const std::string& version) {
  result_.failed_groups.push_back(Gvk{group, version, ""}.ApiVersion());
}

absl::StatusOr<DiscoveryState> Pass::Run() && {
  const absl::StatusOr<HttpResponse> core = AskRoot("/api");
  const absl::StatusOr<HttpResponse> groups = AskRoot("/apis");
  // By far the most frequent case: a server's kinds change once in days, and are asked for in
  // seconds.
  if (IsUnchanged(core) && IsUnchanged(groups)) return before_;
  Take("/api", core);
  Take("/apis", groups);
  if (stop_.stop_requested()) return absl::CancelledError("discovery: stopped");
  if (!readable_ || (result_.resources.empty() && !errors_.empty())) {
    return base::Annotate(errors_.Join(), "discovery");
  }
  return DiscoveryState{std::make_shared<const Discovery>(std::move(result_)), std::move(etags_)};
}

}  // namespace

bool ApiResource::HasVerbs(std::initializer_list<absl::string_view> wanted) const {
  return std::all_of(wanted.begin(), wanted.end(), [this](absl::string_view verb) {
    return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  });
}

absl::StatusOr<DiscoveryState> DiscoverSince(Client& client, const DiscoveryState& before,
                                             const base::StopToken& stop) {
  return Pass(client, before, stop).Run();
}

absl::StatusOr<Discovery> Discover(Client& client, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const DiscoveryState state, DiscoverSince(client, DiscoveryState(), stop));
  return *state.found;
}

}  // namespace kube
