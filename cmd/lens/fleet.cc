// Text has the first line, what makes the answer doubtful, and a block for each group: what is the
// same for all of it first, then a line for each template. Watching compares what would be printed,
// so that it is quiet as long as nothing changes; a reading that fails is warned of and repeated.

#include "cmd/lens/fleet.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/meta/object.h"
#include "lens/fleet/report.h"
#include "lens/why/diagnosis.h"
#include "tool/flags.h"

namespace cmd::lens {
namespace {

using ::lens::fleet::Fleet;
using ::lens::fleet::Group;
using ::lens::fleet::Trouble;

constexpr size_t kShown = 20;  // Templates of each group without --full.

std::string Sentence(const std::string& text) {
  return ::lens::why::AsSentence(tool::OneLine(text));
}

std::string SinceText(absl::Time since) {
  return since == absl::InfinitePast() ? "-" : kube::FormatTime(since);
}

size_t LongestName(const Group& group, size_t shown) {
  size_t longest = 0;
  for (size_t i = 0; i < shown; ++i) {
    longest = std::max(longest, tool::OneLine(group.troubles[i]->Name()).size());
  }
  return longest;
}

std::string LineOf(const Trouble& trouble, const Group& group, size_t width) {
  std::string line = absl::StrFormat("  %-20s  ", SinceText(trouble.since));
  const std::string name = tool::OneLine(trouble.Name());
  if (!group.has_details) return absl::StrCat(line, name, "\n");
  absl::StrAppend(&line, absl::StrFormat("%-*s  ", static_cast<int>(width), name),
                  Sentence(trouble.headline));
  if (group.advice.empty() && !trouble.cause.advice.empty()) {
    absl::StrAppend(&line, " What to do: ", Sentence(trouble.cause.advice));
  }
  return absl::StrCat(line, "\n");
}

std::string TextOf(const Group& group, bool full, const tool::Colours& colours) {
  const Trouble& latest = *group.troubles[0];
  std::string text = absl::StrCat(
      "\n", colours.Bold(absl::StrCat(group.troubles.size(), " × ", tool::OneLine(group.brief))),
      latest.cause.grade == ::lens::why::Grade::kWaiting ? "  (is waited for)" : "", "\n");
  if (!group.has_details) absl::StrAppend(&text, "  ", Sentence(latest.headline), "\n");
  const bool one_advice = !group.advice.empty();
  const std::string& advice = one_advice ? group.advice : latest.cause.advice;
  if (one_advice || (!group.has_details && !advice.empty())) {
    absl::StrAppend(&text, "  What to do", one_advice ? "" : ", in the first case", ": ",
                    Sentence(advice), "\n");
  }
  const size_t all = group.troubles.size();
  const size_t shown = full ? all : std::min(all, kShown);
  const size_t width = LongestName(group, shown);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, LineOf(*group.troubles[i], group, width));
  }
  if (shown < all) absl::StrAppend(&text, "  and ", all - shown, " more: --full\n");
  return text;
}

std::string TextOf(const Fleet& fleet, bool full, const tool::Colours& colours) {
  std::string text = absl::StrCat(colours.Bold(Sentence(::lens::fleet::HeadlineOf(fleet))), "\n");
  for (const auto* sentences : {&fleet.unknown, &fleet.stopped}) {
    for (const std::string& sentence : *sentences) {
      absl::StrAppend(&text, colours.Red(Sentence(sentence)), "\n");
    }
  }
  for (const Group& group : ::lens::fleet::GroupsOf(fleet)) {
    absl::StrAppend(&text, TextOf(group, full, colours));
  }
  return text;
}

std::string Rendered(const Fleet& fleet, const FleetOptions& options, Output output,
                     const tool::Colours& colours) {
  return output == Output::kJson
             ? tool::Formatted(::lens::fleet::JsonOf(fleet), tool::Format::kJson)
             : TextOf(fleet, options.full, colours);
}

void Warn(const Fleet& fleet, tool::Console& console) {
  for (const std::string& unread : fleet.unread) {
    console.err << console.err_colours.Yellow("warning:") << " not read: " << tool::OneLine(unread)
                << "\n";
  }
}

tool::ExitCode CodeOf(const Fleet& fleet) {
  return fleet.IsFine() ? tool::ExitCode::kFine : tool::ExitCode::kFailed;
}

}  // namespace

absl::StatusOr<tool::ExitCode> ShowFleet(const FleetOptions& options, Output output,
                                         const ReadFleetFn& read, absl::Duration pause,
                                         const base::StopToken& stop, tool::Console& console) {
  tool::ShowProgress(console, "reading");
  absl::StatusOr<Fleet> fleet = read();
  tool::ShowProgress(console, "");
  RETURN_IF_ERROR(fleet.status());
  std::string shown = Rendered(*fleet, options, output, console.out_colours);
  console.out << shown;
  if (output == Output::kText) Warn(*fleet, console);
  tool::ExitCode code = CodeOf(*fleet);
  while (options.watch) {
    console.out.flush();
    if (!console.out.good() || !base::RealClock().SleepFor(pause, stop)) break;
    fleet = read();
    if (!fleet.ok()) {
      console.err << console.err_colours.Yellow("warning:") << " "
                  << tool::OneLine(fleet.status().message()) << "\n";
      continue;
    }
    code = CodeOf(*fleet);
    std::string next = Rendered(*fleet, options, output, console.out_colours);
    if (next == shown) continue;
    if (output == Output::kText) console.out << "\n--- " << kube::FormatTime(fleet->now) << "\n";
    console.out << next;
    shown = std::move(next);
  }
  return code;
}

}  // namespace cmd::lens
