// Custom kinds in the view of all members and through the proxy.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/json.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

const kube::Resource kDefinitions{
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}, "customresourcedefinitions", false};
const kube::Resource kWidgets{{"example.com", "v1", "Widget"}, "widgets", true};
constexpr char kWidgetsPath[] = "/apis/example.com/v1/widgets";

constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {color: {type: string}}}}
)";

void PutWidget(SearchPlane& plane, const std::string& cluster, const std::string& name,
               const std::string& color) {
  plane.Create(plane.cluster(cluster), kWidgets,
               absl::StrCat("{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: "
                            "default, name: ",
                            name, "}, spec: {color: ", color, "}}"));
}

// Returns "b r w " for a list of widgets, or the code.
std::string Listed(SearchPlane& plane, absl::string_view base, absl::string_view query) {
  const RawResponse answer = plane.Get(absl::StrCat(base, kWidgetsPath, query));
  if (answer.code != 200) return absl::StrCat(answer.code);
  std::string out;
  const json::Value list = json::Parse(answer.body).value_or(json::Value());
  for (const json::Value& item : list["items"].items()) {
    absl::StrAppend(&out, item.Get({"metadata", "name"}).AsString(), " ");
  }
  return out;
}

TEST_CASE("custom kinds have their own columns, selectable fields and any order") {
  SearchPlane plane;
  for (const char* cluster : {"karmada", "member1", "member2"}) {
    plane.Create(plane.cluster(cluster), kDefinitions, kDefinition);
    REQUIRE(Eventually([&] { return plane.cluster(cluster).List(kWidgets, "", {}, {}).ok(); }));
  }
  PutWidget(plane, "member1", "r", "red");
  PutWidget(plane, "member1", "w", "white");
  PutWidget(plane, "member2", "b", "blue");
  plane.Create(plane.search(), api::ResourceRegistryResource(), R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: widgets}
spec: {targetCluster: {}, resourceSelectors: [{apiVersion: example.com/v1, kind: Widget}]}
)");
  REQUIRE(Eventually([&] { return Listed(plane, kViewPath, "") == "r w b "; }));
  const std::string red = "?fieldSelector=spec.color%3Dred";
  CHECK(Eventually([&] { return Listed(plane, kViewPath, red) == "r "; }));
  CHECK(Listed(plane, kProxyPath, red) == "r ");
  CHECK(Listed(plane, kViewPath, "?fieldSelector=spec.size%3D1") == "400");
  CHECK(Listed(plane, kViewPath, "?sort=spec.color") == "b r w ");
  CHECK(Listed(plane, kViewPath, "?sort=-metadata.name&limit=1") == "w ");
  const RawResponse table = plane.GetAs(plane.ClientCertificate("admin", "system:masters"),
                                        "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n",
                                        absl::StrCat(kProxyPath, kWidgetsPath));
  CHECK(absl::StrContains(table.body, R"("cells":["b","member2","blue"])"));
}

}  // namespace
}  // namespace tests
