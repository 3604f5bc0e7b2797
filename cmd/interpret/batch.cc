#include "cmd/interpret/batch.h"

#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/invocation.h"
#include "cmd/interpret/layers.h"

namespace cmd::interpret {
namespace {

constexpr char kExamples[] = R"(Examples:
  echo '{"id":1,"operation":"InterpretHealth","object":{"apiVersion":"v1","kind":"Pod"}}' |
    %prog% batch
  %prog% batch --customization widget.yaml --no-shipped < requests.jsonl > answers.jsonl

A request: {"id":…, "operation":"Retain", "object":{…}, "observed":{…}, "replicas":3, "items":[…]}
An answer: {"id":…, "layer":"customization", "by":"widgets", "result":…}, or {"id":…, "error":"…"}
A request that fails is answered with its error and does not end the batch.)";

json::Value ErrorAnswer(const json::Value& id, const absl::Status& status) {
  return json::Value::Object({{"id", id}, {"error", status.message()}});
}

absl::StatusOr<ExitCode> Batch(const LayerOptions& options, Console& console) {
  for (const std::string& path : options.customizations) {
    if (path == "-") return absl::InvalidArgumentError("standard input (-) holds the requests");
  }
  DocumentReader reader(console.in);
  LiveObjects live(options.live);
  ObjectSource source(reader, live);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options, source));
  layers->WarnOfProblems(console);
  for (std::string line; std::getline(console.in, line);) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    console.out << json::Write(AnswerLine(layers->chain(), line)) << '\n';
    // Whoever waits for an answer before the next request gets it at once; a file does not pay.
    if (console.in.rdbuf()->in_avail() <= 0) console.out.flush();
  }
  console.out.flush();
  if (!console.out) return absl::UnavailableError("standard output is closed");
  return ExitCode::kFine;
}

}  // namespace

json::Value AnswerLine(const interpreter::Interpreter& interpreter, absl::string_view line) {
  const auto request = json::Parse(line);
  if (!request.ok()) return ErrorAnswer(json::Value(), request.status());
  const json::Value& id = (*request)["id"];
  const auto invocation = ParseInvocation(*request);
  if (!invocation.ok()) return ErrorAnswer(id, invocation.status());
  auto result = Invoke(interpreter, *invocation);
  if (!result.ok()) return ErrorAnswer(id, result.status());
  interpreter::RuleName by = AnsweredBy(interpreter, *invocation);
  return json::Value::Object(
      {{"id", id}, {"layer", by.layer}, {"by", by.name}, {"result", *std::move(result)}});
}

void AddBatch(CommandLine& line) {
  CLI::App& app =
      line.Add("batch", "Answer JSON requests, one a line, on standard output", kExamples);
  auto options = std::make_shared<LayerOptions>();
  options->upstream_form = true;
  AddLayerFlags(app, *options);
  line.OnRun(app, [options](Console& console) { return Batch(*options, console); });
}

}  // namespace cmd::interpret
