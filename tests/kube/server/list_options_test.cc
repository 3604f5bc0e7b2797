// The parameters of lists and watches.
#include <catch2/catch.hpp>

#include "kube/server/api_errors.h"
#include "kube/server/list_options.h"

namespace kube::server {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

absl::StatusOr<ListOptions> Read(Query query, const ListOptions::Rules& rules = {}) {
  base::HttpRequest request;
  request.query = std::move(query);
  return ListOptions::Read(request, rules);
}

// Returns "<code> <message>" of a refusal.
std::string Refusal(Query query, const ListOptions::Rules& rules = {}) {
  const auto options = Read(std::move(query), rules);
  if (options.ok()) return "accepted";
  const ApiError error = ErrorOf(options.status());
  return std::to_string(error.code) + " " + error.message;
}

TEST_CASE("parameters of a list are decoded") {
  const auto options = Read({{"labelSelector", "app=web"},
                             {"fieldSelector", "metadata.name=a"},
                             {"limit", "500"},
                             {"continue", "token"},
                             {"timeoutSeconds", "7"},
                             {"resourceVersion", ""}});
  REQUIRE(options.ok());
  CHECK(options->labels.ToString() == "app=web");
  CHECK(options->fields.ToString() == "metadata.name=a");
  CHECK(options->limit == 500);
  CHECK(options->continue_token == "token");
  CHECK(options->timeout == absl::Seconds(7));
  CHECK_FALSE(options->watch);
  CHECK_FALSE(options->send_initial_events.has_value());
  const auto exact = Read({{"resourceVersion", "5"}, {"resourceVersionMatch", "Exact"}});
  REQUIRE(exact.ok());
  CHECK(exact->resource_version_match == ListOptions::Match::kExact);
}

TEST_CASE("a watch from any version begins with the objects that there are") {
  for (const char* version : {"", "0"}) {
    const auto options = Read({{"watch", "1"}, {"resourceVersion", version}});
    REQUIRE(options.ok());
    CHECK(options->send_initial_events == true);
    CHECK(options->initial_events_by_default);
    CHECK(options->resource_version_match == ListOptions::Match::kNotOlderThan);
  }
  const auto later = Read({{"watch", "1"}, {"resourceVersion", "7"}});
  REQUIRE(later.ok());
  CHECK_FALSE(later->send_initial_events.has_value());
  const auto asked = Read({{"watch", "1"},
                           {"resourceVersion", "7"},
                           {"sendInitialEvents", ""},
                           {"resourceVersionMatch", "NotOlderThan"}});
  REQUIRE(asked.ok());
  CHECK(asked->send_initial_events == true);
  CHECK_FALSE(asked->initial_events_by_default);
  const auto path = Read({}, {.watch = true, .watch_list = false});
  REQUIRE(path.ok());
  CHECK(path->watch);
  CHECK_FALSE(path->send_initial_events.has_value());
}

TEST_CASE("parameters that cannot be decoded are 400") {
  CHECK(Refusal({{"limit", "many"}}) == "400 strconv.ParseInt: parsing \"many\": invalid syntax");
  CHECK(Refusal({{"timeoutSeconds", "99999999999999999999"}}) ==
        "400 strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
  CHECK(Refusal({{"limit", ""}}) == "400 strconv.ParseInt: parsing \"\": invalid syntax");
  CHECK(Refusal({{"limit", " 5"}}) == "400 strconv.ParseInt: parsing \" 5\": invalid syntax");
  CHECK(Refusal({{"labelSelector", "a=(("}}).substr(0, 32) == "400 unable to parse requirement:");
  CHECK(Refusal({{"fieldSelector", "a"}}) == "400 invalid selector: 'a'; can't understand 'a'");
}

TEST_CASE("parameters that do not fit together are 422 with the API server's words") {
  const std::string head = "422 ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::string match = head + "resourceVersionMatch: ";
  CHECK(Refusal({{"resourceVersionMatch", "Exact"}}) ==
        match + "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
  CHECK(Refusal({{"resourceVersionMatch", "Exact"}, {"resourceVersion", "0"}}) ==
        match + "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  CHECK(Refusal({{"resourceVersionMatch", "Newest"}, {"resourceVersion", "1"}}) ==
        match +
            "Unsupported value: \"Newest\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
  CHECK(Refusal({{"resourceVersionMatch", "NotOlderThan"},
                 {"resourceVersion", "1"},
                 {"continue", "x"}}) ==
        match + "Forbidden: resourceVersionMatch is forbidden when continue is provided");
  CHECK(Refusal({{"sendInitialEvents", "true"}}) ==
        head + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  CHECK(Refusal({{"watch", "1"}, {"sendInitialEvents", "false"}}) ==
        match +
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  CHECK(Refusal({{"watch", "1"}, {"resourceVersionMatch", "NotOlderThan"}}) ==
        match +
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
            "provided");
  CHECK(
      Refusal(
          {{"watch", "1"}, {"sendInitialEvents", "true"}, {"resourceVersionMatch", "NotOlderThan"}},
          {.watch_list = false}) ==
      head +
          "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the "
          "WatchList feature gate is enabled");
  const auto several = Read({{"watch", "1"}, {"resourceVersionMatch", "Exact"}});
  CHECK(ErrorOf(several.status()).details["causes"].size() == 2);
  CHECK(ErrorOf(several.status()).details["kind"].AsString() == "ListOptions");
}

}  // namespace
}  // namespace kube::server
