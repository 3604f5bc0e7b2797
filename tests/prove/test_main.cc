// The main of the harness's own tests, which run in simulated time.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/prove/time/time_driver.h"

int main(int argc, char** argv) {
  prove::TimeDriver::Begin(argv);
  return Catch::Session().run(argc, argv);
}
