// `why` about all templates: what is printed, when it is printed again, and exit codes.
#include "cmd/lens/fleet.h"

#include <catch2/catch.hpp>
#include <deque>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/meta/object.h"
#include "tests/cmd/lens/tool.h"

using Catch::Contains;
using cmd::lens::FleetOptions;
using cmd::lens::Output;
using cmd::lens::ShowFleet;
using lens::fleet::Fleet;
using lens::fleet::Trouble;

namespace {

Trouble Stuck(const std::string& name, const std::string& brief, const char* since) {
  Trouble trouble{{"apps", "v1", "Deployment"}, {"shop", name}, "", {lens::why::Step::kMember}};
  trouble.brief = brief;
  trouble.headline = absl::StrCat("Deployment shop/", name, " does not arrive");
  trouble.cause.advice = "mend it";
  trouble.since = since == nullptr ? absl::InfinitePast() : kube::ParseTime(since).value();
  return trouble;
}

Fleet FleetWith(std::vector<Trouble> troubles) {
  Fleet fleet;
  fleet.templates = 9;
  fleet.troubles = std::move(troubles);
  return fleet;
}

struct Shown {
  absl::StatusOr<tool::ExitCode> code = tool::ExitCode::kFine;
  std::string out, err;
};

// Shows the answers one after the other, and stops after the last one.
Shown Show(const FleetOptions& options, std::deque<absl::StatusOr<Fleet>> answers,
           Output output = Output::kText) {
  std::istringstream in;
  std::ostringstream out, err;
  tool::Console console{in, out, err};
  base::StopSource stop;
  const auto read = [&] {
    absl::StatusOr<Fleet> answer = std::move(answers.front());
    answers.pop_front();
    if (answers.empty()) stop.request_stop();
    return answer;
  };
  Shown shown;
  shown.code = ShowFleet(options, output, read, absl::ZeroDuration(), stop.get_token(), console);
  shown.out = out.str();
  shown.err = err.str();
  return shown;
}

}  // namespace

TEST_CASE("Lens: templates that are not fine are grouped by cause, the latest first") {
  const Shown shown =
      Show({}, {FleetWith({Stuck("a", "member2 is not ready", "2026-01-01T10:00:00Z"),
                           Stuck("b", "it is not healthy in member1:", nullptr),
                           Stuck("c", "member2 is not ready", "2026-01-01T11:00:00Z")})});
  CHECK(*shown.code == tool::ExitCode::kFailed);
  CHECK(shown.out == R"(3 of 9 templates are not fine.

2 × member2 is not ready
  Deployment shop/c does not arrive.
  What to do: Mend it.
  2026-01-01T11:00:00Z  Deployment shop/c
  2026-01-01T10:00:00Z  Deployment shop/a

1 × it is not healthy in member1
  What to do: Mend it.
  -                     Deployment shop/b  Deployment shop/b does not arrive.
)");
}

TEST_CASE("Lens: when all templates are fine one line says so") {
  const Shown shown = Show({}, {FleetWith({})});
  CHECK(*shown.code == tool::ExitCode::kFine);
  CHECK(shown.out ==
        "All 9 templates are fine by what the control plane knows; members were not asked.\n");
}

TEST_CASE("Lens: of many templates with one cause twenty are shown, and with --full all") {
  std::vector<Trouble> many;
  for (int i = 0; i < 25; ++i) many.push_back(Stuck(absl::StrCat("w", i), "it fails", nullptr));
  CHECK_THAT(Show({}, {FleetWith(many)}).out, Contains("  and 5 more: --full\n"));
  FleetOptions full;
  full.full = true;
  CHECK_THAT(Show(full, {FleetWith(many)}).out, !Contains("more: --full"));
}

TEST_CASE("Lens: different advices stand with their templates") {
  Trouble other = Stuck("b", "it fails:", nullptr);
  other.cause.advice = "leave it";
  const Shown shown = Show({}, {FleetWith({Stuck("a", "it fails:", nullptr), other})});
  CHECK_THAT(shown.out, Contains("shop/a does not arrive. What to do: Mend it.\n") &&
                            Contains("shop/b does not arrive. What to do: Leave it.\n"));
}

TEST_CASE("Lens: watching prints what has changed, and goes on when a reading fails") {
  FleetOptions watch;
  watch.watch = true;
  const Fleet bad = FleetWith({Stuck("a", "it fails", nullptr)});
  const Shown shown = Show(watch, {bad, bad, absl::UnavailableError("no answer"), FleetWith({})});
  CHECK(*shown.code == tool::ExitCode::kFine);
  CHECK_THAT(shown.err, Contains("no answer"));
  CHECK_THAT(shown.out, Contains("All 9 templates are fine by"));
  // The second answer was the first one, so that it was not printed.
  CHECK(shown.out.find("1 of 9") == shown.out.rfind("1 of 9"));
  CHECK_FALSE(Show(watch, {absl::UnavailableError("no answer")}).code.ok());
}

TEST_CASE("Lens: as JSON the groups have their templates, with times that may be unknown") {
  const Shown shown = Show({}, {FleetWith({Stuck("a", "it fails:", nullptr)})}, Output::kJson);
  const json::Value answer = json::Parse(shown.out).value();
  CHECK(answer["headline"].AsString() == "1 of 9 templates is not fine.");
  CHECK(answer["groups"].At(0)["cause"].AsString() == "it fails");
  CHECK(answer["groups"].At(0)["templates"].At(0)["since"].is_null());
  CHECK(answer["groups"].At(0)["templates"].At(0)["advice"].AsString() == "Mend it.");
}

TEST_CASE("Lens: flags about all templates are refused beside one, and one of them is needed") {
  for (const char* words : {"why deployment/web -A", "why deployment/web --policy web",
                            "why deployment/web -w", "why -A -n shop", "why --full", "why -w"}) {
    INFO(words);
    const tests::Ran ran = tests::RunLens(absl::StrSplit(words, ' '));
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
  }
}
