// Measures this project's interpreter on the objects of a folder and prints the figures as JSON, in
// the format of the program that measures upstream's (upstream/main.go), with "webhook" in
// addition.
//
//   interpreter_bench OBJECTS [SECONDS]
//
// Run from the top of the tree: the example webhook's manifests are read from there.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "tests/bench/interpreter/operations.h"
#include "tests/bench/interpreter/subject.h"
#include "tests/bench/interpreter/webhook_rounds.h"

namespace bench {

namespace {

constexpr int kMaxWorkers = 2;
constexpr absl::string_view kScaledSubject = "cloneset";
constexpr absl::string_view kScaled[] = {"InterpretHealth", "AggregateStatus"};

struct Settings {
  std::string objects;
  absl::Duration length = absl::Seconds(1);
};

absl::StatusOr<json::Value> MeasureOperations(const Settings& settings, const std::string& name) {
  metrics::Registry registry;
  std::atomic<uint64_t> script_bytes = 0;
  const auto chain = NewInterpreter({.metrics = &registry});
  const auto counting = NewInterpreter({.metrics = &registry, .script_bytes = &script_bytes});
  ASSIGN_OR_RETURN(const Subject subject, ReadSubject(settings.objects, name));
  json::Value rows = json::Value::Array();
  for (const BenchOperation& op : Operations()) {
    ASSIGN_OR_RETURN(json::Value answer, op.answer(*chain, subject));
    ASSIGN_OR_RETURN(const Cost cost, MeasureTime(*chain, op, subject, settings.length));
    ASSIGN_OR_RETURN(const int64_t bytes, MeasureBytes(*counting, script_bytes, op, subject));
    rows.Append(json::Value::Object({{"object", name},
                                     {"operation", op.name},
                                     {"nsPerOp", cost.ns},
                                     {"cpuNsPerOp", cost.cpu_ns},
                                     {"bytesPerOp", bytes},
                                     {"answer", std::move(answer)}}));
  }
  return rows;
}

absl::StatusOr<json::Value> MeasureScaling(const Settings& settings) {
  metrics::Registry registry;
  const auto chain = NewInterpreter({.metrics = &registry});
  json::Value rows = json::Value::Array();
  for (const BenchOperation& op : Operations()) {
    if (std::find(std::begin(kScaled), std::end(kScaled), op.name) == std::end(kScaled)) continue;
    std::vector<Subject> subjects;
    while (subjects.size() < kMaxWorkers) {
      ASSIGN_OR_RETURN(Subject subject, ReadSubject(settings.objects, std::string(kScaledSubject)));
      subjects.push_back(std::move(subject));
      ASSIGN_OR_RETURN(const double rate, MeasureWorkers(*chain, op, subjects, settings.length));
      rows.Append(json::Value::Object({{"object", kScaledSubject},
                                       {"operation", op.name},
                                       {"workers", static_cast<int64_t>(subjects.size())},
                                       {"opsPerSecond", rate}}));
    }
  }
  return rows;
}

json::Value ToJson(const Rounds& rounds) {
  return json::Value::Object({{"medianNs", rounds.median_ns}, {"p90Ns", rounds.p90_ns}});
}

absl::StatusOr<json::Value> MeasureAll(const Settings& settings) {
  json::Value operations = json::Value::Array();
  for (const char* name : {"cloneset", "deployment"}) {
    ASSIGN_OR_RETURN(const json::Value rows, MeasureOperations(settings, name));
    for (const json::Value& row : rows.items()) operations.Append(row);
  }
  ASSIGN_OR_RETURN(json::Value scaling, MeasureScaling(settings));
  ASSIGN_OR_RETURN(const WebhookCost webhook,
                   MeasureWebhook(settings.objects, settings.length * 2));
  return json::Value::Object(
      {{"operations", std::move(operations)},
       {"scaling", std::move(scaling)},
       {"webhook",
        json::Value::Object({{"raw", ToJson(webhook.raw)},
                             {"layer", ToJson(webhook.layer)},
                             {"requestBytes", static_cast<int64_t>(webhook.request_bytes)}})}});
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  bench::Settings settings;
  double seconds = 1;
  if (argc < 2 || argc > 3 || (argc == 3 && !absl::SimpleAtod(argv[2], &seconds))) {
    std::cerr << "usage: interpreter_bench OBJECTS [SECONDS]" << std::endl;
    return 2;
  }
  settings.objects = argv[1];
  settings.length = absl::Seconds(seconds);
  const absl::StatusOr<json::Value> report = bench::MeasureAll(settings);
  if (report.ok()) {
    std::cout << json::Write(*report) << std::endl;
    return kube::FinishHttp(0);
  }
  std::cerr << "interpreter_bench: " << report.status().message() << std::endl;
  return kube::FinishHttp(1);
}
