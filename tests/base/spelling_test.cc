#include "base/spelling.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> kNames = {"binding", "bindingStatus", "execution", "workStatus"};

TEST_CASE("the nearest name is found in any case, with letters missing, added or changed") {
  CHECK(base::NearestName("Binding", kNames) == 0);
  CHECK(base::NearestName("bindingstatus", kNames) == 1);
  CHECK(base::NearestName("exection", kNames) == 2);
  CHECK(base::NearestName("executoin", kNames) == 2);
  CHECK(base::NearestName("workStatuss", kNames) == 3);
}

TEST_CASE("a name that resembles none gets no suggestion") {
  CHECK(base::NearestName("hpa", kNames) == std::nullopt);
  CHECK(base::NearestName("schedulerEstimator", kNames) == std::nullopt);
  CHECK(base::NearestName("any", {}) == std::nullopt);
}

TEST_CASE("a name of megabytes is not compared letter by letter") {
  // That would take minutes.
  const std::vector<std::string> names(5000, "PersistentVolumeClaim");
  CHECK(base::NearestName(std::string(10'000'000, 'x'), names) == std::nullopt);
  CHECK(base::NearestName(std::string(600, 'x'), {std::string(500, 'x')}) == 0);
}

TEST_CASE("a suggestion ends a sentence, and is left out when there is none") {
  CHECK(base::DidYouMean("exection", kNames) == "; did you mean execution?");
  CHECK(base::DidYouMean("hpa", kNames).empty());
}

}  // namespace
