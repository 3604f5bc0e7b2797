// Answers that several share: who gets which, and what is kept.
#include "lens/serve/shared_answers.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lens/serve/bounds.h"

namespace lens::serve {
namespace {

base::SteadyTime At(int seconds) { return base::SteadyTime::At(absl::Seconds(seconds)); }

const SharedQuestion kPolicies{"alice", "/api/policies"};

struct Sharing {
  SharedAnswers answers{1000};
  std::vector<std::string> got;  // "alice: TEXT", or "alice: CODE".

  SharedAnswers::Done Into(const std::string& name) {
    return [this, name](const SharedAnswerPtr& answer) {
      got.push_back(
          name + ": " +
          (answer->status.ok() ? *answer->json : absl::StatusCodeToString(answer->status.code())));
    };
  }
  SharedAnswers::Place Want(const SharedQuestion& question, base::SteadyTime not_before,
                            base::SteadyTime now, const std::string& name) {
    return answers.Want(question, not_before, now, Into(name)).value();
  }
  // Has an answer be made from one time to another.
  void Make(const SharedQuestion& question, int begin, int end, const json::Value& answer) {
    REQUIRE(Want(question, At(begin), At(begin), "first").has_to_make);
    answers.Begin(question, At(begin));
    CHECK_FALSE(answers.Finish(question, answer, At(end)));
  }
};

}  // namespace

TEST_CASE_METHOD(Sharing, "Shared answers: one is made for all who ask at the same time") {
  CHECK(Want(kPolicies, At(0), At(10), "a").has_to_make);
  CHECK_FALSE(Want(kPolicies, At(0), At(10), "b").has_to_make);
  answers.Begin(kPolicies, At(11));
  CHECK_FALSE(Want(kPolicies, At(0), At(12), "c").has_to_make);
  CHECK(got.empty());
  CHECK_FALSE(answers.Finish(kPolicies, json::Value(1), At(14)));
  CHECK(got == std::vector<std::string>{"a: 1", "b: 1", "c: 1"});
}

TEST_CASE_METHOD(Sharing, "Shared answers: others with other credentials get their own") {
  Make(kPolicies, 10, 11, json::Value("of alice"));
  const SharedQuestion of_bob{"bob", kPolicies.text};
  CHECK(Want(of_bob, At(0), At(11), "bob").has_to_make);
  answers.Begin(of_bob, At(11));
  answers.Finish(of_bob, json::Value("of bob"), At(12));
  CHECK(got == std::vector<std::string>{"first: \"of alice\"", "bob: \"of bob\""});
}

TEST_CASE_METHOD(Sharing, "Shared answers: one is kept for three times as long as it took") {
  Make(kPolicies, 10, 12, json::Value(1));
  CHECK(Want(kPolicies, At(0), At(18), "a").ticket == 0);
  CHECK(got.back() == "a: 1");
  CHECK(Want(kPolicies, At(0), At(19), "b").has_to_make);
}

TEST_CASE_METHOD(Sharing, "Shared answers: one from before the last reading is not shown") {
  Make(kPolicies, 10, 14, json::Value(1));
  CHECK(Want(kPolicies, At(10), At(15), "a").ticket == 0);
  CHECK(Want(kPolicies, At(11), At(15), "b").has_to_make);
}

TEST_CASE_METHOD(Sharing,
                 "Shared answers: who needs a newer one than is being made gets the next") {
  CHECK(Want(kPolicies, At(0), At(10), "early").has_to_make);
  answers.Begin(kPolicies, At(10));
  // Meanwhile the fleet was read again.
  CHECK_FALSE(Want(kPolicies, At(12), At(12), "late").has_to_make);
  CHECK_FALSE(Want(kPolicies, At(12), At(13), "later").has_to_make);
  CHECK(answers.Finish(kPolicies, json::Value("old"), At(14)));
  CHECK(got == std::vector<std::string>{"early: \"old\""});
  answers.Begin(kPolicies, At(14));
  CHECK_FALSE(answers.Finish(kPolicies, json::Value("new"), At(15)));
  CHECK(got.size() == 3);
  CHECK(got.back() == "later: \"new\"");
}

TEST_CASE_METHOD(Sharing, "Shared answers: what nobody waits for is not made on") {
  const uint64_t a = Want(kPolicies, At(0), At(10), "a").ticket;
  const uint64_t b = Want(kPolicies, At(0), At(10), "b").ticket;
  const auto end = answers.Begin(kPolicies, At(10));
  CHECK(answers.GiveUp(kPolicies, a));
  CHECK_FALSE(answers.GiveUp(kPolicies, a));
  CHECK_FALSE(end->stop().stop_requested());
  CHECK(answers.GiveUp(kPolicies, b));
  CHECK(end->stop().stop_requested());
  // Who comes now must not get the end of the others.
  CHECK_FALSE(Want(kPolicies, At(0), At(11), "c").has_to_make);
  CHECK(answers.Finish(kPolicies, absl::CancelledError("nobody"), At(11)));
  CHECK(got.empty());
  CHECK_FALSE(answers.Begin(kPolicies, At(11))->stop().stop_requested());
  answers.Finish(kPolicies, json::Value(1), At(12));
  CHECK(got == std::vector<std::string>{"c: 1"});
}

TEST_CASE_METHOD(Sharing, "Shared answers: an error is told to those who wait, and not kept") {
  CHECK(Want(kPolicies, At(0), At(10), "a").has_to_make);
  answers.Begin(kPolicies, At(10));
  answers.Finish(kPolicies, absl::UnavailableError("gone"), At(14));
  CHECK(got == std::vector<std::string>{"a: UNAVAILABLE"});
  CHECK(Want(kPolicies, At(0), At(14), "b").has_to_make);
  answers.Begin(kPolicies, At(14));
  answers.Finish(kPolicies, json::Value(std::string(kMostAnswerBytes, 'x')), At(15));
  CHECK(got.back() == "b: OUT_OF_RANGE");
  CHECK(answers.bytes() == 0);
}

TEST_CASE_METHOD(Sharing, "Shared answers: what was asked for longest ago makes room") {
  const json::Value long_one(std::string(300, 'x'));
  const SharedQuestion others[] = {{"b", "/1"}, {"b", "/2"}, {"b", "/3"}};
  Make(kPolicies, 10, 20, long_one);
  Make(others[0], 10, 20, long_one);
  Make(others[1], 10, 21, long_one);
  Want(kPolicies, At(0), At(22), "again");
  Make(others[2], 22, 23, long_one);
  CHECK(answers.bytes() <= 1000);
  CHECK(Want(kPolicies, At(0), At(23), "kept").ticket == 0);
  CHECK(Want(others[0], At(0), At(23), "dropped").has_to_make);
  answers.Begin(others[0], At(23));
  answers.Finish(others[0], absl::CancelledError(""), At(23));
  answers.ForgetOld(At(1000));
  CHECK(answers.bytes() == 0);
}

TEST_CASE_METHOD(Sharing, "Shared answers: so many wait and no more") {
  for (size_t i = 0; i < kMostWaiting; ++i) Want(kPolicies, At(0), At(10), "a");
  CHECK(
      absl::IsResourceExhausted(answers.Want(kPolicies, At(0), At(10), Into("too many")).status()));
  answers.Finish(kPolicies, absl::CancelledError(""), At(11));
  CHECK(got.size() == kMostWaiting);
  CHECK(answers.Want(kPolicies, At(0), At(12), Into("then")).ok());
}

}  // namespace lens::serve
