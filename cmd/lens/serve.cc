// Checks the flags, above all whether the address may be served as they say: without TLS only on
// the loopback address, with TLS only with the viewers' own tokens, or behind the API server, which
// says who they are. Then it serves until it is
// stopped. A control plane that does not answer at the start is warned of, because it may come
// back; a server that is none is an error.

#include "cmd/lens/serve.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/lens_keys.h"
#include "base/daemon_process.h"
#include "base/listen_address.h"
#include "base/pem_files.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "base/stop_signals.h"
#include "cmd/lens/control_plane.h"
#include "cmd/lens/flags.h"
#include "cmd/lens/what_if_flags.h"
#include "detector/template_filter.h"
#include "kube/kubeconfig/current_context.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lens/serve/commands.h"
#include "lens/serve/server.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

namespace serve = ::lens::serve;

constexpr char kExamples[] = R"(Examples:
  %prog% serve                                 # http://127.0.0.1:8090, with the kubeconfig's rights
  %prog% serve --kubeconfig karmada.kubeconfig --listen 127.0.0.1:9000
  %prog% serve --listen :8443 --tls-cert-file tls.crt --tls-private-key-file tls.key
                                               # for others: each shows a token of their own
  %prog% serve --behind-api-server --listen :8443 --tls-cert-file tls.crt \
    --tls-private-key-file tls.key             # behind the control plane's API server
  curl -s http://127.0.0.1:8090/api/fleet | jq -r .headline)";

constexpr absl::Duration kStopLimit = absl::Seconds(10);

struct ServeFlags {
  std::string listen = "127.0.0.1:8090";
  std::string tls_cert_file, tls_private_key_file;
  bool behind_api_server = false;
  tool::LiveOptions live{.program = "karmada-lens", .first_answer = absl::Seconds(5)};
  std::vector<std::string> feature_gates;
  FailoverFlags failover;
  serve::ServeOptions options;
};

// Reads the certificate and decides who may look.
absl::Status CheckAccess(ServeFlags& flags) {
  const bool has_certificate = !flags.tls_cert_file.empty();
  if (has_certificate != !flags.tls_private_key_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert-file and --tls-private-key-file go together: give both, or none");
  }
  ASSIGN_OR_RETURN(const base::ListenAddress address, base::ParseListenAddress(flags.listen));
  flags.options.address = flags.listen;
  if (!has_certificate && flags.behind_api_server) {
    return absl::InvalidArgumentError(
        "--behind-api-server needs --tls-cert-file and --tls-private-key-file: the API server "
        "verifies the certificate by the caBundle of the APIService");
  }
  if (!has_certificate) {
    if (serve::IsLoopback(address.host)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen=", flags.listen, " is not the loopback address, where whoever reaches the page ",
        "has the kubeconfig's rights: give --tls-cert-file and --tls-private-key-file, and each ",
        "viewer shows a token; or listen on 127.0.0.1"));
  }
  flags.options.mode = flags.behind_api_server ? serve::Mode::kUsers : serve::Mode::kTokens;
  ASSIGN_OR_RETURN(flags.options.certificate,
                   tls::ReadKeyPair({"--tls-cert-file", flags.tls_cert_file},
                                    {"--tls-private-key-file", flags.tls_private_key_file}));
  flags.options.certificate_files = {flags.tls_cert_file, flags.tls_private_key_file};
  return absl::OkStatus();
}

absl::Status CheckDaemon(ServeFlags& flags) {
  ::lens::why::Question& question = flags.options.flags;
  config::Options& daemon = flags.options.daemon;
  for (const std::string& gates : flags.feature_gates) {
    RETURN_IF_ERROR(daemon.gates.Set(gates));
  }
  daemon.skipped_propagating_apis = question.skipped_apis;
  daemon.skipped_propagating_namespaces = question.skipped_namespaces;
  flags.failover.ApplyTo(daemon);
  return detector::TemplateFilter::Create(question.skipped_apis, question.skipped_namespaces)
      .status();
}

// Returns an error for a server that is not a control plane, and for credentials that it refuses,
// which are read once. Whether it answers at all may change.
absl::Status CheckServer(const ServeFlags& flags, tool::Console& console) {
  if (flags.options.mode != serve::Mode::kLocal) return absl::OkStatus();
  tool::ShowProgress(console, "connecting");
  const absl::Status connected = ConnectToControlPlane(flags.live).status();
  tool::ShowProgress(console, "");
  const bool stays = absl::IsFailedPrecondition(connected) || absl::IsUnauthenticated(connected);
  if (connected.ok() || stays) return connected;
  console.err << console.err_colours.Yellow("warning:") << " " << tool::OneLine(connected.message())
              << "; the page is there, and tries again\n";
  return absl::OkStatus();
}

void SayWhere(const ServeFlags& flags, int port, tool::Console& console) {
  const std::string server = kube::WithoutUserInfo(flags.options.plane.server);
  if (flags.options.mode == serve::Mode::kLocal) {
    console.out << "http://127.0.0.1:" << port << "/ shows " << server
                << " with the kubeconfig's rights, to whoever uses this machine. Ctrl-C ends it."
                << std::endl;
    return;
  }
  if (flags.options.mode == serve::Mode::kUsers) {
    console.out << "port " << port << " (https) shows " << server << " to its API server, at "
                << api::kLensPagePath << "/, with the rights of each user. Ctrl-C ends it."
                << std::endl;
    return;
  }
  console.out << "port " << port << " (https) shows " << server
              << " to each viewer with the rights of the token that they give. Ctrl-C ends it."
              << std::endl;
}

// Has commands to copy name the control plane, from whatever directory. Viewers with a token and
// users behind the API server have kubeconfigs of their own, and do not learn where this one is.
void NamePlane(ServeFlags& flags) {
  if (flags.options.mode != serve::Mode::kLocal) return;
  const auto add = [&](const char* flag, const std::string& value) {
    absl::StrAppend(&flags.options.flags.flags, " ", flag, absl::StartsWith(value, "-") ? "=" : " ",
                    serve::ShellWord(value));
  };
  if (!flags.live.kubeconfig.empty()) {
    std::error_code none;
    const auto path = std::filesystem::absolute(flags.live.kubeconfig, none);
    add("--kubeconfig", none ? flags.live.kubeconfig : path.string());
  }
  if (!flags.live.context.empty()) add("--context", flags.live.context);
}

// Users are impersonated, and a kubeconfig that impersonates somebody leaves no room for that.
absl::Status CheckSpeaksForItself(const ServeFlags& flags) {
  const kube::ConnectionConfig& plane = flags.options.plane;
  if (flags.options.mode != serve::Mode::kUsers || plane.impersonate_user.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--kubeconfig: its user acts as ", plane.impersonate_user,
                   " (as); with --behind-api-server it has to speak for itself, because it acts "
                   "as each viewer"));
}

absl::StatusOr<tool::ExitCode> Serve(ServeFlags& flags, tool::Console& console) {
  RETURN_IF_ERROR(CheckAccess(flags));
  RETURN_IF_ERROR(CheckDaemon(flags));
  const auto plane = kube::LoadConnectionConfig({flags.live.kubeconfig, flags.live.context});
  if (!plane.ok()) {
    return flags.live.kubeconfig.empty() ? plane.status()
                                         : base::Annotate(plane.status(), "--kubeconfig");
  }
  // Before the first thread starts.
  const base::StopSignals signals;
  base::PrepareDaemonProcess();
  flags.options.plane = *plane;
  // What is the current context may change, and this page goes on showing that of its start.
  const kube::KubeconfigOptions again = {
      flags.live.kubeconfig,
      kube::CurrentContext({flags.live.kubeconfig, flags.live.context}).value_or("")};
  flags.options.load_plane = [again] { return kube::LoadConnectionConfig(again); };
  RETURN_IF_ERROR(CheckSpeaksForItself(flags));
  NamePlane(flags);
  RETURN_IF_ERROR(CheckServer(flags, console));
  const absl::StatusOr<std::unique_ptr<serve::Server>> server = serve::Server::Start(flags.options);
  if (!server.ok()) return server.status();
  SayWhere(flags, (*server)->port(), console);
  signals.Await();
  base::EndProcessAfter(kStopLimit, 1);
  (*server)->Stop();
  return tool::ExitCode::kFine;
}

std::string CheckAddress(const std::string& text) {
  const absl::Status valid = base::ParseListenAddress(text).status();
  return valid.ok() ? "" : std::string(valid.message());
}

}  // namespace

void AddServe(tool::CommandLine& line) {
  CLI::App& app =
      line.Add("serve", "Show a control plane as a page in the browser, and as JSON", kExamples);
  auto flags = std::make_shared<ServeFlags>();
  app.add_option("--listen", flags->listen, "the address of the page; port 0 picks a free one")
      ->check(CheckAddress, "")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  app.add_option("--tls-cert-file", flags->tls_cert_file,
                 "serve over TLS with this certificate; then each viewer shows a token of the "
                 "control plane, and sees what it may read")
      ->type_name("FILE");
  app.add_option("--tls-private-key-file", flags->tls_private_key_file,
                 "private key of --tls-cert-file")
      ->type_name("FILE");
  app.add_flag("--behind-api-server", flags->behind_api_server,
               "serve the control plane's API server, to which an APIService names this address; "
               "it says who looks, and each sees what they may read");
  app.add_option("--kubeconfig", flags->live.kubeconfig,
                 "kubeconfig of the control plane (default: $KUBECONFIG, ~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", flags->live.context, "context in the kubeconfig")->type_name("NAME");
  AddSkipFlags(app, flags->options.flags.skipped_apis, flags->options.flags.skipped_namespaces);
  AddCombinedFlag(app, flags->options.flags.merge);
  tool::AddRepeatable(app, "--feature-gates", flags->feature_gates,
                      "this flag of karmada-controller-manager, if it is set there")
      ->type_name("NAME=BOOL,...");
  AddFailoverFlags(app, flags->failover);
  line.OnRun(app, [flags](tool::Console& console) { return Serve(*flags, console); });
}

}  // namespace cmd::lens
