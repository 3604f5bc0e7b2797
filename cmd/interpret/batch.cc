// Reads a request from each line of standard input and writes one answer line for it, in the same
// order, until the input ends. The layers are built once, before the first request, and keep what
// they keep from one call to the next (compiled scripts, connections to webhooks), so a batch is
// much faster than one run for each request. No request ends the batch: one that cannot be parsed,
// and one whose operation fails, has an answer with an error. Answers that have been written stay
// valid if the process is killed.

#include "cmd/interpret/batch.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/question_json.h"
#include "cmd/interpret/request_id.h"
#include "kube/meta/object.h"

namespace cmd::interpret {
namespace {

constexpr char kExamples[] = R"(Examples:
  echo '{"id":1,"operation":"InterpretHealth","object":{"apiVersion":"v1","kind":"Pod"}}' |
    %prog% batch
  %prog% batch --customization widget.yaml --no-shipped < requests.jsonl > answers.jsonl
  %prog% batch --webhook hooks.yaml < requests.jsonl

A request: {"id":…, "operation":"Retain", "object":{…}, "observed":{…}, "replicas":3, "items":[…]}
An answer: {"id":…, "layer":"customization", "by":"widgets", "result":…}, or {"id":…, "error":"…"}
"layer" is customization, webhook, shipped or native; "by" is the customization's name, a webhook
as <configuration>/<webhook>, or the kind. Both are "" where the only rule is that of a webhook
which failed and whose failurePolicy ignores that.
The id comes back as it is written. A request that fails is answered with its error and does not end
the batch; an empty line is one, too, so that the nth answer is to the nth line.

Answers of the built-in rules have the form in which Karmada's own program gives them, so that
the two can be compared: where it decodes an object into Go structs and encodes it again
(AggregateStatus that changes something, Retain of Pods), unknown fields are gone and zero values
come or go. This project's controller manager works on the object itself; --as-daemon answers as
it does.)";

// A clock that stands still, so that the times which built-in rules put into conditions are
// reproducible. The os.time and os.date of scripts are the machine's.
class FixedClock : public base::Clock {
 public:
  explicit FixedClock(absl::Time now) : now_(now) {}
  absl::Time Now() const override { return now_; }
  base::SteadyTime SteadyNow() const override { return {}; }
  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                  base::SteadyTime) const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    mu.Await(condition);  // No deadline ever passes.
    return true;
  }

 private:
  const absl::Time now_;
};

struct BatchOptions {
  LayerOptions layers;
  bool as_daemon = false;
  std::string now;  // In RFC 3339; "" stands for the machine's time.
};

constexpr char kNoId[] = "null";

// Members are sorted by name, as json::Write sorts them; the id stays as it was written.
std::string ErrorAnswer(absl::string_view id, absl::string_view message) {
  return absl::StrCat("{\"error\":", json::Write(json::Value(message)), ",\"id\":", id, "}");
}

std::string ResultAnswer(absl::string_view id, const interpreter::RuleName& by,
                         const JsonAnswer& answer) {
  const std::string message =
      answer.message.empty() ? "" : absl::StrCat(",\"message\":", json::Write(answer.message));
  return absl::StrCat("{\"by\":", json::Write(by.name), ",\"id\":", id,
                      ",\"layer\":", json::Write(by.layer), message,
                      ",\"result\":", json::Write(answer.result), "}");
}

absl::StatusOr<tool::ExitCode> AnswerAll(const LayerOptions& options, tool::Console& console) {
  for (const auto* paths : {&options.customizations, &options.webhooks}) {
    // Standard input can be read once only.
    if (std::find(paths->begin(), paths->end(), "-") == paths->end()) continue;
    return absl::InvalidArgumentError("standard input (-) holds the requests");
  }
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live(options.live);
  ObjectSource source(reader, live);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options, source));
  layers->WarnOfProblems(console);
  for (std::string line; console.out && std::getline(console.in, line);) {
    console.out << AnswerLine(*layers, line) << '\n';
    // A program that waits for the answer before its next request gets it at once; for a file that
    // would be slow.
    if (console.in.rdbuf()->in_avail() <= 0) console.out.flush();
  }
  return tool::ExitCode::kFine;
}

absl::StatusOr<tool::ExitCode> Batch(const BatchOptions& options, tool::Console& console) {
  LayerOptions layers = options.layers;
  // Without the flag, answers are compared with those of upstream's program, so they have its form.
  layers.upstream_form = !options.as_daemon;
  if (options.now.empty()) return AnswerAll(layers, console);
  const auto now = kube::ParseTime(options.now);
  RETURN_IF_ERROR(base::Annotate(now.status(), "--now"));
  const FixedClock clock(*now);
  layers.clock = &clock;
  return AnswerAll(layers, console);
}

}  // namespace

std::string AnswerLine(Layers& layers, absl::string_view line) {
  if (absl::StripAsciiWhitespace(line).empty()) {
    return ErrorAnswer(kNoId, "an empty line is not a request");
  }
  const auto request = json::Parse(line);
  if (!request.ok()) return ErrorAnswer(kNoId, request.status().message());
  // The id is copied from the text of the request: a number that passed through a double could have
  // changed.
  const absl::string_view id = request->is_object() ? RequestIdText(line) : kNoId;
  const auto question = ParseQuestion(*request);
  if (!question.ok()) return ErrorAnswer(id, question.status().message());
  layers.TakeHookCall();  // Forgets the call of an earlier request.
  const auto answer = AskForResult(layers.chain(), *question);
  if (!answer.ok()) return ErrorAnswer(id, answer.status().message());
  return ResultAnswer(id, AnsweredBy(layers.chain(), *question, PassingOn(layers.TakeHookCall())),
                      *answer);
}

void AddBatch(tool::CommandLine& line) {
  CLI::App& app =
      line.Add("batch", "Answer JSON requests, one a line, on standard output", kExamples);
  auto options = std::make_shared<BatchOptions>();
  AddLayerFlags(app, options->layers);
  app.add_flag("--as-daemon", options->as_daemon,
               "built-in answers as the controller manager computes them, not as Karmada's own "
               "program writes them");
  app.add_option("--now", options->now,
                 "time of the conditions that are made, in RFC 3339 (default: the machine's)")
      ->type_name("TIME");
  line.OnRun(app, [options](tool::Console& console) { return Batch(*options, console); });
}

}  // namespace cmd::interpret
