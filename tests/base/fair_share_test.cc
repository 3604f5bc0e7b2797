// Who may have how much of what all use together.
#include "base/fair_share.h"

#include <catch2/catch.hpp>
#include <vector>

namespace {

using base::FairShare;

// Takes one at a time until that is refused; returns how many there were.
int TakeAll(FairShare& whole, const char* owner, std::vector<FairShare::Taken>& taken) {
  int count = 0;
  for (; FairShare::Taken one = whole.Take(owner, 1); ++count) taken.push_back(std::move(one));
  return count;
}

TEST_CASE("an owner gets what he leaves to the others") {
  FairShare whole(400);
  std::vector<FairShare::Taken> first, second, third;
  CHECK(TakeAll(whole, "first", first) == 200);
  CHECK(TakeAll(whole, "second", second) == 100);
  CHECK(TakeAll(whole, "third", third) == 50);
  first.clear();
  CHECK(whole.used() == 150);
  CHECK(TakeAll(whole, "third", third) == 100);
}

TEST_CASE("who is nobody in particular gets all there is, and no more") {
  FairShare whole(10);
  std::vector<FairShare::Taken> some, rest;
  CHECK(TakeAll(whole, "somebody", some) == 5);
  CHECK(TakeAll(whole, base::kNoOwner, rest) == 5);
  CHECK(whole.Take(base::kNoOwner, 1) == nullptr);
}

TEST_CASE("no share keeps out who has none, and what he takes counts") {
  base::Shares shares;
  CHECK(base::HasShare("somebody"));
  CHECK_FALSE(base::HasShare(base::kNoOwner));
  shares.Add(base::kNoOwner, 9);
  CHECK(shares.Allows(base::kNoOwner, 1000, 10));
  CHECK(shares.Allows("somebody", 1, 10));
  CHECK_FALSE(shares.Allows("somebody", 2, 10));
  shares.Remove(base::kNoOwner, 9);
  CHECK(shares.used() == 0);
}

TEST_CASE("one place can be taken by anybody, and no limit refuses nobody") {
  FairShare one(1), any(0);
  std::vector<FairShare::Taken> taken;
  CHECK(TakeAll(one, "somebody", taken) == 1);
  for (int i = 0; i < 1000; ++i) taken.push_back(any.Take("somebody", 1 << 30));
  CHECK(taken.back() != nullptr);
}

TEST_CASE("what is taken may outlive the whole") {
  FairShare::Taken taken;
  {
    FairShare whole(1);
    taken = whole.Take("somebody", 1);
  }
  CHECK(taken != nullptr);
}

TEST_CASE("what takes nothing counts nothing, and may be given back in any order") {
  FairShare whole(4);
  std::vector<FairShare::Taken> none = {whole.Take("alice", 0), whole.Take("alice", 0)};
  CHECK(whole.used() == 0);
  const FairShare::Taken one = whole.Take("alice", 1);
  none.clear();
  CHECK(whole.used() == 1);
}

}  // namespace
