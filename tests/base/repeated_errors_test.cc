#include "base/repeated_errors.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace {

const base::SteadyTime kStart = base::SteadyTime::At(absl::Hours(1));

TEST_CASE("the first error of a kind is logged, those like it are counted") {
  base::RepeatedErrors errors;
  CHECK(errors.Note("refused", kStart).log);
  CHECK(errors.Note("refused", kStart).More().empty());
  for (int i = 1; i <= 36; ++i) CHECK_FALSE(errors.Note("refused", kStart + absl::Seconds(i)).log);
  CHECK(errors.Note("gone", kStart).log);

  const auto next = errors.Note("refused", kStart + absl::Minutes(5));
  CHECK(next.log);
  CHECK(next.More() == "37 more like it in 5m");
  CHECK_FALSE(errors.Note("refused", kStart + absl::Minutes(6)).log);
  CHECK(errors.Note("refused", kStart + absl::Minutes(12)).More() == "1 more like it in 7m");
}

TEST_CASE("many different errors share one count, so that neither log nor memory grow") {
  base::RepeatedErrors errors;
  int logged = 0;
  for (int i = 0; i < 1000; ++i) logged += errors.Note(absl::StrCat("e", i), kStart).log ? 1 : 0;
  CHECK(logged == base::RepeatedErrors::kKindsPerPeriod + 1);
  const auto later = errors.Note("e999", kStart + absl::Minutes(5));
  CHECK(later.log);
}

TEST_CASE("messages about different objects are of one kind") {
  CHECK(base::KindOfMessage("works \"web-1\" is forbidden: 10.0.0.12", "web-1") ==
        base::KindOfMessage("works \"db\" is forbidden: 10.0.0.7", "db"));
  CHECK(base::KindOfMessage("no", "") == "no");
}

}  // namespace
