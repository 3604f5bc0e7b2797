// karmada-search as one object: it connects, wires the parts, serves, and ends without a broken
// answer.
//
//   ASSIGN_OR_RETURN(auto server, SearchServer::Start(options, connections, stop));
//   const absl::Status ended = server->Run(stop);
#ifndef CMD_SEARCH_SERVER_H_
#define CMD_SEARCH_SERVER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"

namespace cmd {

// Returns how long the end of a server may take: the delay, the requests that have begun, and what
// is behind them.
absl::Duration StopLimit(const ServingOptions& serving);

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
  // Serves until stopped, or until the control plane has become one of another release, and then
  // ends the service: it is not ready any more, waits as options.serving says, and finishes what
  // has begun. Blocks. In the second case config::IsOtherRelease holds for the error; it is
  // kDeadlineExceeded if answers could not be finished in time, and OK otherwise.
  virtual absl::Status Run(const base::StopToken& stop) = 0;
};

}  // namespace cmd

#endif  // CMD_SEARCH_SERVER_H_
