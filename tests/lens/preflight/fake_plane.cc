#include "tests/lens/preflight/fake_plane.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/support.h"
#include "kube/client/client.h"
#include "lens/preflight/facts_reader.h"
#include "lens/preflight/judgement.h"
#include "tests/kube/client/scripted_transport.h"

namespace tests {
namespace {

constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
constexpr char kForbidden[] =
    R"({"kind":"Status","reason":"Forbidden","code":403,"message":"you may not"})";
constexpr char kNotFound[] = R"({"kind":"Status","reason":"NotFound","code":404,"message":"no",
    "details":{"name":"x","group":"apiextensions.k8s.io","kind":"customresourcedefinitions"}})";

kube::ApiResource Served(const kube::Gvk& gvk, const std::string& plural, bool preferred) {
  return {{gvk, plural, true}, {"get", "list"}, {}, preferred};
}

}  // namespace

FakePlane::FakePlane() {
  for (const config::KindSupport& kind : config::Kinds()) {
    const std::string plural(kind.resource);
    discovery.resources.push_back(
        Served({std::string(kind.group), std::string(kind.version), std::string(kind.kind)}, plural,
               true));
    if (plural != "clusters") stored[plural] = absl::StrCat("[\"", kind.version, "\"]");
  }
}

void FakePlane::ServeAs(const std::string& plural, const std::vector<std::string>& versions) {
  const auto is_it = [&](const kube::ApiResource& r) { return r.resource.plural == plural; };
  auto& all = discovery.resources;
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  REQUIRE(found != all.end());
  kube::Gvk gvk = found->resource.gvk;
  all.erase(std::remove_if(all.begin(), all.end(), is_it), all.end());
  for (const std::string& version : versions) {
    gvk.version = version;
    all.push_back(Served(gvk, plural, version == versions[0]));
  }
}

void FakePlane::ServeUnknown(const std::string& group, const std::string& plural,
                             const std::string& kind) {
  discovery.resources.push_back(Served({group, "v1", kind}, plural, true));
  stored[plural] = R"(["v1"])";
}

kube::HttpResponse FakePlane::List(const std::string& plural, bool is_first_only) const {
  std::string items;
  int64_t remain = 0;
  if (const auto some = objects.find(plural); some != objects.end()) items = some->second;
  if (const auto count = counts.find(plural); count != counts.end()) {
    remain = is_first_only ? count->second - 1 : 0;
    std::vector<std::string> empty(static_cast<size_t>(count->second - remain),
                                   R"({"metadata":{"name":"x"}})");
    items = absl::StrJoin(empty, ",");
  }
  std::string metadata = R"("resourceVersion":"1")";
  if (remain > 0) absl::StrAppend(&metadata, R"(,"continue":"next")");
  if (remain > 0 && says_how_many_remain) {
    absl::StrAppend(&metadata, R"(,"remainingItemCount":)", remain);
  }
  return Answer(
      200, absl::StrCat(R"({"kind":"List","metadata":{)", metadata, R"(},"items":[)", items, "]}"));
}

kube::HttpResponse FakePlane::AnswerTo(const std::string& path) const {
  if (path == "/version") return Answer(200, R"({"gitVersion":"v1.34.1"})");
  if (absl::StartsWith(path, kDefinitions)) {
    if (forbidden.contains("customresourcedefinitions")) return Answer(403, kForbidden);
    const std::string name = path.substr(std::string(kDefinitions).size());
    const auto versions = stored.find(name.substr(0, name.find('.')));
    if (versions == stored.end()) return Answer(404, kNotFound);
    return Answer(200, absl::StrCat(R"({"kind":"CustomResourceDefinition","status":{)",
                                    R"("storedVersions":)", versions->second, "}}"));
  }
  const std::string without_query = path.substr(0, path.find('?'));
  const std::string plural = without_query.substr(without_query.rfind('/') + 1);
  if (forbidden.contains(plural)) return Answer(403, kForbidden);
  return List(plural, absl::EndsWith(path, "?limit=1"));
}

absl::StatusOr<lens::preflight::Facts> FakePlane::Read(const base::Clock& clock) const {
  const auto transport = std::make_shared<ScriptedTransport>(
      [this](const kube::HttpRequest& request, int) -> absl::StatusOr<kube::HttpResponse> {
        CHECK(request.method == "GET");
        on_request();
        return AnswerTo(request.path);
      });
  kube::Client client(transport, {.name = "plane", .host = "plane:5443"}, clock, nullptr);
  return lens::preflight::ReadFacts(client, discovery, {});
}

std::vector<lens::preflight::Row> FakePlane::Rows() const {
  const auto facts = Read();
  INFO(facts.status());
  REQUIRE(facts.ok());
  return lens::preflight::Judge(*facts);
}

lens::preflight::Row RowOf(const std::vector<lens::preflight::Row>& rows, const std::string& name) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const lens::preflight::Row& row) { return row.name == name; });
  INFO(name);
  REQUIRE(found != rows.end());
  return *found;
}

}  // namespace tests
