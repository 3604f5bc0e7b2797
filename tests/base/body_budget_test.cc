// Which body has to make room for others.
#include "base/internal/body_budget.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/fake_clock.h"

namespace {

using base::internal::BodyBudget;

struct Fixture {
  tests::FakeClock clock;
  BodyBudget budget{{.bytes = 1000, .time = absl::Seconds(10), .least = absl::Seconds(2)}, clock};
  std::string cut;  // The owners of the bodies that have lost their places.

  BodyBudget::PlacePtr Take(const std::string& owner, size_t bytes, bool privileged = false) {
    return budget.Take({.bytes = bytes, .owner = owner, .privileged = privileged, .cut = [=, this] {
                          cut += owner;
                        }});
  }
};

TEST_CASE("a body that will not have come in time loses its place when another one needs it") {
  Fixture f;
  const auto slow = f.Take("a", 400), quick = f.Take("b", 200);
  f.clock.Advance(absl::Seconds(1));
  CHECK(f.Take("c", 500) == nullptr);
  f.clock.Advance(absl::Seconds(1));
  slow->NoteReceived(79);
  quick->NoteReceived(40);
  const auto other = f.Take("c", 500);
  CHECK(other != nullptr);
  CHECK(f.cut == "a");
  // It counts no more, and nobody loses his place without need.
  CHECK(f.Take("d", 200) != nullptr);
  CHECK(f.cut == "a");
}

TEST_CASE("a body that has come keeps its place") {
  Fixture f;
  const auto come = f.Take("a", 500);
  come->NoteComplete();
  f.clock.Advance(absl::Minutes(1));
  CHECK(f.Take("b", 600) == nullptr);
  CHECK(f.cut.empty());
}

TEST_CASE("bodies of privileged senders have as much room again") {
  Fixture f;
  const auto a = f.Take("a", 500), b = f.Take("b", 250), all = f.Take("", 250);
  CHECK(f.Take("", 1) == nullptr);
  const auto first = f.Take("", 1000, true);
  CHECK(first != nullptr);
  CHECK(f.Take("", 1, true) == nullptr);
}

}  // namespace
