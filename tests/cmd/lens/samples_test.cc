// The samples of the repository are what new users try first.
#include <catch2/catch.hpp>

#include "tests/cmd/lens/tool.h"

namespace tests {

TEST_CASE("Lens: all samples can be planned and drawn") {
  for (const char* command : {"plan", "graph"}) {
    const Ran ran = RunLens({command, "-R", "-f", "config/samples"});
    INFO(command << ": " << ran.err);
    CHECK((ran.code == 0 || ran.code == 2));
    CHECK_FALSE(ran.out.empty());
  }
}

TEST_CASE("Lens: a Job whose selector the server generates arrives") {
  const Ran ran = RunLens(
      {"plan", "-f", "config/samples/job.yaml", "-f", "config/samples/propagationpolicy-job.yaml"});
  INFO(ran.err);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Catch::Contains("Job default/pi") && Catch::Contains("create"));
  // The base is applied over itself.
  const Ran same =
      RunLens({"plan", "-f", "config/samples/job.yaml", "--base", "config/samples/job.yaml"});
  INFO(same.err);
  CHECK(same.code == 0);
}

}  // namespace tests
