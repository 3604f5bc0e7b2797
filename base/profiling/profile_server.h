// Serves profiles of this process to `go tool pprof`.
#ifndef BASE_PROFILING_PROFILE_SERVER_H_
#define BASE_PROFILING_PROFILE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace profiling {

// Answers, as Go's net/http/pprof does, without authentication:
//
//   /debug/pprof/                      what there is
//   /debug/pprof/profile?seconds=30    a CPU profile (at most 300 s)
//   /debug/pprof/heap                  the memory in use
//   /debug/pprof/symbol                names of addresses, for a pprof without the program's file
//   /debug/pprof/cmdline               the command line
//
// Go's other profiles are about Go's runtime: they are answered with 404 and that reason.
class ProfileServer {
 public:
  // kUnavailable when the address (host:port) cannot be bound; the message names the address.
  // REQUIRES: `clock` outlives the server.
  static absl::StatusOr<std::unique_ptr<ProfileServer>> Start(const std::string& address,
                                                              const base::Clock& clock);
  virtual ~ProfileServer() = default;  // Ends a profile that is being taken.
  virtual int port() const = 0;
};

}  // namespace profiling

#endif  // BASE_PROFILING_PROFILE_SERVER_H_
