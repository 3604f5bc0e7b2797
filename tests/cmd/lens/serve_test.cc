// The command line of `karmada-lens serve`: who may look is decided before anything is served.
#include <catch2/catch.hpp>

#include "tests/cmd/lens/tool.h"
#include "tests/support/temp_directory.h"

using Catch::Contains;
using tests::Ran;
using tests::RunLens;

TEST_CASE("Lens serve: without TLS it listens on this machine alone") {
  for (const char* address :
       {":8090", "0.0.0.0:8090", "10.0.0.1:8090", "[::]:8090", "fleet.example:8090"}) {
    const Ran ran = RunLens({"serve", "--listen", address});
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Contains("is not the loopback address") && Contains("--tls-cert-file"));
  }
}

TEST_CASE("Lens serve: a certificate needs its key, and a kubeconfig has to be one") {
  const tests::TempDirectory directory;
  const std::string file = directory.Write("empty", "");
  CHECK_THAT(RunLens({"serve", "--tls-cert-file", file}).err, Contains("go together"));
  CHECK_THAT(RunLens({"serve", "--tls-cert-file", file, "--tls-private-key-file", file}).err,
             Contains("--tls-cert-file"));
  CHECK_THAT(RunLens({"serve", "--kubeconfig", file}).err, Contains("--kubeconfig"));
  CHECK_THAT(RunLens({"serve", "--feature-gates", "Nonsense=maybe"}).err, Contains("Nonsense"));
}
