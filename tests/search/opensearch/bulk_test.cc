#include "search/opensearch/bulk.h"

#include <catch2/catch.hpp>

namespace tests {
namespace {

using search::WriteOutcome;

TEST_CASE("A bulk request has a line for each action and document") {
  search::BulkRequest request;
  request.Add({.index = "i", .id = "m/u", .version = 7, .document = R"({"a":1})"});
  request.Add({.index = "i", .id = "m/v", .version = 8, .also_equal = true, .document = "{}"});
  request.Add({.index = "i", .id = "m/w", .version = 9});
  CHECK(request.size() == 3);
  CHECK(request.body() ==
        R"({"index":{"_id":"m/u","_index":"i","version":7,"version_type":"external"}})"
        "\n"
        R"({"a":1})"
        "\n"
        R"({"index":{"_id":"m/v","_index":"i","version":8,"version_type":"external_gte"}})"
        "\n{}\n"
        R"({"delete":{"_id":"m/w","_index":"i","version":9,"version_type":"external_gte"}})"
        "\n");
}

TEST_CASE("Each result of a bulk answer is done, a conflict, to be tried again or refused") {
  struct Case {
    const char* result;
    WriteOutcome outcome;
  };
  const Case cases[] = {
      {R"({"index":{"status":201}})", WriteOutcome::kDone},
      {R"({"delete":{"status":404}})", WriteOutcome::kDone},
      {R"({"index":{"status":409,"error":{"type":"version_conflict_engine_exception"}}})",
       WriteOutcome::kConflict},
      {R"({"index":{"status":429,"error":{"type":"rejected_execution_exception"}}})",
       WriteOutcome::kRetry},
      {R"({"index":{"status":503,"error":{"type":"unavailable_shards_exception"}}})",
       WriteOutcome::kRetry},
      {R"({"index":{"status":403,"error":{"type":"cluster_block_exception"}}})",
       WriteOutcome::kRetry},
      {R"({"index":{"status":404,"error":{"type":"index_not_found_exception"}}})",
       WriteOutcome::kRetry},
      {R"({"index":{"status":400,"error":{"type":"mapper_parsing_exception"}}})",
       WriteOutcome::kRefused},
  };
  for (const Case& c : cases) {
    INFO(c.result);
    const auto results = search::ReadBulkAnswer(
        json::Value::Object({{"items", json::Value::Array({json::Parse(c.result).value()})}}), 1);
    REQUIRE(results.ok());
    CHECK((*results)[0].outcome == c.outcome);
  }
}

TEST_CASE("A conflict names the version that the document has") {
  const auto version_of = [](absl::string_view reason) {
    json::Value item = json::Value::Object();
    item.Set({"index", "status"}, 409);
    item.Set({"index", "error", "reason"}, reason);
    const json::Value answer =
        json::Value::Object({{"items", json::Value::Array({std::move(item)})}});
    return search::ReadBulkAnswer(answer, 1).value()[0].current_version;
  };
  CHECK(version_of("[m/u]: version conflict, current version [641] is higher or equal to the one "
                   "provided [640]") == 641);
  CHECK(version_of("current version [") == -1);
  CHECK(version_of("something else") == -1);
}

TEST_CASE("The reason of a refusal has its cause, and an end") {
  json::Value answer = json::Parse(R"({"items":[{"index":{"status":400,"error":{"type":"t",
    "reason":"r","caused_by":{"reason":"c"}}}}]})")
                           .value();
  CHECK(search::ReadBulkAnswer(answer, 1).value()[0].reason == "t: r: c");
  json::Value error = json::Value::Object({{"reason", std::string(100'000, 'x')}});
  json::Value item = json::Value::Object();
  item.Set({"index", "status"}, 400);
  item.Set({"index", "error"}, error);
  answer.Set("items", json::Value::Array({item}));
  CHECK(search::ReadBulkAnswer(answer, 1).value()[0].reason.size() <= 500);
}

TEST_CASE("An answer that does not fit the request is an error") {
  for (const char* text : {"null", "[]", "{}", R"({"items":{}})", R"({"items":[]})",
                           R"({"items":[1]})", R"({"items":[{}]})", R"({"items":[{"index":{}}]})",
                           R"({"items":[{"index":{"status":200}},{"index":{"status":200}}]})"}) {
    INFO(text);
    CHECK(search::ReadBulkAnswer(json::Parse(text).value(), 1).status().code() ==
          absl::StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace tests
