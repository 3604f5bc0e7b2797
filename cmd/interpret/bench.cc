// Measures each operation for which some layer has a rule, one after the other, on this thread. The
// first call is not counted: it compiles scripts, opens connections, and shows whether the
// operation works at all. The second one tells how many calls take about a millisecond; so many are
// then made between two looks at the clock, until the time is over. "Garbage" is the memory that a
// call has allocated, whether it was freed or not.

#include "cmd/interpret/bench.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/enumerated.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/measurement.h"
#include "config/flag_types.h"
#include "config/options.h"
#include "tool/table.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::Question;
using SteadyClock = std::chrono::steady_clock;

constexpr char kExamples[] = R"(Examples:
  %prog% bench my-widget.yaml -f widget.yaml
  %prog% bench deployment/web -n shop --operation AggregateStatus --status items.yaml
  %prog% bench objects/ --time 5s -o json
  %prog% bench my-widget.yaml --webhook hooks.yaml

Every operation that has a rule for an object is run until the time is over. Retain gets the object
on both sides; without --status an aggregation gets the object's own status from two members.)";

struct BenchOptions {
  std::vector<std::string> objects;
  std::vector<std::string> operations;
  std::string status;
  int64_t replicas = 3;
  absl::Duration time = absl::Seconds(1);
  bool json = false;
  LayerOptions layers;
};

// The result for one operation on one object: an error, or what its calls cost together.
struct Figures {
  std::string object, operation, layer, by, error;
  int64_t calls = 0;
  Cost total;
  double PerSecond() const { return calls / absl::ToDoubleSeconds(total.time); }
  // REQUIRES: calls > 0.
  uint64_t GarbageOfOne() const { return total.garbage / static_cast<uint64_t>(calls); }
};

absl::StatusOr<std::vector<Operation>> OperationsOf(const BenchOptions& options) {
  std::vector<Operation> operations;
  for (const std::string& name : options.operations) {
    ASSIGN_OR_RETURN(const Operation op, ParseOperation(name));
    operations.push_back(op);
  }
  if (operations.empty()) {
    // Without --operation all are tried; those without a rule are left out further down.
    operations.assign(std::begin(interpreter::kAllOperations),
                      std::end(interpreter::kAllOperations));
  }
  return operations;
}

// Without --status an aggregation gets what two members with this very object would report.
json::Value ItemsFrom(const kube::Object& object) {
  json::Value items = json::Value::Array();
  for (const char* cluster : {"member1", "member2"}) {
    items.Append(json::Value::Object({{"clusterName", cluster},
                                      {"applied", true},
                                      {"health", "Healthy"},
                                      {"status", object.status()}}));
  }
  return items;
}

// Runs for about the given time; the first run, which compiles scripts, does not count.
Figures Run(Layers& layers, const Question& question, absl::Duration time) {
  const Measured first = Measure(layers, question);
  const interpreter::RuleName by = AnsweredBy(layers.chain(), question, PassingOn(first.hook_call));
  Figures figures{question.object.Describe(),
                  std::string(interpreter::OperationName(question.operation)), by.layer, by.name};
  if (!first.answer.ok()) {
    // An operation that fails is reported and not measured, since the time of an error says
    // nothing.
    figures.error = std::string(first.answer.status().message());
    return figures;
  }
  const Measured second = Measure(layers, question);
  // A batch takes about a millisecond, so that reading the clock costs nothing in comparison.
  const int64_t batch = std::clamp<int64_t>(
      absl::Milliseconds(1) / std::max(second.cost.time, absl::Nanoseconds(1)), 1, 1000);
  const auto end = SteadyClock::now() + absl::ToChronoNanoseconds(time);
  do {
    const Measured some = Measure(layers, question, batch);
    figures.calls += batch;
    figures.total.time += some.cost.time;
    figures.total.garbage += some.cost.garbage;
    figures.total.script_peak = std::max(figures.total.script_peak, some.cost.script_peak);
  } while (SteadyClock::now() < end);
  return figures;
}

json::Value ToJson(const Figures& f) {
  json::Value out = json::Value::Object(
      {{"object", f.object}, {"operation", f.operation}, {"layer", f.layer}, {"by", f.by}});
  if (!f.error.empty()) {
    out.Set("error", f.error);
    return out;
  }
  out.Set("calls", f.calls);
  out.Set("operationsPerSecond", f.PerSecond());
  out.Set("microseconds", absl::ToDoubleMicroseconds(f.total.time) / static_cast<double>(f.calls));
  out.Set("garbageBytes", static_cast<int64_t>(f.GarbageOfOne()));
  out.Set("scriptPeakBytes", static_cast<int64_t>(f.total.script_peak));
  return out;
}

void Print(const std::vector<Figures>& all, const BenchOptions& options, tool::Console& console) {
  if (options.json) {
    json::Value list = json::Value::Array();
    for (const Figures& figures : all) list.Append(ToJson(figures));
    console.out << tool::Formatted(list, tool::Format::kJson);
    return;
  }
  tool::Table table({"OBJECT", "OPERATION", "LAYER", "BY", "OPS/S", "TIME/OP", "GARBAGE/OP"});
  for (const Figures& f : all) {
    if (!f.error.empty()) {
      table.Add({f.object, f.operation, f.layer, f.by, "error", "", f.error});
      continue;
    }
    table.Add({f.object, f.operation, f.layer, f.by, absl::StrFormat("%.0f", f.PerSecond()),
               ShortTime(f.total.time / f.calls), ShortSize(f.GarbageOfOne())});
  }
  console.out << table.Text(console.out_colours);
}

absl::StatusOr<std::vector<Question>> QuestionsOf(const BenchOptions& options, const Layers& layers,
                                                  ObjectSource& source) {
  ASSIGN_OR_RETURN(const std::vector<Operation> operations, OperationsOf(options));
  json::Value items;
  if (!options.status.empty()) {
    ASSIGN_OR_RETURN(items, source.Items(options.status));
  }
  std::vector<Question> questions;
  for (const std::string& argument : options.objects) {
    ASSIGN_OR_RETURN(const auto documents, source.All(argument, options.layers.recursive));
    for (const tool::Document& document : documents) {
      const kube::Object object(document.value);
      for (const Operation op : operations) {
        // No layer has a rule: there is nothing to measure.
        if (!layers.chain().HasRule(object.gvk(), op)) continue;
        questions.push_back({op, object, object, options.replicas,
                             options.status.empty() ? ItemsFrom(object) : items});
      }
    }
  }
  if (questions.empty()) return absl::NotFoundError("no layer has a rule for these objects");
  return questions;
}

absl::StatusOr<tool::ExitCode> Bench(const BenchOptions& options, tool::Console& console) {
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live(options.layers.live);
  ObjectSource source(reader, live);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options.layers, source));
  layers->WarnOfProblems(console);
  ASSIGN_OR_RETURN(const auto questions, QuestionsOf(options, *layers, source));
  std::vector<Figures> all;
  for (const Question& question : questions) {
    tool::ShowProgress(console, absl::StrCat(all.size() + 1, "/", questions.size(), " ",
                                             interpreter::OperationName(question.operation), " of ",
                                             question.object.Describe()));
    all.push_back(Run(*layers, question, options.time));
  }
  tool::ShowProgress(console, "");
  Print(all, options, console);
  const bool failed = std::any_of(all.begin(), all.end(),
                                  [](const Figures& figures) { return !figures.error.empty(); });
  return failed ? tool::ExitCode::kFailed : tool::ExitCode::kFine;
}

void AddTimeFlag(CLI::App& app, absl::Duration& time) {
  app.add_option_function<std::string>(
         "--time",
         [&time](const std::string& text) {
           const absl::Status parsed = config::ParseGoDuration(text, time);
           if (!parsed.ok()) throw CLI::ValidationError("--time", std::string(parsed.message()));
         },
         "how long to run each operation")
      ->type_name("DURATION")
      ->default_str("1s");
}

}  // namespace

void AddBench(tool::CommandLine& line) {
  CLI::App& app = line.Add("bench", "Measure operations per second and garbage", kExamples);
  auto options = std::make_shared<BenchOptions>();
  app.add_option("OBJECT", options->objects,
                 "files, directories, - for standard input, or TYPE/NAME of live objects")
      ->required();
  tool::AddRepeatable(app, "--operation", options->operations,
                      "only this operation; may be repeated (default: all that have a rule)")
      ->type_name("OPERATION");
  app.add_option("--status", options->status, "what the members report (AggregateStatus)")
      ->type_name("ITEMS");
  CheckReplicas(*app.add_option("--replicas", options->replicas, "replicas to set (ReviseReplica)")
                     ->type_name("N")
                     ->capture_default_str());
  AddTimeFlag(app, options->time);
  constexpr auto kFormats = base::Enumerate<bool>({{false, "table"}, {true, "json"}});
  config::AddChoice(app, "-o,--output", options->json, kFormats, "how to print the figures")
      ->type_name("FORMAT");
  AddLayerFlags(app, options->layers);
  line.OnRun(app, [options](tool::Console& console) { return Bench(*options, console); });
}

}  // namespace cmd::interpret
