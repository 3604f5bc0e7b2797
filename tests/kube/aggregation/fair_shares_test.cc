// What one user leaves to the others.
#include <catch2/catch.hpp>
#include <memory>
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

struct SentFixture {
  static constexpr int kMost = 4;
  tests::FakeClock clock;
  std::string cut;  // The owners of those that have been cut.
  const std::shared_ptr<SentAnswers> answers = std::make_shared<SentAnswers>(kMost, clock);
  std::vector<std::shared_ptr<const void>> sent;
  void Add(const std::string& owner) {
    sent.push_back(answers->Add(owner, [this, owner](base::HttpResponse) { cut += owner; }));
  }
};

TEST_CASE_METHOD(SentFixture,
                 "answers that are sent: the oldest of whoever has the most ends for a new one") {
  Add("a");
  for (int i = 0; i < 3; ++i) Add("b");
  clock.Advance(SentAnswers::kLeast);
  Add("c");
  CHECK(cut == "b");
  Add("b");
  CHECK(cut == "bb");
}

TEST_CASE_METHOD(SentFixture, "answers that are sent: one that has not had its time stays") {
  for (int i = 0; i < kMost; ++i) Add("a");
  clock.Advance(SentAnswers::kLeast - absl::Milliseconds(1));
  Add("b");
  CHECK(cut.empty());
  clock.Advance(absl::Milliseconds(1));
  Add("b");
  CHECK(cut == "a");
}

TEST_CASE_METHOD(SentFixture,
                 "answers that are sent: of four times as many one ends, however young it is") {
  for (int i = 0; i < 4 * kMost; ++i) Add(i == 0 ? "a" : "b");
  CHECK(cut.empty());
  Add("c");
  CHECK(cut == "b");
  Add("c");
  CHECK(cut == "bb");
}

}  // namespace
}  // namespace kube::aggregation
