// karmada-webhook-example: an interpreter webhook for Workloads.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stop_signals.h"
#include "config/command_line.h"
#include "examples/webhook/server.h"

namespace {

constexpr char kProgram[] = "karmada-webhook-example";

struct Options {
  example::ServerOptions server;
  std::string manifests = "examples/webhook/manifests";
  std::string output;  // Empty stands for standard output.
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("--address", o.server.address, "where to listen")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--host", o.server.host,
                 "name or IP address under which Karmada reaches this server")
      ->type_name("HOST")
      ->capture_default_str();
  CLI::Option* certificate = app.add_option(
      "--cert-file", o.server.certificate_file,
      "certificate (PEM); without it one is made that is good while the program runs");
  CLI::Option* key = app.add_option("--key-file", o.server.key_file, "its private key (PEM)");
  certificate->needs(key)->type_name("FILE");
  key->needs(certificate)->type_name("FILE");
  app.add_option("--ca-file", o.server.ca_file,
                 "what vouches for the certificate (PEM; default: the certificate itself)")
      ->needs(certificate)
      ->type_name("FILE");
  app.add_option("--manifests", o.manifests, "directory of the manifests to fill in")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  app.add_option("--output", o.output, "where to write them (default: standard output)")
      ->type_name("FILE");
}

absl::Status WriteManifests(const Options& options, const example::RunningServer& running) {
  ASSIGN_OR_RETURN(const std::string text, example::FilledManifests(options.manifests, running));
  if (options.output.empty()) {
    std::cout << text << std::flush;
    return absl::OkStatus();
  }
  std::ofstream out(options.output, std::ios::binary);
  out << text << std::flush;
  return out.good()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(options.output, ": cannot be written"));
}

absl::Status Run(const Options& options, const base::StopSignals& signals) {
  ASSIGN_OR_RETURN(const example::RunningServer running, example::StartServer(options.server));
  RETURN_IF_ERROR(WriteManifests(options, running));
  std::cerr << "# Listening on " << running.url << ". kubectl apply the manifests"
            << (options.output.empty() ? " above" : " in " + options.output)
            << " in the Karmada control plane; Ctrl-C ends the server." << std::endl;
  signals.Await();
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An interpreter webhook for Workloads (workload.example.io).", kProgram);
  Options options;
  options.server.log_requests = true;
  AddOptions(app, options);
  config::AddHelpAndVersion(app);
  const absl::StatusOr<std::string> answer = config::ParseWords(app, argc, argv);
  if (!answer.ok()) {
    std::cerr << kProgram << ": " << answer.status().message()
              << "\nRun with --help for more information." << std::endl;
    return config::kUsageExitCode;
  }
  std::cout << *answer;
  if (!answer->empty()) return 0;
  const base::StopSignals signals;
  base::InitLogging(kProgram, {});
  const absl::Status result = Run(options, signals);
  if (result.ok()) return 0;
  std::cerr << kProgram << ": " << result.message() << std::endl;
  return config::ExitCodeFor(result);
}
