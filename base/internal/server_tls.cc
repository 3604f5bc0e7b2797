#include "base/internal/server_tls.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/log.h"
#include "base/status.h"

namespace base::internal {
namespace {

bool SameKeyPair(const tls::KeyPair& a, const tls::KeyPair& b) {
  return a.cert_pem == b.cert_pem && a.key_pem == b.key_pem;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerTls>> ServerTls::Create(
    tls::ServerOptions options, std::optional<HttpCertificateFiles> files) {
  std::unique_ptr<ServerTls> made(new ServerTls(std::move(files)));
  if (made->files_) {
    ASSIGN_OR_RETURN(options.server, made->ReadFiles());
    made->next_read_ = RealClock().SteadyNow() + made->files_->period;
  }
  absl::MutexLock lock(&made->mu_);
  RETURN_IF_ERROR(made->Use(std::move(options)));
  return made;
}

ServerTls::Context ServerTls::context() const {
  absl::MutexLock lock(&mu_);
  return context_;
}

absl::Status ServerTls::Replace(tls::ServerOptions options) {
  absl::MutexLock lock(&mu_);
  if (files_) options.server = options_.server;
  return Use(std::move(options));
}

void ServerTls::ReloadFiles(SteadyTime now) {
  absl::MutexLock lock(&mu_);
  if (!files_ || now < next_read_) return;
  next_read_ = now + files_->period;
  const absl::StatusOr<tls::KeyPair> read = ReadFiles();
  absl::Status status = read.status();
  if (read.ok()) {
    if (SameKeyPair(*read, options_.server)) return;
    tls::ServerOptions options = options_;
    options.server = *read;
    status = Use(std::move(options));
    if (status.ok()) {
      return LogInfo("the server's certificate was read again", {{"file", files_->certificate}});
    }
  }
  const RepeatedErrors::Verdict verdict = errors_.Note(status.message(), now);
  if (!verdict.log) return;
  LogWarning("the server's certificate cannot be read again; the old one stays in use",
             {{"file", files_->certificate}, {"err", status.message()}, {"more", verdict.More()}});
}

absl::StatusOr<tls::KeyPair> ServerTls::ReadFiles() const {
  tls::KeyPair pair;
  ASSIGN_OR_RETURN(pair.cert_pem, ReadContent(files_->certificate));
  ASSIGN_OR_RETURN(pair.key_pem, ReadContent(files_->key));
  return pair;
}

absl::Status ServerTls::Use(tls::ServerOptions options) {
  auto context = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  RETURN_IF_ERROR(tls::ConfigureServer(context->native_handle(), options));
  options_ = std::move(options);
  context_ = std::move(context);
  return absl::OkStatus();
}

}  // namespace base::internal
