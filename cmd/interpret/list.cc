// Lists rules in one of two ways. With files, or without anything, it builds the layers and asks
// each of them what it has a rule for: no object is needed and no webhook is called. With a
// kubeconfig, a context or the URL of metrics, it lists the customizations and webhooks of a
// control plane, and what the controller manager has loaded of them (live_list.h). Flags that would
// have no effect in the way that is chosen are refused.

#include "cmd/interpret/list.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/enumerated.h"
#include "base/spelling.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/live_list.h"
#include "cmd/interpret/metrics_text.h"
#include "cmd/interpret/question_json.h"
#include "config/flag_types.h"
#include "tool/table.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;

constexpr char kExamples[] = R"(Examples:
  %prog% list                          # a line per kind and layer
  %prog% list CloneSet -o json         # a rule per entry
  %prog% list --operation InterpretHealth -f widget.yaml
  %prog% list Widget --webhook hooks.yaml  # calls nobody
  %prog% list --kubeconfig ~/.kube/karmada.config   # what is live on a control plane
  %prog% list --kubeconfig ~/.kube/karmada.config --metrics-url http://localhost:8080/metrics

Where several layers have a rule, the first of customization, webhook, shipped, native answers; the
others are marked with (-). InterpretStatus of every other kind is the whole status. A * is what a
webhook's rule leaves open.

With --kubeconfig, --context or --metrics-url, and neither -f nor --webhook, it lists the
customizations and webhooks of a control plane instead: their generation, and whether the controller
manager has loaded it. Calls, errors and the mean time of a call, since the controller manager was
started, come from its metrics (--metrics-url); a * says that they are those of several
customizations together. Without metrics an event may say which generation was loaded last.)";

enum class ListFormat { kTable, kYaml, kJson };

struct ListOptions {
  std::string kind;
  std::string operation;
  ListFormat format = ListFormat::kTable;
  std::string metrics_url;
  LayerOptions layers;
};

// One layer's rule for one operation of one kind.
struct Entry {
  kube::Gvk gvk;
  Operation op;
  interpreter::RuleName rule;
  bool answers = false;
};

// Returns every kind for which some layer has a rule of its own.
std::set<kube::Gvk> KindsOf(const Layers& layers) {
  std::set<kube::Gvk> kinds;
  // Of the native layer only its own kinds are listed: it has a rule for the status of every kind.
  for (const absl::string_view layer :
       {interpreter::kCustomizationLayer, interpreter::kShippedLayer}) {
    for (const auto& pair : layers.Covered(layer)) kinds.insert(pair.gvk);
  }
  for (const kube::Gvk& gvk : interpreter::NativeKinds()) kinds.insert(gvk);
  kinds.insert(layers.hooked_kinds().begin(), layers.hooked_kinds().end());
  return kinds;
}

std::vector<Entry> EntriesOf(const Layers& layers, const ListOptions& options,
                             std::optional<Operation> only) {
  const std::vector<kube::Gvk> built_in = interpreter::NativeKinds();
  const std::set<kube::Gvk> native(built_in.begin(), built_in.end());
  std::vector<Entry> entries;
  for (const kube::Gvk& gvk : KindsOf(layers)) {
    if (!options.kind.empty() && !absl::EqualsIgnoreCase(gvk.kind, options.kind)) continue;
    for (const Operation op : interpreter::kAllOperations) {
      if (only && *only != op) continue;
      // RulesFor returns the rules in the order of the layers, so the first one answers.
      bool first = true;
      for (interpreter::RuleName& rule : layers.chain().RulesFor(gvk, op)) {
        // The built-in rule for every kind is listed only where it answers.
        const bool generic = op == Operation::kInterpretStatus &&
                             rule.layer == interpreter::kNativeLayer && native.count(gvk) == 0;
        if (generic && !first) continue;
        entries.push_back({gvk, op, std::move(rule), std::exchange(first, false)});
      }
    }
  }
  return entries;
}

json::Value ToJson(const std::vector<Entry>& entries) {
  json::Value list = json::Value::Array();
  for (const Entry& entry : entries) {
    list.Append(json::Value::Object({{"apiVersion", entry.gvk.ApiVersion()},
                                     {"kind", entry.gvk.kind},
                                     {"operation", interpreter::OperationName(entry.op)},
                                     {"layer", entry.rule.layer},
                                     {"by", entry.rule.name},
                                     {"answers", entry.answers}}));
  }
  return list;
}

// Prints one line per kind, layer and rule.
std::string ToTable(const std::vector<Entry>& entries, const tool::Colours& colours) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> lines;
  for (const Entry& entry : entries) {
    const std::vector<std::string> key = {entry.gvk.ApiVersion(), entry.gvk.kind, entry.rule.layer,
                                          entry.rule.name};
    // Entries of a kind follow one another, so the line is near the end.
    auto line = std::find_if(lines.rbegin(), lines.rend(),
                             [&](const auto& known) { return known.first == key; });
    std::string name =
        absl::StrCat(interpreter::OperationName(entry.op), entry.answers ? "" : "(-)");
    if (line == lines.rend()) {
      lines.push_back({key, {std::move(name)}});
    } else {
      line->second.push_back(std::move(name));
    }
  }
  tool::Table table({"APIVERSION", "KIND", "LAYER", "BY", "OPERATIONS"});
  for (auto& [key, names] : lines) {
    std::vector<std::string> row = key;
    row.push_back(absl::StrJoin(names, ","));
    table.Add(std::move(row));
  }
  return table.Text(colours);
}

// Returns an error when no layer knows the kind that is asked for.
absl::Status CheckKind(const Layers& layers, const std::string& kind) {
  std::vector<std::string> known;
  for (const kube::Gvk& gvk : KindsOf(layers)) {
    if (kind.empty() || absl::EqualsIgnoreCase(gvk.kind, kind)) return absl::OkStatus();
    known.push_back(gvk.kind);
  }
  return absl::NotFoundError(
      absl::StrCat("no layer has a rule for a kind ", kind, base::DidYouMean(kind, known)));
}

tool::Format FormatOf(const ListOptions& options) {
  return options.format == ListFormat::kJson ? tool::Format::kJson : tool::Format::kYaml;
}

// Returns whether the rules of a control plane are wanted, not those of files.
bool IsLive(const ListOptions& options) {
  const LayerOptions& layers = options.layers;
  if (!layers.customizations.empty() || !layers.webhooks.empty()) return false;
  return !layers.live.kubeconfig.empty() || !layers.live.context.empty() ||
         !options.metrics_url.empty();
}

// Refuses flags that would have no effect.
absl::Status CheckSurplus(const ListOptions& options) {
  if (!IsLive(options) && !options.metrics_url.empty()) {
    return absl::InvalidArgumentError(
        "--metrics-url is about the rules of a control plane: leave out -f and --webhook");
  }
  if (IsLive(options) && (options.layers.no_shipped || options.layers.no_native)) {
    return absl::InvalidArgumentError(
        "shipped and built-in rules are not listed with --kubeconfig: leave out --no-shipped and "
        "--no-native");
  }
  return options.metrics_url.empty() ? absl::OkStatus() : CheckMetricsUrl(options.metrics_url);
}

absl::StatusOr<tool::ExitCode> ListLive(const ListOptions& options, std::optional<Operation> only,
                                        tool::Console& console) {
  ASSIGN_OR_RETURN(const LiveList list, ReadLiveList({options.layers.live, options.metrics_url,
                                                      options.kind, only, options.layers.merge}));
  for (const std::string& warning : list.warnings) {
    console.err << console.err_colours.Yellow("warning:") << " " << tool::Printable(warning)
                << "\n";
  }
  if (options.format != ListFormat::kTable) {
    console.out << tool::Formatted(JsonOf(list), FormatOf(options));
  } else if (list.rules.empty()) {
    const std::string meant = base::DidYouMean(options.kind, list.kinds);
    console.err << "No rules found" << (meant.empty() ? "." : meant) << "\n";
  } else {
    console.out << TableOf(list, console.out_colours);
    if (options.metrics_url.empty()) {
      console.err << "Calls, errors and times are known with --metrics-url only.\n";
    }
  }
  return tool::ExitCode::kFine;
}

absl::StatusOr<tool::ExitCode> List(const ListOptions& options, tool::Console& console) {
  std::optional<Operation> only;
  if (!options.operation.empty()) {
    ASSIGN_OR_RETURN(only, ParseOperation(options.operation));
  }
  RETURN_IF_ERROR(CheckSurplus(options));
  if (IsLive(options)) return ListLive(options, only, console);
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live(options.layers.live);
  ObjectSource source(reader, live);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options.layers, source));
  layers->WarnOfProblems(console);
  RETURN_IF_ERROR(CheckKind(*layers, options.kind));
  const std::vector<Entry> entries = EntriesOf(*layers, options, only);
  if (options.format != ListFormat::kTable) {
    console.out << tool::Formatted(ToJson(entries), FormatOf(options));
    return tool::ExitCode::kFine;
  }
  if (entries.empty()) {
    console.err << "No rules found.\n";
  } else {
    console.out << ToTable(entries, console.out_colours);
  }
  return tool::ExitCode::kFine;
}

}  // namespace

void AddList(tool::CommandLine& line) {
  CLI::App& app = line.Add("list", "List the rules: which kind, operation and layer", kExamples);
  auto options = std::make_shared<ListOptions>();
  app.add_option("KIND", options->kind, "only this kind");
  app.add_option("--operation", options->operation, "only this operation")->type_name("OPERATION");
  constexpr auto kFormats = base::Enumerate<ListFormat>(
      {{ListFormat::kTable, "table"}, {ListFormat::kYaml, "yaml"}, {ListFormat::kJson, "json"}});
  config::AddChoice(app, "-o,--output", options->format, kFormats, "how to print the rules")
      ->type_name("FORMAT");
  app.add_option("--metrics-url", options->metrics_url,
                 "the controller manager's metrics, for calls, errors and times of the rules of a "
                 "control plane")
      ->type_name("URL");
  AddLayerFlags(app, options->layers);
  line.OnRun(app, [options](tool::Console& console) { return List(*options, console); });
}

}  // namespace cmd::interpret
