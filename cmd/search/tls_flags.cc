#include "cmd/search/tls_flags.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/tls.h"
#include "cmd/search/options.h"

namespace cmd {

void AddTlsFlags(CLI::App& app, ServingOptions& s) {
  app.add_option_function<std::string>(
         "--tls-min-version",
         [&s](const std::string& text) {
           if (text != "VersionTLS12" && text != "VersionTLS13" && !text.empty()) {
             throw CLI::ValidationError(
                 "--tls-min-version",
                 absl::StrCat("\"", text, "\" is neither VersionTLS12 nor VersionTLS13"));
           }
           s.only_tls13 = text == "VersionTLS13";
         },
         "VersionTLS12 or VersionTLS13")
      ->type_name("VERSION")
      ->default_str("VersionTLS12");
  app.add_option_function<std::vector<int>>(
         "--tls-curve-preferences",
         [&s](const std::vector<int>& numbers) {
           const absl::StatusOr<std::string> groups = tls::KeyExchangeGroups(numbers);
           if (!groups.ok()) {
             throw CLI::ValidationError("--tls-curve-preferences",
                                        std::string(groups.status().message()));
           }
           s.tls_groups = *groups;
         },
         "groups for exchanging keys that clients may choose from, by their numbers in TLS: 23 "
         "(P-256), 24 (P-384), 25 (P-521), 29 (X25519), 4588 (X25519MLKEM768, which OpenSSL has "
         "from 3.5 on); default: those that OpenSSL allows")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NUMBERS");
}

}  // namespace cmd
