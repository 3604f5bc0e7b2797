// What one user leaves to the others.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kube/aggregation/in_flight.h"
#include "kube/aggregation/sent_answers.h"
#include "tests/support/fake_clock.h"

namespace kube::aggregation {
namespace {

int Fill(InFlight& in_flight, const std::string& owner, std::vector<InFlight::Place>& places,
         int weight = 1) {
  int count = 0;
  for (; InFlight::Place place = in_flight.Enter(owner, weight); ++count) places.push_back(place);
  return count;
}

TEST_CASE("requests in flight: one user leaves as many places to the others as he has") {
  InFlight in_flight(8);
  std::vector<InFlight::Place> first, second;
  CHECK(Fill(in_flight, "first", first) == 4);
  CHECK(Fill(in_flight, "second", second) == 2);
  CHECK(in_flight.Enter("") != nullptr);
  first.clear();
  CHECK(Fill(in_flight, "second", second) == 2);
}

TEST_CASE("requests in flight: what is heavy takes several places") {
  InFlight in_flight(8);
  std::vector<InFlight::Place> first, second;
  CHECK(Fill(in_flight, "first", first, 2) == 2);
  CHECK(Fill(in_flight, "second", second, 5) == 0);
  CHECK(Fill(in_flight, "second", second) == 2);
}

TEST_CASE("answers that are sent: the oldest of whoever has the most ends for a new one") {
  tests::FakeClock clock;
  const auto answers = std::make_shared<SentAnswers>(4, clock);
  std::string cut;
  std::vector<std::shared_ptr<const void>> sent;
  const auto add = [&](const std::string& owner) {
    sent.push_back(answers->Add(owner, [&cut, owner](base::HttpResponse) { cut += owner; }));
  };
  add("a");
  for (int i = 0; i < 3; ++i) add("b");
  clock.Advance(SentAnswers::kLeast);
  add("c");
  CHECK(cut == "b");
  add("b");
  CHECK(cut == "bb");
}

}  // namespace
}  // namespace kube::aggregation
