// Files that a kubeconfig names are read again by the connection itself. What stands in the
// kubeconfig is read again here: credentials that somebody has renewed there take effect, with a
// viewer of its own, so that nothing that was read with the old ones is shown to the new ones. A
// kubeconfig that names another server is not followed, because the page says whose it is.

#include "lens/serve/plane_access.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/certificate_renewal.h"
#include "base/files.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/meta/object.h"

namespace lens::serve {
namespace {

// Returns "; the client certificate has expired at ..." when it has, else "".
std::string ExpiryOf(const kube::ConnectionConfig& config, absl::Time now) {
  std::string pem = config.client_certificate.cert_pem;
  if (!config.client_certificate_file.empty()) {
    pem = base::ReadFile(config.client_certificate_file).value_or("");
  }
  const auto validity = tls::ValidityOf(pem);
  if (!validity.ok() || validity->not_after > now) return "";
  return absl::StrCat("; the client certificate has expired at ",
                      kube::FormatTime(validity->not_after));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PlaneAccess>> PlaneAccess::Create(Mode mode,
                                                                 kube::ConnectionConfig first,
                                                                 LoadFn load) {
  auto access = std::unique_ptr<PlaneAccess>(new PlaneAccess(mode, std::move(load)));
  RETURN_IF_ERROR(access->Use(std::move(first)));
  return access;
}

absl::Status PlaneAccess::Use(kube::ConnectionConfig next) {
  const bool has_credentials = mode_ != Mode::kTokens;
  RETURN_IF_ERROR(kube::NewHttpTransport(has_credentials ? next : WithToken(next, "")).status());
  absl::MutexLock lock(&mu_);
  if (mode_ == Mode::kLocal) {
    ASSIGN_OR_RETURN(local_, Viewer::Create(next, "", version_ + 1));
  }
  ++version_;
  connection_ = std::move(next);
  return absl::OkStatus();
}

kube::ConnectionConfig PlaneAccess::connection() const {
  absl::MutexLock lock(&mu_);
  return connection_;
}

ViewerPtr PlaneAccess::local() const {
  absl::MutexLock lock(&mu_);
  return local_;
}

bool PlaneAccess::Reload() {
  if (load_ == nullptr) return false;
  auto loaded = load_();
  const kube::ConnectionConfig before = connection();
  if (loaded.ok() && loaded->server != before.server) {
    loaded = absl::FailedPreconditionError(
        absl::StrCat("it names another server now: ", kube::WithoutUserInfo(loaded->server)));
  }
  const bool is_new = loaded.ok() && !kube::SameConnection(*loaded, before);
  const absl::Status used = is_new ? Use(*std::move(loaded)) : loaded.status();
  SayOnce(used);
  return is_new && used.ok();
}

void PlaneAccess::SayOnce(const absl::Status& trouble) {
  absl::MutexLock lock(&mu_);
  if (!trouble.ok() && trouble != trouble_) {
    base::LogWarning("the kubeconfig cannot be read again; what it was is used",
                     {{"error", trouble}});
  }
  trouble_ = trouble;
}

absl::Status PlaneAccess::About(const absl::Status& counts, absl::Time now) const {
  if (counts.ok() || mode_ == Mode::kTokens) return counts;  // Tokens are the viewers' own.
  absl::MutexLock lock(&mu_);
  const std::string expiry = ExpiryOf(connection_, now);
  // A server may refuse a certificate that has expired by giving no answer.
  const bool may_be_expiry = absl::IsUnavailable(counts) && !expiry.empty();
  if (!absl::IsUnauthenticated(counts) && !may_be_expiry) return counts;
  const std::string unread =
      trouble_.ok() ? "" : absl::StrCat("; the kubeconfig cannot be used: ", trouble_.message());
  return absl::FailedPreconditionError(
      absl::StrCat(counts.message(), expiry, unread, ". Renew the credentials of karmada-lens ",
                   "serve where they are: it reads them again by itself"));
}

}  // namespace lens::serve
