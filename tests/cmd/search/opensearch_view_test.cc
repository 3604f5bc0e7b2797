// Lists from OpenSearch, through the same API as those from the cache.
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/json.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/meta/object.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/search/opensearch/fake_opensearch.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

constexpr char kOpenSearchPath[] = "/apis/search.karmada.io/v1alpha1/search/opensearch";
constexpr char kOrigin[] = "resource.karmada.io/cached-from-cluster";
const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
const kube::Resource kEvents{{"", "v1", "Event"}, "events", true};

class ViewPlane : public SearchPlane {
 public:
  ViewPlane() {
    Create(cluster("member1"), kPods, Pod("a", "app: web, weight: '5'", "nodeName: n1"));
    Create(cluster("member1"), kPods, Pod("b", "app: db", "hostNetwork: true"));
    Create(cluster("member2"), kPods, Pod("a", "app: web, weight: '20'", "nodeName: n2"));
    Create(cluster("member2"), kPods, Pod("c", "tier: x", "nodeName: n1"));
    Create(cluster("member1"), kEvents,
           "{apiVersion: v1, kind: Event, metadata: {namespace: default, name: e1}, type: Warning, "
           "reason: BackOff, involvedObject: {kind: Pod, namespace: default, name: a}}");
    Create(search(), api::ResourceRegistryResource(),
           absl::StrCat(R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: mirrored}
spec:
  targetCluster: {}
  resourceSelectors:
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: v1, kind: Event}
  backendStore: {openSearch: {addresses: [")",
                        open_search_.url(), R"("], secretRef: {namespace: "", name: ""}}}
)"));
    REQUIRE(Eventually([&] { return List("/api/v1/pods") == kAll; }));
    REQUIRE(Eventually(
        [&] { return List("/api/v1/events?fieldSelector=reason=BackOff") == "member1/e1"; }));
  }

  // Returns the body of an answer; the message of an error with its code.
  json::Value Body(const std::string& target, const std::string& headers = "") {
    const RawResponse answer = GetAs(ClientCertificate("admin", "system:masters"), headers,
                                     absl::StrCat(kOpenSearchPath, target));
    return json::Parse(answer.body).value_or(json::Value());
  }
  // Returns "member1/a member2/b" for the items of a list, or the message of an error.
  std::string List(const std::string& target) { return TextOf(Body(target)); }
  static std::string TextOf(const json::Value& body) {
    if (body["kind"].AsString() == "Status") return body["message"].ToString();
    std::string out;
    for (const json::Value& item : body["items"].items()) {
      const kube::Object object(item);
      absl::StrAppend(&out, out.empty() ? "" : " ", object.Annotation(kOrigin), "/", object.name());
    }
    return out;
  }

  TestOpenSearch& open_search() { return open_search_; }
  // Returns "False DocumentsRefused message" of the condition Mirrored.
  std::string Mirrored() {
    const auto registry = search().Get(api::ResourceRegistryResource(), {"", "mirrored"}, {});
    if (!registry.ok()) return registry.status().ToString();
    const json::Value* found =
        kube::FindCondition(registry->status()["conditions"], api::kRegistryMirrored);
    if (found == nullptr) return "";
    return absl::StrCat((*found)["status"].AsString(), " ", (*found)["reason"].AsString(), " ",
                        (*found)["message"].AsString());
  }

  const std::string kAll = "member1/a member1/b member2/a member2/c";

 private:
  static std::string Pod(const std::string& name, const std::string& labels,
                         const std::string& spec) {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: ", name,
                        ", labels: {", labels, "}}, spec: {", spec,
                        ", containers: [{name: c, image: i}]}}");
  }

  TestOpenSearch open_search_;
};

TEST_CASE("OpenSearch answers lists as the cache does") {
  if (TestOpenSearch::IsReal()) return;  // The names of its indices are not the test's.
  ViewPlane plane;
  struct Row {
    std::string target, wanted;
  };
  for (const Row& row : std::vector<Row>{
           {"/api/v1/pods", plane.kAll},
           {"/api/v1/namespaces/default/pods", plane.kAll},
           {"/api/v1/namespaces/other/pods", ""},
           {"/api/v1/namespaces/default/pods/a", "member1/a member2/a"},
           {"/api/v1/namespaces/default/pods/none", ""},
           {"/api/v1/pods?cluster=member2", "member2/a member2/c"},
           {"/api/v1/pods?labelSelector=app%3Dweb", "member1/a member2/a"},
           {"/api/v1/pods?labelSelector=app%21%3Dweb", "member1/b member2/c"},
           {"/api/v1/pods?labelSelector=app+in+(web,db),weight", "member1/a member2/a"},
           {"/api/v1/pods?labelSelector=app+notin+(web)", "member1/b member2/c"},
           {"/api/v1/pods?labelSelector=%21app", "member2/c"},
           {"/api/v1/pods?labelSelector=weight%3E5", "member2/a"},
           {"/api/v1/pods?labelSelector=weight%3C6", "member1/a"},
           {"/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "member1/a member2/c"},
           {"/api/v1/pods?fieldSelector=status.nominatedNodeName%3D", plane.kAll},
           {"/api/v1/pods?fieldSelector=spec.nodeName%21%3Dn1", "member1/b member2/a"},
           {"/api/v1/pods?fieldSelector=cluster%3Dmember1", "member1/a member1/b"},
           {"/api/v1/pods?fieldSelector=cluster%21%3Dmember1", "member2/a member2/c"},
           {"/api/v1/pods?fieldSelector=metadata.name%3Da,metadata.namespace%3Ddefault",
            "member1/a member2/a"},
           // These have a default, or lie elsewhere in the object.
           {"/api/v1/pods?fieldSelector=spec.hostNetwork%3Dfalse", "member1/a member2/a member2/c"},
           {"/api/v1/pods?fieldSelector=spec.hostNetwork%3Dtrue", "member1/b"},
           {"/api/v1/events?fieldSelector=involvedObject.name%3Da,type%3DWarning,reason%3DBackOff",
            "member1/e1"},
           {"/api/v1/events?fieldSelector=involvedObject.name%3Db", ""},
           // Not of Kubernetes, but searchable.
           {"/api/v1/pods?fieldSelector=spec.containers.image%3Di", plane.kAll},
           {"/api/v1/pods?resourceVersion=0", plane.kAll},
           {"/api/v1/pods?sort=-metadata.name", "member2/c member1/b member1/a member2/a"},
           {"/api/v1/pods?sort=metadata.labels.app,-metadata.name&limit=2", "member1/b member1/a"},
       }) {
    CAPTURE(row.target);
    const std::string target = row.target;
    CHECK(plane.List(target) == row.wanted);
    // The cache answers the same where it knows the parameters.
    if (absl::StrContains(target, "containers.image") || absl::StrContains(target, "events"))
      continue;
    CHECK(ViewPlane::TextOf(json::Parse(plane.Get(absl::StrCat(kViewPath, target)).body).value()) ==
          row.wanted);
  }
}

TEST_CASE("OpenSearch answers page by page, as Tables and as metadata") {
  if (TestOpenSearch::IsReal()) return;
  ViewPlane plane;
  json::Value page = plane.Body("/api/v1/pods?limit=3");
  CHECK(ViewPlane::TextOf(page) == "member1/a member1/b member2/a");
  CHECK(page.Get({"metadata", "remainingItemCount"}).AsInt() == 1);
  CHECK(page["kind"].AsString() == "PodList");
  const std::string token = page.Get({"metadata", "continue"}).ToString();
  page = plane.Body(absl::StrCat("/api/v1/pods?limit=3&continue=", token));
  CHECK(ViewPlane::TextOf(page) == "member2/c");
  CHECK_FALSE(page["metadata"].Has("continue"));

  const json::Value table = plane.Body("/api/v1/pods?limit=1",
                                       "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n");
  CHECK(table["kind"].AsString() == "Table");
  CHECK(table["columnDefinitions"].At(1)["name"].AsString() == "Cluster");
  CHECK(table["rows"].size() == 1);
  CHECK(table["rows"].At(0)["cells"].At(0).AsString() == "a");
  CHECK(table["rows"].At(0)["cells"].At(1).AsString() == "member1");
  CHECK_FALSE(table.Get({"metadata", "continue"}).AsString().empty());

  const json::Value partial =
      plane.Body("/api/v1/pods?cluster=member2",
                 "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io\r\n");
  CHECK(partial["kind"].AsString() == "PartialObjectMetadataList");
  CHECK(ViewPlane::TextOf(partial) == "member2/a member2/c");
  CHECK_FALSE(partial["items"].At(0).Has("spec"));

  const json::Value plain = plane.Body("/api/v1/pods");
  CHECK((plane.Body("/api/v1/pods?pretty=true") == plain));
  const RawResponse yaml =
      plane.GetAs(plane.ClientCertificate("admin", "system:masters"),
                  "Accept: application/yaml\r\n", absl::StrCat(kOpenSearchPath, "/api/v1/pods"));
  CHECK((yaml::Parse(yaml.body).value_or(json::Value()) == plain));
}

TEST_CASE("What OpenSearch cannot answer is refused with the reason") {
  if (TestOpenSearch::IsReal()) return;
  ViewPlane plane;
  struct Row {
    std::string target, wanted;
  };
  for (const Row& row : std::vector<Row>{
           {"/api/v1/secrets", "no ResourceRegistry mirrors v1/secrets into an OpenSearch"},
           {"/api/v1/pods?continue=x", "continue token: it is not one of a search in OpenSearch"},
           {"/api/v1/pods?fieldSelector=data.x%3D1", "field label not supported: data.x"},
           {"/api/v1/pods?resourceVersion=7", "resourceVersion: lists from OpenSearch have no"},
           {"/api/v1/pods?watch=true", "the view of all clusters cannot be watched"},
       }) {
    CAPTURE(row.target);
    CHECK(absl::StartsWith(plane.List(row.target), row.wanted));
  }
}

TEST_CASE("Nothing is read from an OpenSearch that belongs to another control plane") {
  if (TestOpenSearch::IsReal()) return;
  ViewPlane plane;
  plane.open_search().Ask("PUT", "/_index_template/karmada-search",
                          R"({"_meta":{"owner":"another"},"index_patterns":["x"],"template":{}})");
  // The template is looked at again after a failure.
  std::atomic<bool> failed = false;
  plane.open_search().SetFault(
      [&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (request.path != "/_bulk" || failed.exchange(true)) return std::nullopt;
        return base::HttpResponse{500, "application/json", {}, "{}"};
      });
  plane.Create(plane.cluster("member1"), kEvents,
               "{apiVersion: v1, kind: Event, metadata: {namespace: default, name: e2}, "
               "involvedObject: {kind: Pod, namespace: default, name: a}}");
  CHECK(Eventually([&] {
    const std::string answer = plane.List("/api/v1/pods");
    return absl::StartsWith(answer, "OpenSearch: ") &&
           absl::StrContains(answer, "belong to another control plane");
  }));
  plane.open_search().SetFault(nullptr);
}

TEST_CASE("A registry says how many documents its OpenSearch refuses, and why") {
  if (TestOpenSearch::IsReal()) return;
  ViewPlane plane;
  CHECK(Eventually([&] { return absl::StartsWith(plane.Mirrored(), "True Mirrored"); }));
  plane.open_search().Change([](MemoryOpenSearch& memory) {
    memory.refuse = [](absl::string_view id) -> std::optional<std::pair<int, std::string>> {
      if (!absl::StartsWith(id, "member2/")) return std::nullopt;
      return {{400, "mapper_parsing_exception"}};
    };
  });
  const json::Value change = json::Parse(R"({"metadata":{"labels":{"new":"label"}}})").value();
  REQUIRE(plane.cluster("member2")
              .Patch(kPods, {"default", "a"}, kube::PatchType::kMerge, change, {}, {})
              .ok());
  CHECK(Eventually([&] {
    const std::string text = plane.Mirrored();
    return absl::StartsWith(text, "False DocumentsRefused documents refused: ") &&
           absl::StrContains(text, " of member2, uid ") &&
           absl::StrContains(text, "mapper_parsing_exception");
  }));
  plane.open_search().Change([](MemoryOpenSearch& memory) { memory.refuse = nullptr; });
  // A later state of the object is tried again.
  const json::Value again = json::Parse(R"({"metadata":{"labels":{"new":"other"}}})").value();
  CHECK(Eventually([&] {
    base::IgnoreError(plane.cluster("member2")
                          .Patch(kPods, {"default", "a"}, kube::PatchType::kMerge, again, {}, {})
                          .status(),
                      "it is tried again");
    return plane.List("/api/v1/pods?labelSelector=new%3Dother") == "member2/a";
  }));
}

}  // namespace
}  // namespace tests
