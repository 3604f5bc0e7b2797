// Plays the table of situations on simulated control planes, in these steps: all rows of a plane
// begin at once, each in a namespace of its own; those that break something later wait until they
// have come to their beginning; then each has to get its first line and its advice; then what the
// advice says is done; then the object has to arrive, and nothing may have gone that was there
// before, except what the advice says will be lost.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/advice/row.h"
#include "tests/advice/stage.h"
#include "tests/support/control_plane.h"

namespace tests::advice {
namespace {

// A row that plays.
struct Part {
  Row row;
  Place place;
  json::Value document;
  json::Value question;  // Of the document: `ask`; `askFirst` and `thenAsk` before and after it.
  Answer answer;         // The last one.
  std::string failure;   // "" as long as everything is as it should be.

  std::string Text(absl::string_view field) const { return document[field].ToString(); }
  // Returns the field, a first line; that Deployment web has arrived where there is none.
  std::string Line(absl::string_view field) const {
    const std::string in = place.own.empty() ? "member1" : place.own;
    return document[field].ToString(
        absl::StrCat("Deployment ", place.ns, "/web has arrived in ", in));
  }
};
using Parts = std::vector<Part>;

absl::Duration Patience() {
  const char* given = std::getenv("ADVICE_SECONDS");
  return absl::Seconds(given == nullptr ? 240 : std::atoi(given));
}

// Asks about all parts that `concerns` until each has said what it should, or the time is over.
// `wanted` returns whether the answer is that.
void Await(Stage& stage, Parts& parts, const std::string& what,
           const std::function<bool(const Part&)>& concerns,
           const std::function<bool(const Part&)>& wanted) {
  const absl::Time deadline = absl::Now() + Patience();
  std::vector<Part*> open;
  for (Part& part : parts) {
    if (part.failure.empty() && concerns(part)) open.push_back(&part);
  }
  while (!open.empty()) {
    stage.Discover();
    std::vector<Part*> still;
    for (Part* part : open) {
      part->answer = stage.Why(part->question, part->place);
      if (!wanted(*part)) still.push_back(part);
    }
    open = std::move(still);
    if (absl::Now() > deadline) break;
    if (!open.empty()) absl::SleepFor(absl::Milliseconds(100));
  }
  for (Part* part : open) {
    part->failure = absl::StrCat(what, ", but why says: ", part->answer.headline,
                                 "\n  What to do: ", part->answer.advice,
                                 part->answer.arrived ? "\n  (arrived)" : "");
  }
}

bool Names(const json::Value& list, const std::string& name) {
  const auto items = list.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const json::Value& item) { return item.ToString() == name; });
}

// Returns what was there before and is there no more, without what the row says will be lost.
std::string Lost(const Part& part, const Inventory& before, const Inventory& now) {
  std::string lost;
  for (const auto& [name, uid] : before) {
    const auto found = now.find(name);
    if (found != now.end() && found->second == uid) continue;
    if (!Names(part.document["loses"], name) && !Names(part.document["goes"], name))
      absl::StrAppend(&lost, lost.empty() ? "" : ", ", name);
  }
  return lost;
}

// Returns whether the answer is the field's line; "" stands for any that says that nothing is
// wrong.
bool IsLine(const Part& part, const char* field) {
  const std::string line = part.Line(field);
  if (line.empty()) return part.answer.arrived;
  return IsText(part.answer.headline, line) && (part.answer.arrived || part.document.Has(field));
}

std::vector<Place> PlacesOf(const Parts& parts) {
  std::vector<Place> places;
  for (const Part& part : parts) places.push_back(part.place);
  return places;
}

bool SaysWhatIsLost(const std::string& advice) {
  return absl::StrContains(advice, "lose") || absl::StrContains(advice, "lost");
}

void Play(Stage& stage, Parts& parts) {
  for (Part& part : parts) {
    absl::Status applied;
    for (const json::Member& m : part.document["members"].members()) {
      applied.Update(stage.Apply(std::string(m.name()), InNamespace(m.value, part.place.ns)));
    }
    part.failure = stage.Do(part.document["first"], part.place);
    applied.Update(stage.Apply("host", ObjectsOf(part.document, part.place)));
    if (!applied.ok()) part.failure = std::string(applied.message());
  }
  Await(
      stage, parts, "it should begin well",
      [](const Part& part) { return part.document.Has("then"); },
      [](const Part& part) { return IsLine(part, "begins"); });
  for (Part& part : parts) {
    if (part.failure.empty()) part.failure = stage.Do(part.document["then"], part.place);
    part.question = part.document["ask"];
  }
  Await(
      stage, parts, "the first line and the advice should be as the row has them",
      [](const Part&) { return true; },
      [](const Part& part) {
        return IsText(part.answer.headline, part.Text("headline")) &&
               IsText(part.answer.advice, part.Text("advice"));
      });
  const std::vector<Inventory> before = stage.Take(PlacesOf(parts));
  for (Part& part : parts) {
    if (!part.failure.empty()) continue;
    if (part.document.Has("loses") && !SaysWhatIsLost(part.answer.advice)) {
      part.failure = "the advice does not say what is lost";
    }
    if (part.document.Has("thenAsk")) part.question = part.document["thenAsk"];
    const std::string failed = stage.Do(part.document["follow"], part.place);
    if (!failed.empty()) part.failure = absl::StrCat("the advice cannot be followed: ", failed);
  }
  Await(
      stage, parts, "the advice was followed, and it should have arrived",
      [](const Part& part) { return part.document.Has("follow"); },
      [](const Part& part) { return IsLine(part, "after"); });
  const std::vector<Inventory> now = stage.Take(PlacesOf(parts));
  for (size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    if (!part.failure.empty()) continue;
    const std::string lost = Lost(part, before[i], now[i]);
    if (!lost.empty()) part.failure = absl::StrCat("following the advice has destroyed ", lost);
  }
}

// Puts the parts of one plane onto the stage, and reports those that went wrong.
void PlayAll(const json::Value& settings, const std::vector<Row>& rows) {
  ControlPlane::Options options;
  options.enforce_quotas = settings["quotas"].AsBool();
  for (const json::Value& flag : settings["flags"].items()) {
    options.daemon_flags.push_back(flag.ToString());
  }
  for (const Row& row : rows) options.members += row.has_own_member() ? 1 : 0;
  Hooks hooks;
  ControlPlane plane(options);
  Stage stage(plane);
  Parts parts;
  int owned = 2;
  for (const Row& row : rows) {
    Place place{plane.UniqueNamespace("row"), "", &hooks};
    if (row.has_own_member()) place.own = absl::StrCat("member", ++owned);
    const json::Value document = Placed(row, place);
    const char* question = document.Has("askFirst") ? "askFirst" : "ask";
    parts.push_back({row, place, document, document[question]});
  }
  Play(stage, parts);
  for (const Part& part : parts) {
    INFO(part.row.file << ": " << part.row.name() << " (" << part.place.ns
                       << "): " << part.failure);
    CHECK(part.failure.empty());
  }
}

}  // namespace

TEST_CASE("Advice: the first line names the true cause, and what it advises mends it without loss",
          "[sandbox]") {
  const char* only = std::getenv("ADVICE_ROW");
  const bool is_real = std::getenv("TEST_PLANE") != nullptr;
  std::map<std::string, std::vector<Row>> by_plane;
  for (Row& row : ReadRows()) {
    if (only != nullptr && !absl::StrContains(row.name(), only)) continue;
    if (is_real ? !row.is_for_real_servers() : !row.is_for_sandbox()) continue;
    const std::string plane = row.plane();
    by_plane[plane].push_back(std::move(row));
  }
  REQUIRE_FALSE(by_plane.empty());
  for (const auto& [plane, rows] : by_plane) PlayAll(rows[0].document["plane"], rows);
}

}  // namespace tests::advice
