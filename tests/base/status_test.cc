#include "base/status.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/cost_growth.h"

namespace {

constexpr char kType[] = "example/reason";

absl::Status WithPayload() {
  absl::Status status = absl::NotFoundError("no such work");
  status.SetPayload(kType, absl::Cord("payload"));
  return status;
}

TEST_CASE("context is put before the message, code and payloads stay") {
  const absl::Status annotated = base::Annotate(WithPayload(), "cluster ", 7);
  CHECK(annotated.code() == absl::StatusCode::kNotFound);
  CHECK(annotated.message() == "cluster 7: no such work");
  REQUIRE(annotated.GetPayload(kType).has_value());
  CHECK(*annotated.GetPayload(kType) == "payload");
}

TEST_CASE("there is nothing to add to success, and no context adds nothing") {
  CHECK(base::Annotate(absl::OkStatus(), "context").ok());
  CHECK(base::AnnotateMessage(WithPayload(), "") == WithPayload());
}

TEST_CASE("an empty error list is success") {
  base::ErrorList errors;
  errors.Add(absl::OkStatus());
  CHECK(errors.empty());
  CHECK(errors.Join().ok());
}

TEST_CASE("a single error stands alone, however often it comes") {
  base::ErrorList errors;
  errors.Add(WithPayload());
  errors.Add(absl::OkStatus());
  errors.Add(absl::UnavailableError("no such work"));
  CHECK_FALSE(errors.empty());
  CHECK(errors.Join() == WithPayload());
}

TEST_CASE("several errors are listed once each, with the code and payloads of the first") {
  base::ErrorList errors;
  for (const char* message : {"a", "ab", "b", "a", "b"}) {
    errors.Add(errors.empty() ? base::Annotate(WithPayload(), "first")
                              : absl::InternalError(message));
  }
  const absl::Status joined = errors.Join();
  CHECK(joined.code() == absl::StatusCode::kNotFound);
  CHECK(joined.message() == "[first: no such work, ab, b, a]");
  CHECK(joined.GetPayload(kType).has_value());
}

TEST_CASE("a list of errors is terminal when all of them are") {
  const absl::Status hopeless = base::Terminal(absl::InvalidArgumentError("the rule is wrong"));
  CHECK(base::IsTerminal(base::Annotate(hopeless, "cluster m1")));
  base::ErrorList errors;
  errors.Add(base::Annotate(hopeless, "m1"));
  errors.Add(base::Annotate(hopeless, "m2"));
  CHECK(base::IsTerminal(errors.Join()));
  errors.Add(absl::UnavailableError("m3: connection refused"));
  errors.Add(base::Annotate(hopeless, "m4"));
  CHECK_FALSE(base::IsTerminal(errors.Join()));
  CHECK(errors.Join().code() == absl::StatusCode::kUnavailable);
  CHECK(errors.Join().message() ==
        "[m1: the rule is wrong, m2: the rule is wrong, m3: connection refused, m4: the rule is "
        "wrong]");
}

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError("odd");
  return n / 2;
}

absl::StatusOr<int> Quarter(int n) {
  RETURN_IF_ERROR(n < 0 ? absl::OutOfRangeError("negative") : absl::OkStatus());
  ASSIGN_OR_RETURN(const int half, Half(n));
  ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

TEST_CASE("the macros return the first error and assign otherwise") {
  CHECK(*Quarter(8) == 2);
  CHECK(Quarter(6).status().message() == "odd");
  CHECK(Quarter(-4).status().message() == "negative");
}

TEST_CASE("of any number of errors the first ones are joined, in linear time") {
  const auto join = [](int count) {
    base::ErrorList errors;
    for (int i = 0; i < count; ++i) {
      errors.Add(absl::NotFoundError(absl::StrCat("cluster ", i, " does not exist")));
    }
    errors.Add(base::Terminal(absl::UnavailableError("the last one")));
    return errors.Join();
  };
  const absl::Status joined = join(40000);
  CHECK(joined.message().size() < 70000);
  CHECK(absl::StartsWith(joined.message(), "[cluster 0 does not exist, cluster 1 does"));
  CHECK(absl::EndsWith(joined.message(), ", and more]"));
  CHECK(tests::CostOfFourfold(20000, join) < tests::kBarelyLinear);
}

TEST_CASE("joined errors have the code of the first that is more than a conflict") {
  base::ErrorList errors;
  errors.Add(absl::AbortedError("a"));
  CHECK(absl::IsAborted(errors.Join()));
  errors.Add(absl::PermissionDeniedError("b"));
  errors.Add(absl::UnavailableError("c"));
  errors.Add(absl::AbortedError("d"));
  CHECK(absl::IsPermissionDenied(errors.Join()));
  CHECK(errors.Join().message() == "[a, b, c, d]");
}

}  // namespace
