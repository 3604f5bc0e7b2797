#include "base/internal/system_roots.h"

#include <openssl/err.h>
#include <unistd.h>

#include <cstdlib>

#include "base/tls.h"

namespace tls {
namespace {

constexpr char kFileVariable[] = "SSL_CERT_FILE";
constexpr char kDirectoryVariable[] = "SSL_CERT_DIR";
constexpr char kNowhere[] = "/nonexistent";

// Files in which distributions keep their bundle, for builds of OpenSSL that look elsewhere.
constexpr const char* kBundleFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch.
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL 6.
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and newer.
    "/etc/ssl/ca-bundle.pem",                             // openSUSE.
};

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Returns the variables with which the process was started. The first call must come before they
// are changed.
const SystemBundleVariables& Original() {
  static const auto* const kOriginal =
      new SystemBundleVariables{Variable(kFileVariable), Variable(kDirectoryVariable)};
  return *kOriginal;
}

bool LoadFile(X509_STORE* store, const std::string& path) {
  return access(path.c_str(), R_OK) == 0 && X509_STORE_load_file(store, path.c_str()) == 1;
}

void LoadBundle(X509_STORE* store) {
  const std::string directory = Original().directory.value_or(X509_get_default_cert_dir());
  X509_STORE_load_path(store, directory.c_str());
  if (LoadFile(store, Original().file.value_or(X509_get_default_cert_file()))) return;
  if (Original().file || Original().directory) return;  // The user has set the place.
  for (const char* path : kBundleFiles) {
    if (LoadFile(store, path)) return;
  }
}

}  // namespace

namespace internal {

X509_STORE* SystemRoots() {
  static X509_STORE* const kStore = [] {
    X509_STORE* store = X509_STORE_new();
    LoadBundle(store);
    ERR_clear_error();
    return store;
  }();
  return kStore;
}

}  // namespace internal

void DisableSystemBundlePerConnection() {
  Original();
  setenv(kFileVariable, kNowhere, /*overwrite=*/1);
  setenv(kDirectoryVariable, kNowhere, /*overwrite=*/1);
}

SystemBundleVariables OriginalSystemBundleVariables() { return Original(); }

}  // namespace tls
