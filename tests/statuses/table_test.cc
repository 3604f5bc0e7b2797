// Each row of tests/data/statuses/table.yaml, written to an API server.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/patch.h"
#include "tests/statuses/status_server.h"
#include "tests/statuses/table.h"

namespace tests {
namespace {

kube::Object ObjectOf(const json::Value& table, const json::Value& row) {
  kube::Object object = StatusTableObject(table, row["kind"].AsString());
  if (row.Has("spec")) object.Set({"spec"}, kube::ApplyMergePatch(object.spec(), row["spec"]));
  return object;
}

// Returns the statuses that the object has had before, in their order.
std::vector<json::Value> Before(const json::Value& row) {
  const json::Value& was = row["was"];
  if (was.is_null()) return {};
  if (!was.is_array()) return {was};
  return std::vector<json::Value>(was.items().begin(), was.items().end());
}

// Returns whether servers of a minor version of Kubernetes answer as the row says.
bool IsAbout(const json::Value& row, int64_t minor) {
  return row["since"].AsInt(minor) <= minor && minor <= row["until"].AsInt(minor);
}

// Returns what is wrong with the answer to a row; "" when it is as the row says.
std::string WrongWith(const json::Value& row, const kube::Object& object,
                      const absl::Status& answer) {
  const std::string refused = row["refused"].ToString();
  if (refused.empty()) {
    return answer.ok() ? "" : absl::StrCat("it is refused: ", answer.message());
  }
  if (answer.ok()) return "it is accepted";
  const std::string group = object.gvk().group.empty() ? "" : "." + object.gvk().group;
  const std::string wanted =
      absl::StrCat(object.gvk().kind, group, " \"", object.name(), "\" is invalid: ", refused);
  if (absl::StrContains(answer.message(), wanted)) return "";
  return absl::StrCat("the message is not\n  ", wanted, " ...\nbut\n  ", answer.message());
}

}  // namespace

TEST_CASE("statuses are accepted and refused as the table says") {
  StatusServer server;
  const json::Value table = StatusTable();
  int64_t number = 0, skipped = 0;
  for (const json::Value& row : table["rows"].items()) {
    const std::string name = absl::StrCat("row-", ++number);
    if (!IsAbout(row, server.minor())) {
      ++skipped;
      continue;
    }
    INFO(row["kind"].AsString() << ": " << row["what"].AsString() << ": "
                                << json::Write(row["becomes"]));
    kube::Object object = server.Create(name, ObjectOf(table, row));
    for (const json::Value& status : Before(row)) {
      const auto written = server.WriteStatus(object, status);
      INFO(written.status().ToString());
      REQUIRE(written.ok());
      object = *written;
    }
    const auto answer = server.WriteStatus(object, row["becomes"]);
    CHECK(WrongWith(row, object, answer.status()) == "");
    server.Delete(object);
  }
  WARN(number - skipped << " statuses were written to a server of version 1." << server.minor()
                        << ", " << skipped << " rows are about others");
  CHECK(number > 100);
}

}  // namespace tests
