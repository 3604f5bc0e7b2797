// Looks the words up in the rows of the page that is compiled in, and prints all that fit: a reason
// may stand on several kinds of objects. What is not found has a suggestion. No server is asked.

#include "cmd/lens/explain.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "cmd/lens/flags.h"
#include "lens/explain/page.h"
#include "lens/explain/reasons.h"
#include "tool/console.h"

namespace cmd::lens {
namespace {

using ::lens::explain::Reason;

constexpr char kExamples[] = R"(Examples:
  %prog% explain SyncFailed
  %prog% explain Ready=False
  %prog% explain '2m  Warning  SyncFailed  deployment/web  Failed to ...'   # a line that has one
  %prog% explain --list)";

constexpr size_t kWidth = 100, kIndent = 12;

struct ExplainOptions {
  std::vector<std::string> words;
  bool list = false;
  Output output = Output::kText;
};

// Returns the text in lines of at most kWidth, all but the first indented.
std::string Wrapped(const std::string& text) {
  std::string out;
  size_t column = kIndent;
  for (const std::string& word :
       std::vector<std::string>(absl::StrSplit(text, ' ', absl::SkipEmpty()))) {
    const bool begins = column == kIndent;
    if (!begins && column + 1 + word.size() > kWidth) {
      absl::StrAppend(&out, "\n", std::string(kIndent, ' '));
      column = kIndent;
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

void Line(const char* name, const std::string& text, std::string& out) {
  if (text.empty()) return;
  std::string label = absl::StrCat(name, ":");
  label.resize(kIndent, ' ');
  absl::StrAppend(&out, label, Wrapped(text), "\n");
}

std::string TextOf(const Reason& reason, const tool::Colours& colours) {
  std::string out =
      absl::StrCat(colours.Bold(reason.reason), " (",
                   reason.condition.empty() ? absl::StrCat(reason.type, " event")
                                            : absl::StrCat("condition ", reason.condition),
                   ", ", reason.about, ")", reason.is_own ? ", not one of upstream's" : "", "\n");
  Line("from", reason.from, out);
  Line("when", reason.when, out);
  Line("means", reason.means, out);
  Line("what to do", reason.what_to_do, out);
  return out;
}

json::Value AsJson(const std::vector<Reason>& reasons) {
  std::vector<json::Value> items;
  for (const Reason& reason : reasons) items.push_back(::lens::explain::JsonOf(reason));
  return json::Value::OfItems(std::move(items));
}

void List(const std::vector<Reason>& reasons, tool::Console& console) {
  std::set<std::string> names;
  for (const Reason& reason : reasons) names.insert(reason.reason);
  console.out << absl::StrJoin(names, "\n") << "\n";
}

absl::StatusOr<tool::ExitCode> Explain(const ExplainOptions& options, tool::Console& console) {
  const std::vector<Reason> all = ::lens::explain::ReasonsOf(::lens::explain::EventsPage());
  if (options.list) {
    List(all, console);
    return tool::ExitCode::kFine;
  }
  const std::string text = absl::StrJoin(options.words, " ");
  if (text.empty()) {
    return absl::InvalidArgumentError("give a reason, a condition or a line, or --list");
  }
  const std::vector<Reason> found = ::lens::explain::Find(all, text);
  if (options.output == Output::kJson) {
    console.out << tool::Formatted(AsJson(found), tool::Format::kJson);
  } else {
    std::vector<std::string> texts;
    for (const Reason& reason : found) texts.push_back(TextOf(reason, console.out_colours));
    console.out << absl::StrJoin(texts, "\n");
  }
  if (!found.empty()) return tool::ExitCode::kFine;
  console.err << "no reason or condition that is known stands in \"" << tool::OneLine(text) << "\""
              << ::lens::explain::Suggestion(all, text) << "\n";
  return tool::ExitCode::kFailed;
}

}  // namespace

void AddExplain(tool::CommandLine& line) {
  CLI::App& app = line.Add(
      "explain", "Say what a reason of an event or a condition means, and what to do", kExamples);
  auto options = std::make_shared<ExplainOptions>();
  app.add_option("TEXT", options->words,
                 "a reason, a condition (Ready, Ready=False), or a line that contains one");
  app.add_flag("--list", options->list, "print all reasons");
  AddOutputFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return Explain(*options, console); });
}

}  // namespace cmd::lens
