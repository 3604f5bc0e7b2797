// Printer paths and the ages in tables.
#include <catch2/catch.hpp>

#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/tables/table_output.h"

namespace sandbox {
namespace {

TEST_CASE("the columns of a definition show what their paths find, and nothing where they fail") {
  ResourceInfo info;
  info.custom = true;
  info.columns = {{.name = "N", .type = "integer", .json_path = ".spec.list[-1].n"},
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
  const TablePrinter::Cells cells = PrinterOf(info)->Row(object, absl::UnixEpoch());
  CHECK(cells ==
        TablePrinter::Cells{"x", 2, "1 2", "dotted", "True", json::Value(), json::Value()});
}

TEST_CASE("a table begins with the name, but for events, which end with it") {
  ResourceInfo info;
  info.resource = {{"", "v1", "ConfigMap"}, "configmaps", true};
  CHECK(PrinterOf(info)->columns().front().name == "Name");
  info.resource = {{"", "v1", "Event"}, "events", true};
  const auto events = PrinterOf(info);
  CHECK(events->columns().front().name == "Last Seen");
  CHECK(events->columns().back().name == "Name");
  const kube::Object event = kube::Object::Make(info.resource.gvk, {"default", "e"});
  CHECK(events->Row(event, absl::UnixEpoch()).size() == events->columns().size());
}

TEST_CASE("the row of an event has what `kubectl get events` shows, for both APIs") {
  const absl::Time now = *kube::ParseTime("2024-01-01T00:10:00Z");
  const auto row = [&](const char* group, const char* text) {
    ResourceInfo info;
    info.resource = {{group, "v1", "Event"}, "events", true};
    return PrinterOf(info)->Row(kube::Object(*json::Parse(text)), now);
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

}  // namespace
}  // namespace sandbox
