// karmada-search as one object: it connects, wires the parts, serves, and ends without a broken
// answer.
//
//   ASSIGN_OR_RETURN(auto server, SearchServer::Start(options, connections, stop));
//   server->Run(stop);
#ifndef CMD_SEARCH_SERVER_H_
#define CMD_SEARCH_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"

namespace cmd {

class SearchServer {
 public:
  // Blocks until the server listens: until the control plane has said whom to believe. Errors name
  // the flag, file or server that cannot be used. Everything else (storage, members) may come
  // later; /readyz says what is missing.
  static absl::StatusOr<std::unique_ptr<SearchServer>> Start(const SearchOptions& options,
                                                             const Connections& connections,
                                                             const base::StopToken& stop);
  virtual ~SearchServer() = default;
  virtual int port() const = 0;
  // Serves until stopped, and then ends the service. Blocks. Returns whether all answers were
  // finished.
  virtual bool Run(const base::StopToken& stop) = 0;
};

}  // namespace cmd

#endif  // CMD_SEARCH_SERVER_H_
