// Columns and selectable fields of custom kinds.
#include "search/proxy/custom_kinds.h"

#include <catch2/catch.hpp>

#include "base/json_fields.h"
#include "search/proxy/read_request.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

const kube::Resource kWidgets{{"example.com", "v1", "Widget"}, "widgets", true};

kube::Object Definition() {
  return kube::Object(*json::Parse(R"({"metadata": {"name": "widgets.example.com"}, "spec": {
    "scope": "Namespaced", "versions": [
      {"name": "v1alpha1"},
      {"name": "v1", "selectableFields": [{"jsonPath": ".spec.color"}],
       "additionalPrinterColumns": [
         {"name": "Color", "type": "string", "jsonPath": ".spec.color"}]}]}})"));
}

std::string Columns(const kube::server::TablePrinter& printer) {
  std::string out;
  for (const auto& column : printer.columns()) absl::StrAppend(&out, column.name, " ");
  return out;
}

absl::StatusOr<ReadRequest> Read(const std::string& query, const std::string& value,
                                 const CustomKinds& kinds) {
  InnerRequest inner = Inner("GET", "/apis/example.com/v1/widgets");
  inner.request.query = {{query, value}};
  SetHeader(inner.request, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
  kube::aggregation::ApiRequest request;
  request.http = inner.request;
  request.info = inner.info;
  return ReadRequest::Read(request, kWidgets, "", kinds);
}

kube::EncodedPtr Widget(const std::string& color) {
  kube::Object object = kube::Object::Make(kWidgets.gvk, {"x", "w"});
  object.Set({"spec", "color"}, color);
  const std::vector<std::string> kept = {"metadata.name", "metadata.namespace"};
  return kube::EncodedObject::Make(object, json::Fields(kept));
}

TEST_CASE("tables of a custom kind have the columns of its version, and the cluster") {
  CustomKinds kinds;
  CHECK(Columns(*Read("limit", "5", kinds)->printer) == "Name Cluster Created At ");
  kinds.Set(Definition());
  CHECK(Columns(*Read("limit", "5", kinds)->printer) == "Name Cluster Color ");
  kube::Resource alpha = kWidgets;
  alpha.gvk.version = "v1alpha1";
  CHECK(Columns(*kinds.PrinterOf(alpha)) == "Name Age ");
  kube::Resource other = kWidgets;
  other.gvk.group = "example.org";
  CHECK(Columns(*kinds.PrinterOf(other)) == "Name Created At ");
  kinds.Remove("widgets.example.com");
  CHECK(Columns(*kinds.PrinterOf(kWidgets)) == "Name Created At ");
}

TEST_CASE("objects of a custom kind are selected by its declared fields") {
  CustomKinds kinds;
  CHECK(CodeOf(Read("fieldSelector", "spec.color=red", kinds).status()) == 400);
  kinds.Set(Definition());
  const auto red = Read("fieldSelector", "spec.color=red", kinds);
  REQUIRE(red.ok());
  CHECK(red->filter.Matches(*Widget("red")));
  CHECK_FALSE(red->filter.Matches(*Widget("blue")));
  CHECK(CodeOf(Read("fieldSelector", "spec.size=1", kinds).status()) == 400);
  const auto named = Read("fieldSelector", "metadata.name!=w", kinds);
  REQUIRE(named.ok());
  CHECK_FALSE(named->filter.Matches(*Widget("red")));
}

TEST_CASE("a list has an order, a watch has none") {
  const CustomKinds kinds;
  CHECK(Read("sort", "-metadata.creationTimestamp", kinds)->sort.size() == 1);
  CHECK(CodeOf(Read("sort", "-", kinds).status()) == 400);
  InnerRequest inner = Inner("GET", "/api/v1/pods?watch=1&sort=metadata.name");
  kube::aggregation::ApiRequest request;
  request.http = inner.request;
  request.info = inner.info;
  CHECK(CodeOf(ReadRequest::Read(request, kWidgets, "", kinds).status()) == 400);
}

}  // namespace
}  // namespace search
