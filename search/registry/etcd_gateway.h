// etcd's v3 API through its JSON gateway: calls and one kind of stream, over several servers.
//
// A call is sent to the server that answered last. A server that does not answer, or that has no
// leader, is passed over for the next one, within one deadline; a write only if it certainly was
// not processed, for etcd cannot be asked afterwards whether it was.
#ifndef SEARCH_REGISTRY_ETCD_GATEWAY_H_
#define SEARCH_REGISTRY_ETCD_GATEWAY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/http/transport.h"

namespace search {

// A member of a gateway's answer that protobuf's JSON writes as a string: "revision": "12".
int64_t EtcdInt(const json::Value& v);
// Bytes are in base64.
std::string EtcdBytes(absl::string_view bytes);
absl::StatusOr<std::string> BytesFromEtcd(const json::Value& v);

// Thread-safe.
class EtcdGateway {
 public:
  struct Server {
    std::string url;  // Without credentials, for messages.
    std::shared_ptr<kube::Transport> transport;
  };
  // REQUIRES: `servers` is not empty; `clock` outlives the gateway.
  EtcdGateway(std::vector<Server> servers, const base::Clock& clock)
      : servers_(std::move(servers)), clock_(clock) {}

  struct Call {
    std::string path;  // "/v3/kv/range".
    json::Value body;
    bool write = false;
    absl::Duration timeout;
  };
  // Returns the answer's document. kOutOfRange: the revision has been compacted. kUnavailable and
  // kDeadlineExceeded: no server could do it; the message names each with its reason.
  absl::StatusOr<json::Value> Send(const Call& call, const base::StopToken& stop);

  struct WatchCallbacks {
    // A WatchResponse. An error ends the watch with it.
    std::function<absl::Status(const json::Value& result)> on_result;
    // Called once, last, as RegistryWatchHandler::OnEnd.
    std::function<void(absl::Status)> on_end;
  };
  // Opens a watch on the server that answered last. Destroying the stream ends it.
  std::unique_ptr<kube::HttpStream> Watch(const json::Value& request, WatchCallbacks callbacks);

 private:
  absl::StatusOr<json::Value> SendTo(const Server& server, const Call& call, absl::Duration timeout,
                                     const base::StopToken& stop);

  const std::vector<Server> servers_;
  const base::Clock& clock_;
  std::atomic<size_t> good_{0};  // The server that answered last.
};

struct EtcdOptions;
// The errors are those of NewEtcdStore (etcd_store.h).
absl::StatusOr<std::unique_ptr<EtcdGateway>> NewEtcdGateway(const EtcdOptions& options,
                                                            const base::Clock& clock);

}  // namespace search

#endif  // SEARCH_REGISTRY_ETCD_GATEWAY_H_
