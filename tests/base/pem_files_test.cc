// The files with certificates and keys that flags name.
#include "base/pem_files.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/temp_directory.h"

namespace tls {
namespace {

struct Files {
  tests::TempDirectory directory;
  KeyPair pair = Issue(), other = Issue();

  static KeyPair Issue() {
    return CertificateAuthority::Create("ca").value()->Issue({.common_name = "x"}).value();
  }
  std::string Write(const std::string& name, const std::string& text) {
    directory.Write(name, text);
    return absl::StrCat(directory.path(), "/", name);
  }
  // Returns the error without the folder.
  std::string Error(const std::string& certificate, const std::string& key) {
    const auto read = ReadKeyPair({"--crt", certificate}, {"--key", key});
    std::string text(read.status().message());
    for (size_t at; (at = text.find(directory.path() + "/")) != std::string::npos;) {
      text.erase(at, directory.path().size() + 1);
    }
    return text;
  }
};

TEST_CASE("a certificate and its key are read") {
  Files f;
  const auto read = ReadKeyPair({"--crt", f.Write("crt", f.pair.cert_pem)},
                                {"--key", f.Write("key", f.pair.key_pem)});
  REQUIRE(read.ok());
  CHECK(read->cert_pem == f.pair.cert_pem);
  CHECK(read->key_pem == f.pair.key_pem);
  CHECK(ReadCertificates({"--ca", f.Write("ca", f.pair.cert_pem)}).value() == f.pair.cert_pem);
}

TEST_CASE("what is wrong with a file is said with its flag and its name") {
  Files f;
  const std::string crt = f.Write("crt", f.pair.cert_pem), key = f.Write("key", f.pair.key_pem);
  const std::string empty = f.Write("empty", ""), words = f.Write("words", "words");
  const std::string other = f.Write("other", f.other.key_pem);
  CHECK(f.Error(empty, key) == "--crt: empty is empty");
  CHECK(f.Error(crt, empty) == "--key: empty is empty");
  CHECK(f.Error(words, key) == "--crt: words: certificate: no PEM block found");
  CHECK(f.Error(crt, words) == "--key: words: private key: no PEM block found");
  CHECK(f.Error(key, key) == "--crt: key: certificate: no PEM block found");
  CHECK(f.Error(words, empty) ==
        "--crt: words: certificate: no PEM block found; --key: empty is empty");
  CHECK(f.Error(crt, other).find("--key: other: private key does not belong to the certificate") ==
        0);
  CHECK(f.Error(crt, "/etc") == "--key: /etc cannot be read: Is a directory");
  CHECK(ReadCertificates({"--ca", words}).status().message() ==
        absl::StrCat("--ca: ", words, ": certificate: no PEM block found"));
}

}  // namespace
}  // namespace tls
