// The karmada-search beside the clusters of a sandbox, wired as an aggregated API server is:
// clients ask the control plane, which passes requests for the group search.karmada.io on to it.
#ifndef CMD_SANDBOX_SEARCH_BESIDE_H_
#define CMD_SANDBOX_SEARCH_BESIDE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cmd/sandbox/daemon.h"
#include "sandbox/fleet.h"

namespace cmd {

class SearchBeside {
 public:
  // Installs the definitions, starts the program that lies beside this one and has the control
  // plane pass requests on. `directory` has the kubeconfigs of the fleet, and gets the log. The
  // program reads as the user of the kubeconfig, who may do everything. kNotFound when there is no
  // such program. REQUIRES: `fleet` outlives this object.
  static absl::StatusOr<std::unique_ptr<SearchBeside>> Start(sandbox::Fleet& fleet,
                                                             const std::string& directory);
  // Ends the program; requests get a 503 from then on.
  ~SearchBeside();
  SearchBeside(const SearchBeside&) = delete;
  SearchBeside& operator=(const SearchBeside&) = delete;

  Daemon& daemon() { return daemon_; }
  const std::string& url() const { return url_; }  // Its own address.

 private:
  SearchBeside(sandbox::Fleet& fleet, std::vector<std::string> arguments, std::string log_file,
               std::string url)
      : fleet_(fleet), daemon_(std::move(arguments), std::move(log_file)), url_(std::move(url)) {}

  sandbox::Fleet& fleet_;
  Daemon daemon_;
  const std::string url_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_SEARCH_BESIDE_H_
