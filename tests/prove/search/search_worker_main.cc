// The worker of run.py for karmada-search: as worker_main.cc, it runs one workload under the
// perturbations whose names it reads, line by line, and writes a line of JSON for each.
//
//   prove_search_worker [--real-time] --workload=FILE --directory=DIR -- PROGRAM FLAG...
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json.h"
#include "tests/prove/search/search_runs.h"
#include "tests/prove/search/search_workload.h"
#include "tests/prove/time/time_driver.h"

namespace {

struct Arguments {
  bool real_time = false;
  std::string workload, directory;
  std::vector<std::string> command;
};

bool Read(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") {
      arguments.command.assign(argv + i + 1, argv + argc);
      break;
    }
    if (word == "--real-time") {
      arguments.real_time = true;
    } else if (absl::ConsumePrefix(&word, "--workload=")) {
      arguments.workload = std::string(word);
    } else if (absl::ConsumePrefix(&word, "--directory=")) {
      arguments.directory = std::string(word);
    } else {
      return false;
    }
  }
  return !arguments.workload.empty() && !arguments.directory.empty() && !arguments.command.empty();
}

int Fail(const absl::Status& status) {
  std::cerr << "prove: " << status.message() << "\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Read(argc, argv, arguments)) {
    std::cerr << "usage: prove_search_worker [--real-time] --workload=FILE --directory=DIR -- "
                 "PROGRAM FLAG...\n";
    return 2;
  }
  if (!arguments.real_time) prove::TimeDriver::Begin(argv);
  signal(SIGPIPE, SIG_IGN);  // karmada-search may end while a reader writes to it.
  prove::TimeDriver time;
  const auto workload = prove::ReadSearchWorkload(arguments.workload);
  if (!workload.ok()) return Fail(workload.status());
  int number = 0;
  std::string name = "reference";
  do {
    const std::string directory = absl::StrCat(arguments.directory, "/", number++);
    const auto record = prove::RunSearch(*workload, name, {arguments.command, directory}, time);
    if (!record.ok()) return Fail(record.status());
    json::Value line = record->ToJson();
    line.Set("run", name);
    line.Set("violations", json::Value::Strings(record->violations));
    std::cout << json::Write(line) << std::endl;
    if (record->violations.empty()) std::filesystem::remove_all(directory);
  } while (std::getline(std::cin, name));
  return 0;
}
