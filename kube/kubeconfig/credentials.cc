// Credentials are fresh until fresh_until_: for ever when the configuration holds them, for ten
// seconds when a file does, and until the plugin's expiry. When they are not fresh, one caller
// loads with mu_ released (refreshing_) while the others wait and then look again. Whatever is
// unchanged keeps its object: the whole snapshot, or at least the TLS context of an unchanged
// certificate.
//
// A file of authorities has a time of its own (authorities_until_): it is read again every ten
// seconds while the rest stays as it is, so that a plugin is not run because of it. When it cannot
// be used, the authorities before it stay in force.
//
// When files that were read once cannot be read again, the old credentials stay for ten more
// seconds. Any other failure is handed to all callers for two seconds; then the next one tries. A
// caller that is stopped or out of time has no effect on the others. A 401 (Reject) and another
// token (ReplaceToken) end the freshness, but 401s do not run a plugin more often than every five
// seconds.

#include "kube/kubeconfig/credentials.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/kubeconfig/internal/exec_plugin.h"
#include "kube/kubeconfig/internal/kubeconfig_files.h"

namespace kube {
namespace {

constexpr absl::Duration kFileRecheck = absl::Seconds(10);
constexpr absl::Duration kPluginTimeout = absl::Seconds(30);
// A plugin that fails, or whose credentials are refused, is not run again by every request.
constexpr absl::Duration kFailureKept = absl::Seconds(2);
constexpr absl::Duration kRejectInterval = absl::Seconds(5);

std::string StaticAuthorization(const ConnectionConfig& config, const std::string& token) {
  if (!token.empty()) return absl::StrCat("Bearer ", token);
  if (config.username.empty() && config.password.empty()) return "";
  return absl::StrCat("Basic ",
                      absl::Base64Escape(absl::StrCat(config.username, ":", config.password)));
}

bool SamePair(const tls::KeyPair& a, const tls::KeyPair& b) {
  return a.cert_pem == b.cert_pem && a.key_pem == b.key_pem;
}

// Adds to `error` the origin of the PEM text that it is about.
absl::Status Located(const absl::Status& error, const ConnectionConfig& config) {
  const bool authority = absl::StartsWith(error.message(), "certificate authority");
  const std::string& origin = authority ? config.ca_origin : config.client_certificate_origin;
  return origin.empty() ? error : base::Annotate(error, origin);
}

absl::Status Unobtainable(const absl::Status& why) {
  return absl::UnauthenticatedError(why.message());
}

// Returns a key of the extra fields as part of a header's name: characters that are not allowed
// there are percent-encoded, and the server decodes them.
std::string EscapeHeaderKey(absl::string_view key) {
  // In addition to letters and digits.
  constexpr absl::string_view kTokenCharacters = "!#$&'*+-.^_`|~";
  std::string out;
  for (const char c : key) {
    if (absl::ascii_isalnum(c) || absl::StrContains(kTokenCharacters, c)) {
      out.push_back(c);
    } else {
      absl::StrAppend(&out, "%", absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ImpersonationHeaders(
    const ConnectionConfig& config) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (config.impersonate_user.empty()) return headers;
  headers.emplace_back("Impersonate-User", config.impersonate_user);
  if (!config.impersonate_uid.empty()) {
    headers.emplace_back("Impersonate-Uid", config.impersonate_uid);
  }
  for (const std::string& group : config.impersonate_groups) {
    headers.emplace_back("Impersonate-Group", group);
  }
  for (const auto& [key, values] : config.impersonate_extra) {
    const std::string name = absl::StrCat("Impersonate-Extra-", EscapeHeaderKey(key));
    for (const std::string& value : values) headers.emplace_back(name, value);
  }
  return headers;
}

CredentialSource::CredentialSource(const ConnectionConfig& config, const base::Clock& clock)
    : config_(config), clock_(clock), token_(config.token) {}

absl::StatusOr<std::unique_ptr<CredentialSource>> CredentialSource::Create(
    const ConnectionConfig& config, const base::Clock& clock) {
  std::unique_ptr<CredentialSource> source(new CredentialSource(config, clock));
  ASSIGN_OR_RETURN(
      const CredentialsPtr checked,
      source->MakeCredentials({.certificate = config.client_certificate, .ca_pem = config.ca_pem},
                              nullptr));
  absl::MutexLock lock(&source->mu_);
  source->current_ = checked;  // The first Get() takes over its parsed roots.
  return source;
}

absl::Status CredentialSource::LoadFiles(Loaded& loaded) const {
  if (!config_.token_file.empty()) {
    auto token = base::ReadContent(config_.token_file);
    if (!token.ok()) return base::Annotate(token.status(), "token file");
    const absl::string_view trimmed = absl::StripAsciiWhitespace(*token);
    if (trimmed.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("token file: ", config_.token_file, " is empty"));
    }
    loaded.authorization = absl::StrCat("Bearer ", trimmed);
    loaded.fresh_until = clock_.SteadyNow() + kFileRecheck;
  }
  if (!config_.client_certificate_file.empty()) {
    ASSIGN_OR_RETURN(loaded.certificate.cert_pem,
                     base::ReadContent(config_.client_certificate_file));
    ASSIGN_OR_RETURN(loaded.certificate.key_pem, base::ReadContent(config_.client_key_file));
    loaded.fresh_until = clock_.SteadyNow() + kFileRecheck;
  }
  return absl::OkStatus();
}

std::string CredentialSource::Authorities(const std::string& before) const {
  if (config_.ca_file.empty()) return config_.ca_pem;
  auto read = base::ReadContent(config_.ca_file);
  if (read.ok() && *read == before) return before;
  // It may be in the middle of a rotation: a text that is none must not replace one that works.
  const absl::Status usable =
      read.ok() ? tls::ClientCredentials::Create({.ca_pem = *read}).status() : read.status();
  if (usable.ok()) return *std::move(read);
  base::LogWarning(
      "the certificate authority cannot be read again, keeping the old one",
      {{"server", WithoutUserInfo(config_.server)}, {"file", config_.ca_file}, {"error", usable}});
  return before;
}

absl::StatusOr<CredentialSource::Loaded> CredentialSource::Load(const std::string& token,
                                                                const std::string& authorities,
                                                                base::SteadyTime deadline,
                                                                const base::StopToken& stop) const {
  Loaded loaded;
  loaded.ca_pem = authorities;
  loaded.authorization = StaticAuthorization(config_, token);
  loaded.certificate = config_.client_certificate;
  RETURN_IF_ERROR(LoadFiles(loaded));
  if (config_.exec == nullptr || !loaded.authorization.empty()) return loaded;

  const absl::Duration timeout = std::min(kPluginTimeout, deadline - clock_.SteadyNow());
  ConnectionConfig told = config_;
  told.ca_pem = loaded.ca_pem;
  ASSIGN_OR_RETURN(ExecCredential given, RunExecPlugin(told, timeout, stop));
  if (!given.token.empty()) loaded.authorization = absl::StrCat("Bearer ", given.token);
  if (!given.certificate.cert_pem.empty()) loaded.certificate = std::move(given.certificate);
  // The plugin returns a time of the wall clock; if that is set back later, a 401 shows that the
  // credentials have expired.
  loaded.fresh_until =
      std::min(loaded.fresh_until, clock_.SteadyNow() + (given.expires - clock_.Now()));
  return loaded;
}

absl::StatusOr<CredentialsPtr> CredentialSource::MakeCredentials(
    Loaded loaded, const CredentialsPtr& before) const {
  const bool same_certificate = before != nullptr && before->ca_pem == loaded.ca_pem &&
                                SamePair(before->certificate, loaded.certificate);
  if (same_certificate && before->authorization == loaded.authorization) return before;
  auto made = std::make_shared<Credentials>();
  made->authorization = std::move(loaded.authorization);
  made->certificate = std::move(loaded.certificate);
  made->ca_pem = std::move(loaded.ca_pem);
  if (same_certificate) {
    made->tls = before->tls;
    return made;
  }
  auto created = tls::ClientCredentials::Create({.ca_pem = made->ca_pem,
                                                 .skip_verify = config_.insecure_skip_tls_verify,
                                                 .client = made->certificate});
  if (!created.ok()) return Located(created.status(), config_);
  made->tls = *std::move(created);
  return made;
}

void CredentialSource::Refresh(base::SteadyTime deadline, const base::StopToken& stop) {
  CredentialsPtr before;
  std::string token;
  bool only_authorities = false;
  {
    absl::MutexLock lock(&mu_);
    before = current_;
    token = token_;
    only_authorities = clock_.SteadyNow() < fresh_until_;
  }
  const std::string authorities = Authorities(before->ca_pem);
  auto loaded = only_authorities ? Loaded{.authorization = before->authorization,
                                          .certificate = before->certificate,
                                          .ca_pem = authorities}
                                 : Load(token, authorities, deadline, stop);
  const base::SteadyTime fresh_until =
      loaded.ok() ? loaded->fresh_until : base::SteadyTime::InfinitePast();
  absl::StatusOr<CredentialsPtr> made = loaded.ok()
                                            ? MakeCredentials(std::move(*loaded), before)
                                            : absl::StatusOr<CredentialsPtr>(loaded.status());
  absl::MutexLock lock(&mu_);
  refreshing_ = false;
  failure_ = made.status();
  if (!config_.ca_file.empty()) authorities_until_ = clock_.SteadyNow() + kFileRecheck;
  if (made.ok()) {
    current_ = *std::move(made);
    // What was fresh stays so, unless somebody has refused or replaced it in the meantime.
    if (only_authorities) return;
    // The token may have been replaced while this one was being loaded.
    fresh_until_ = token == token_ ? fresh_until : base::SteadyTime::InfinitePast();
    loaded_before_ = true;
    return;
  }
  // Being cancelled or out of time concerns only this caller, and is not stored for the others.
  const base::SteadyTime now = clock_.SteadyNow();
  if (stop.stop_requested() || now >= deadline) return;
  if (loaded_before_ && config_.exec == nullptr) {
    // Files may be in the middle of a rotation: the old credentials may still be good, and if not,
    // a 401 will show it.
    base::LogWarning("credentials cannot be read again, keeping the old ones",
                     {{"server", WithoutUserInfo(config_.server)}, {"error", failure_}});
    failure_ = absl::OkStatus();
    fresh_until_ = now + kFileRecheck;
    return;
  }
  failure_until_ = now + kFailureKept;
}

absl::Status CredentialSource::AwaitOtherRefresh(base::SteadyTime deadline,
                                                 const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped.IsSet() || !refreshing_; };
  if (!clock_.AwaitUntil(mu_, absl::Condition(&done), deadline)) {
    return absl::DeadlineExceededError("waiting for credentials");
  }
  return stopped.IsSet() ? absl::CancelledError("stopped while waiting for credentials")
                         : absl::OkStatus();
}

bool CredentialSource::IsFresh() const {
  const base::SteadyTime now = clock_.SteadyNow();
  return now < fresh_until_ && now < authorities_until_;
}

absl::StatusOr<CredentialsPtr> CredentialSource::Get(base::SteadyTime deadline,
                                                     const base::StopToken& stop) {
  while (true) {
    bool ours = false;
    {
      absl::MutexLock lock(&mu_);
      const base::SteadyTime now = clock_.SteadyNow();
      if (IsFresh()) return current_;
      if (now < failure_until_) return Unobtainable(failure_);
      if (now >= deadline) return absl::DeadlineExceededError("waiting for credentials");
      if (!refreshing_) ours = refreshing_ = true;
    }
    if (!ours) {
      RETURN_IF_ERROR(AwaitOtherRefresh(deadline, stop));
      continue;
    }
    Refresh(deadline, stop);
    absl::MutexLock lock(&mu_);
    if (failure_.ok()) return current_;
    return absl::IsCancelled(failure_) ? failure_ : Unobtainable(failure_);
  }
}

CredentialsPtr CredentialSource::GetIfFresh() {
  const bool blocks = config_.exec != nullptr || !config_.token_file.empty() ||
                      !config_.client_certificate_file.empty() || !config_.ca_file.empty();
  if (!blocks) {
    auto given = Get(base::SteadyTime::InfiniteFuture(), {});
    return given.ok() ? *std::move(given) : nullptr;
  }
  absl::MutexLock lock(&mu_);
  return IsFresh() ? current_ : nullptr;
}

bool CredentialSource::ReplaceToken(const std::string& token) {
  absl::MutexLock lock(&mu_);
  if (token_.empty() || token.empty() || !config_.token_file.empty()) return false;
  if (token_ == token) return true;
  token_ = token;
  fresh_until_ = base::SteadyTime::InfinitePast();
  return true;
}

void CredentialSource::Reject(const CredentialsPtr& rejected) {
  absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  if (current_ != rejected) return;
  if (config_.exec != nullptr && now - last_reject_ < kRejectInterval) return;
  last_reject_ = now;
  fresh_until_ = base::SteadyTime::InfinitePast();
}

}  // namespace kube
