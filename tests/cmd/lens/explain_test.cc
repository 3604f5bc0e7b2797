// The command line of `karmada-lens explain`.
#include <catch2/catch.hpp>

#include "base/json.h"
#include "tests/cmd/lens/tool.h"

using Catch::Contains;
using tests::Ran;
using tests::RunLens;

TEST_CASE("Lens: explain prints what a reason means and what to do") {
  const Ran ran = RunLens({"explain", "ClusterNotReachable"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("ClusterNotReachable (Warning event, Clusters)") &&
                          Contains("ClusterNotReachable (condition Ready False, Clusters)") &&
                          Contains("\nwhat to do: "));
  const Ran line = RunLens({"explain", "5m", "Warning", "SyncFailed", "work/web", "no"});
  CHECK(line.code == 0);
  CHECK_THAT(line.out, Contains("SyncFailed (Warning event, Works)"));
}

TEST_CASE("Lens: what explain does not know ends with 2, with a suggestion") {
  const Ran ran = RunLens({"explain", "SyncFaild"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("did you mean SyncFailed?"));
  CHECK(RunLens({"explain"}).code == 1);
}

TEST_CASE("Lens: explain lists all reasons, and has JSON") {
  CHECK_THAT(RunLens({"explain", "--list"}).out, Contains("\nSyncFailed\n"));
  const json::Value answer =
      json::Parse(RunLens({"explain", "SyncFailed", "-o", "json"}).out).value();
  CHECK(answer.At(0)["reason"].AsString() == "SyncFailed");
  CHECK_FALSE(answer.At(0)["whatToDo"].AsString().empty());
}
