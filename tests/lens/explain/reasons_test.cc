// The rows of docs/events.md, and what finds them.
#include "lens/explain/reasons.h"

#include <catch2/catch.hpp>

#include "lens/explain/page.h"

using lens::explain::Find;
using lens::explain::Reason;
using lens::explain::ReasonsOf;

namespace {

constexpr char kPage[] = R"(# Events

| event | why |
|---|---|
| `Other` | no reason |

## Works

| type | reason | from | when | means | what to do |
|---|---|---|---|---|---|
| Warning | `SyncFailed` | `execution-controller` | failure | it failed; see [Clusters](#clusters) | read [more](more.md#x) |
| Normal | `Done` (ours) | `a`, `b` | each | a \| b | nothing |

## Clusters

| condition | reason | from | means | what to do |
|---|---|---|---|---|
| `Ready` True | `ClusterReady` | `c` | it is | nothing |
| `Ready` False | `ClusterNotReady` | `c` | it is not | look |
)";

}  // namespace

TEST_CASE("Explain: rows have their heading and columns, without Markdown") {
  const std::vector<Reason> rows = ReasonsOf(kPage);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].about == "Works");
  CHECK(rows[0].type == "Warning");
  CHECK(rows[0].reason == "SyncFailed");
  CHECK(rows[0].from == "execution-controller");
  CHECK(rows[0].means == "it failed; see Clusters");
  CHECK(rows[0].what_to_do == "read more (more.md#x)");
  CHECK_FALSE(rows[0].is_own);
  CHECK(rows[1].reason == "Done");
  CHECK(rows[1].is_own);
  CHECK(rows[1].means == "a | b");
  CHECK(rows[2].about == "Clusters");
  CHECK(rows[2].condition == "Ready True");
  CHECK(rows[2].when.empty());
}

TEST_CASE("Explain: a reason is found alone, in any case, and in a line") {
  const std::vector<Reason> rows = ReasonsOf(kPage);
  for (const char* text : {"SyncFailed", "syncfailed", "reason=SyncFailed",
                           "2m   Warning   SyncFailed   work/web   cannot be done"}) {
    INFO(text);
    const auto found = Find(rows, text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].reason == "SyncFailed");
  }
  CHECK(Find(rows, "Done").size() == 1);
  // An ordinary word in a line is no reason.
  CHECK(Find(rows, "the work was done by somebody").empty());
}

TEST_CASE("Explain: a condition is found with all its reasons, or those of a status") {
  const std::vector<Reason> rows = ReasonsOf(kPage);
  CHECK(Find(rows, "Ready").size() == 2);
  const auto not_ready = Find(rows, "Ready=False");
  REQUIRE(not_ready.size() == 1);
  CHECK(not_ready[0].reason == "ClusterNotReady");
}

TEST_CASE("Explain: a misspelt reason has a suggestion") {
  CHECK(lens::explain::Suggestion(ReasonsOf(kPage), "SyncFaild") == "; did you mean SyncFailed?");
}

TEST_CASE("Explain: the page that is compiled in has rows that say what to do") {
  const std::vector<Reason> rows = ReasonsOf(lens::explain::EventsPage());
  CHECK(rows.size() > 150);
  for (const Reason& row : rows) {
    INFO(row.reason);
    CHECK_FALSE(row.reason.empty());
    CHECK_FALSE(row.about.empty());
    CHECK_FALSE(row.means.empty());
    CHECK_FALSE(row.what_to_do.empty());
    CHECK(row.type.empty() != row.condition.empty());
  }
  CHECK_FALSE(Find(rows, "SyncFailed").empty());
  CHECK_FALSE(Find(rows, "FullyApplied").empty());
}
