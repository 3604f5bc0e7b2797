// The worker of run.py: runs one workload under the perturbations whose names it reads, line by
// line, and writes a line of JSON for each.
//
//   prove_worker [--real-time] [--tls] [--keep] [--order=FILE] --workload=FILE --directory=DIR --
//       PROGRAM FLAG...
//   prove_worker --workload=FILE --directory=DIR -- AGENT FLAG... -- CONTROLLER-MANAGER FLAG...
//   prove_worker --seed=FILE --directory=DIR -- PROGRAM FLAG...
//
// The first line that it writes is about the reference; with a seed it names the runs that there
// are. The logs of a run without violations are removed, unless they are to be kept. With an order,
// all runs but references deliver events as it says (delivery_order.h). A run whose line is missing
// has ended the process.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json.h"
#include "tests/prove/runs.h"
#include "tests/prove/time/time_driver.h"
#include "tests/prove/values/seed.h"
#include "tests/prove/values/value_runs.h"
#include "tests/prove/workload.h"

namespace {

struct Arguments {
  bool real_time = false, with_tls = false, keep = false;
  std::string workload, seed, directory, order;
  std::vector<std::string> command, beside;
};

bool Read(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") {
      char** const behind = std::find(argv + i + 1, argv + argc, std::string("--"));
      arguments.command.assign(argv + i + 1, behind);
      if (behind != argv + argc) arguments.beside.assign(behind + 1, argv + argc);
      break;
    }
    if (word == "--real-time") {
      arguments.real_time = true;
    } else if (word == "--tls") {
      arguments.with_tls = true;
    } else if (word == "--keep") {
      arguments.keep = true;
    } else if (absl::ConsumePrefix(&word, "--workload=")) {
      arguments.workload = std::string(word);
    } else if (absl::ConsumePrefix(&word, "--seed=")) {
      arguments.seed = std::string(word);
    } else if (absl::ConsumePrefix(&word, "--order=")) {
      arguments.order = std::string(word);
    } else if (absl::ConsumePrefix(&word, "--directory=")) {
      arguments.directory = std::string(word);
    } else {
      return false;
    }
  }
  return arguments.workload.empty() != arguments.seed.empty() && !arguments.directory.empty() &&
         !arguments.command.empty();
}

void Print(const std::string& name, const prove::Record& record,
           const std::vector<std::string>& violations, const std::string& logs) {
  json::Value line = record.ToJson();
  line.Set("logs", logs);
  line.Set("run", name);
  line.Set("violations", json::Value::Strings(violations));
  std::cout << json::Write(line) << std::endl;
}

int Fail(const absl::Status& status) {
  std::cerr << "prove: " << status.message() << "\n";
  return 2;
}

// Runs a workload under the perturbations.
int Perturb(const Arguments& arguments, prove::TimeDriver& time) {
  const auto workload = prove::ReadWorkload(arguments.workload);
  if (!workload.ok()) return Fail(workload.status());
  int number = 0;
  const auto run = [&](const std::string& name, const prove::Record* reference) {
    const std::string directory = absl::StrCat(arguments.directory, "/", number++);
    const std::string order = name == "reference" ? "" : arguments.order;
    auto record = prove::Run(
        *workload, name, reference,
        {arguments.command, arguments.beside, directory, order, arguments.with_tls}, time);
    return record;
  };
  auto reference = run("reference", nullptr);
  if (!reference.ok()) return Fail(reference.status());
  Print("reference", *reference, prove::Violations(*reference, *reference, "reference"),
        absl::StrCat(arguments.directory, "/0"));
  for (std::string name; std::getline(std::cin, name);) {
    const auto record = run(name, &*reference);
    if (!record.ok()) return Fail(record.status());
    const std::vector<std::string> violations = prove::Violations(*reference, *record, name);
    if (name == "reference") prove::Widen(*reference, *record);
    const std::string logs = absl::StrCat(arguments.directory, "/", number - 1);
    Print(name, *record, violations, logs);
    if (violations.empty() && !arguments.keep) std::filesystem::remove_all(logs);
  }
  return 0;
}

// Gives values, one after the other, to the properties of an object.
int TryValues(const Arguments& arguments, prove::TimeDriver& time) {
  auto seed = prove::ReadSeed(arguments.seed);
  if (!seed.ok()) return Fail(seed.status());
  prove::ValueRuns runs(*std::move(seed),
                        {arguments.command, {}, arguments.directory, "", arguments.with_tls}, time);
  const auto print = [](const std::string& name, json::Value line) {
    line.Set("run", name);
    std::cout << json::Write(line) << std::endl;
  };
  json::Value reference = prove::ValueRecord().ToJson();
  reference.Set("runs", json::Value::Strings(runs.Names()));
  print("reference", std::move(reference));
  for (std::string name; std::getline(std::cin, name);) {
    if (name == "reference") {
      print(name, runs.Reference().ToJson());
      continue;
    }
    const auto record = runs.Run(name);
    if (!record.ok()) return Fail(record.status());
    print(name, record->ToJson());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Read(argc, argv, arguments)) {
    std::cerr << "usage: prove_worker [--real-time] [--tls] --workload=FILE|--seed=FILE "
                 "--directory=DIR -- PROGRAM FLAG...\n";
    return 2;
  }
  if (!arguments.real_time) prove::TimeDriver::Begin(argv);
  prove::TimeDriver time;
  return arguments.seed.empty() ? Perturb(arguments, time) : TryValues(arguments, time);
}
