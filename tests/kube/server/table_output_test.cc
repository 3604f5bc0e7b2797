// Printer paths and the ages in tables.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/api_errors.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

TEST_CASE("the columns of a definition show what their paths find, and nothing where they fail") {
  const std::vector<PrinterColumn> columns = {
      {.name = "N", .type = "integer", .json_path = ".spec.list[-1].n"},
      {.name = "All", .type = "string", .json_path = ".spec.list[*].n"},
      {.name = "Dotted", .type = "string", .json_path = ".spec.a\\.b"},
      {.name = "Ready",
       .type = "string",
       .json_path = ".status.conditions[?(@.type==\"Ready\")].status"},
      {.name = "Missing", .type = "string", .json_path = ".spec.missing.deeper"},
      {.name = "NoList", .type = "string", .json_path = ".spec.a\\.b[0]"}};
  const kube::Object object(*json::Parse(R"({"metadata":{"name":"x"},
      "spec":{"a.b":"dotted","list":[{"n":1},{"n":2}]},
      "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other","status":"False"}]}})"));
  const TablePrinter::Cells cells = PrinterOf(columns)->Row(object, absl::UnixEpoch());
  CHECK(cells == TablePrinter::Cells{"x", 2, "1", "dotted", "True", json::Value(), json::Value()});
}

TEST_CASE("a table begins with the name, but for events, which end with it") {
  CHECK(PrinterOf(kube::Gvk{"", "v1", "ConfigMap"})->columns().front().name == "Name");
  const kube::Gvk kind{"", "v1", "Event"};
  const auto events = PrinterOf(kind);
  CHECK(events->columns().front().name == "Last Seen");
  CHECK(events->columns().back().name == "Name");
  const kube::Object event = kube::Object::Make(kind, {"default", "e"});
  CHECK(events->Row(event, absl::UnixEpoch()).size() == events->columns().size());
}

TEST_CASE("the row of an event has what `kubectl get events` shows, for both APIs") {
  const absl::Time now = *kube::ParseTime("2024-01-01T00:10:00Z");
  const auto row = [&](const char* group, const char* text) {
    return PrinterOf(kube::Gvk{group, "v1", "Event"})->Row(kube::Object(*json::Parse(text)), now);
  };
  CHECK(row("", R"({"metadata": {"name": "web.17"}, "type": "Warning", "reason": "BackOff",
                    "message": "no image", "count": 7,
                    "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.containers"},
                    "source": {"component": "kubelet", "host": "node1"},
                    "firstTimestamp": "2024-01-01T00:00:00Z",
                    "lastTimestamp": "2024-01-01T00:09:30Z"})") ==
        TablePrinter::Cells{"30s", "Warning", "BackOff", "pod/web", "spec.containers",
                            "kubelet, node1", "no image", "10m", "7", "web.17"});
  CHECK(row("events.k8s.io",
            R"({"metadata": {"name": "web.18"}, "type": "Normal", "reason": "SyncSucceed",
                "note": "done", "eventTime": "2024-01-01T00:05:00.000000Z",
                "series": {"count": 3, "lastObservedTime": "2024-01-01T00:09:00.000000Z"},
                "regarding": {"kind": "ReplicaSet", "name": "web"},
                "reportingComponent": "controller"})") ==
        TablePrinter::Cells{"60s", "Normal", "SyncSucceed", "replicaset/web", "", "controller",
                            "done", "5m", "3", "web.18"});
}

TEST_CASE("an autoscaler shows what was measured beside what is wanted, for each type of metric") {
  const auto targets = [](const std::string& metrics, const std::string& current) {
    const kube::Object object(*json::Parse(R"({"metadata":{"name":"h"},"spec":{"metrics":[)" +
                                           metrics + R"(]},"status":{"currentMetrics":[)" +
                                           current + "]}}"));
    const kube::Gvk kind{"autoscaling", "v2", "HorizontalPodAutoscaler"};
    return PrinterOf(kind)->Row(object, absl::UnixEpoch())[2].ToString();
  };
  struct Case {
    const char *type, *field, *target, *current, *unknown, *known;
  };
  const Case cases[] = {
      {"Resource", "resource", R"("averageUtilization":60)", R"("averageUtilization":72)",
       "x: <unknown>/60%", "x: 72%/60%"},
      {"Resource", "resource", R"("averageValue":"1024Mi")", R"("averageValue":"1500m")",
       "x: <unknown>/1Gi", "x: 1500m/1Gi"},
      {"Resource", "resource", R"("averageValue":"100m")", "", "x: <unknown>/100m",
       "x: <nil>/100m"},
      {"Resource", "resource", "", R"("averageUtilization":72)", "x: <unknown>/<auto>",
       "x: 72%/<auto>"},
      {"ContainerResource", "containerResource", R"("averageUtilization":60)",
       R"("averageUtilization":0)", "x: <unknown>/60%", "x: 0%/60%"},
      {"ContainerResource", "containerResource", R"("averageValue":"100m")",
       R"("averageValue":"50m")", "x: <unknown>/100m", "x: 50m/100m"},
      {"Pods", "pods", R"("averageValue":"100")", R"("averageValue":"50")", "<unknown>/100",
       "50/100"},
      {"Object", "object", R"("value":"100")", R"("value":"50")", "<unknown>/100", "50/100"},
      {"Object", "object", R"("averageValue":"100")", R"("averageValue":"50")",
       "<unknown>/100 (avg)", "50/100 (avg)"},
      {"External", "external", R"("value":"100")", R"("value":"50")", "<unknown>/100", "50/100"},
      {"External", "external", R"("averageValue":"100")", R"("value":"50")", "<unknown>/100 (avg)",
       "<unknown>/100 (avg)"},
      {"External", "external", R"("averageValue":"100")", R"("averageValue":"50")",
       "<unknown>/100 (avg)", "50/100 (avg)"}};
  for (const Case& c : cases) {
    INFO(c.type << " " << c.target);
    const auto metric = [&](const char* part, const char* value) {
      return absl::StrCat(R"({"type":")", c.type, R"(",")", c.field, R"(":{"name":"x",")", part,
                          R"(":{)", value, "}}}");
    };
    const std::string spec = metric("target", c.target), status = metric("current", c.current);
    CHECK(targets(spec, "") == c.unknown);
    CHECK(targets(spec, R"({"type":"Other"})") == c.unknown);
    CHECK(targets(spec, status) == c.known);
  }
  CHECK(targets("", "") == "<none>");
  const std::string other = R"({"type":"Other"})";
  CHECK(targets(other, "") == "<unknown type>");
  CHECK(targets(other + "," + other, "") == "<unknown type>, <unknown type>");
  CHECK(targets(other + "," + other + "," + other, "") ==
        "<unknown type>, <unknown type> + 1 more...");
}

TEST_CASE("ages are written as kubectl writes them") {
  struct Case {
    absl::Duration d;
    const char* text;
  };
  const Case cases[] = {{absl::Seconds(5), "5s"},
                        {absl::Seconds(119), "119s"},
                        {absl::Seconds(125), "2m5s"},
                        {absl::Minutes(9), "9m"},
                        {absl::Minutes(10) + absl::Seconds(5), "10m"},
                        {absl::Minutes(179), "179m"},
                        {absl::Hours(3) + absl::Minutes(4), "3h4m"},
                        {absl::Hours(12), "12h"},
                        {absl::Hours(49), "2d1h"},
                        {absl::Hours(24 * 30), "30d"},
                        {absl::Hours(24 * 800), "2y70d"}};
  for (const Case& c : cases) CHECK(HumanDuration(c.d) == c.text);
}

TEST_CASE("a column shows from which cluster an object is, after its name") {
  const auto printer = WithAnnotationColumn(PrinterOf(kube::Gvk{"", "v1", "ConfigMap"}),
                                            {"Cluster", "string"}, "example.io/from");
  const kube::Object object(*json::Parse(R"({"metadata": {"name": "x",
      "annotations": {"example.io/from": "member1"}}, "data": {"a": "b"}})"));
  REQUIRE(printer->columns().size() == 4);
  CHECK(printer->columns()[1].name == "Cluster");
  const auto cells = printer->Row(object, absl::UnixEpoch());
  REQUIRE(cells.size() == 4);
  CHECK(cells[1].AsString() == "member1");
  CHECK(cells[2].AsInt() == 1);
  const auto events =
      WithAnnotationColumn(PrinterOf(kube::Gvk{"", "v1", "Event"}), {"Cluster"}, "example.io/from");
  CHECK(events->columns()[0].name == "Cluster");
}

TEST_CASE("what rows include is checked only for tables") {
  base::HttpRequest request;
  request.query = {{"includeObject", "Bad"}};
  AnswerForm table;
  table.kind = AnswerForm::Kind::kTable;
  CHECK(ErrorOf(IncludeOf(request, table).status()).message ==
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Bad\": must be "
        "'Metadata', 'Object', 'None', or empty");
  CHECK(IncludeOf(request, {}).ok());
  request.query = {{"includeObject", "Object"}};
  CHECK(*IncludeOf(request, table) == IncludeObject::kObject);
}

TEST_CASE("cells of custom kinds are typed as kube-apiserver types them") {
  const kube::Object object(*json::Parse(R"({"metadata": {"name": "x"},
      "spec": {"n": 1.5, "flag": true, "map": {"a": 1}, "when": "soon", "text": "t"}})"));
  struct Case {
    const char *type, *path;
    json::Value cell;
  };
  const Case cases[] = {{"integer", ".spec.n", 1},
                        {"integer", ".spec.text", nullptr},
                        {"number", ".spec.n", 1.5},
                        {"boolean", ".spec.flag", true},
                        {"boolean", ".spec.text", nullptr},
                        {"string", ".spec.flag", "true"},
                        {"string", ".spec.map", "{\"a\":1}"},
                        {"date", ".spec.when", "<invalid>"},
                        {"date", ".spec.flag", nullptr},
                        {"date", ".spec.missing", nullptr}};
  for (const Case& c : cases) {
    INFO(c.type << " " << c.path);
    const auto printer =
        PrinterOf(std::vector<PrinterColumn>{{.name = "C", .type = c.type, .json_path = c.path}});
    CHECK(printer->Row(object, absl::UnixEpoch())[1] == c.cell);
    CHECK(printer->columns()[1].description ==
          std::string("Custom resource definition column (in JSONPath format): ") + c.path);
  }
}

}  // namespace
}  // namespace kube::server
