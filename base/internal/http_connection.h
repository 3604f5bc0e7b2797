// The server's side of one HTTP/1.1 connection. Private to base/.
#ifndef BASE_INTERNAL_HTTP_CONNECTION_H_
#define BASE_INTERNAL_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/internal/body_budget.h"
#include "base/internal/http_exchange.h"
#include "base/internal/outgoing_bytes.h"
#include "base/internal/tls_socket.h"
#include "base/internal/waiting_bytes.h"

namespace base::internal {

class HttpConnection;

// The open connections of a server. Thread-safe.
class ConnectionTable {
 public:
  // At most `max` connections, of which `max_unready` may not be ready (OnReady). REQUIRES: both
  // are above 0.
  ConnectionTable(size_t max, size_t max_unready) : max_(max), max_unready_(max_unready) {}
  // Returns false, without adding, once the table is sealed. If there are too many connections, the
  // one that waits longest, or the oldest that is not ready, is cut for the new one, so that
  // clients that open connections and keep them do not keep others out.
  bool Add(std::shared_ptr<HttpConnection> connection);
  // The connection is ready.
  void NoteReady(const HttpConnection* connection);
  void Remove(const HttpConnection* connection);
  std::vector<std::shared_ptr<HttpConnection>> All() const;
  // Waits until no connection is open; returns false after `patience`.
  bool AwaitNone(absl::Duration patience) const;
  void Seal();

 private:
  // REQUIRES: the table is not empty.
  std::shared_ptr<HttpConnection> TakeLongestWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns nullptr when the table does not have it.
  std::shared_ptr<HttpConnection> Take(const HttpConnection* connection)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Entry {
    std::shared_ptr<HttpConnection> connection;
    uint64_t number;  // In the order of their coming.
  };

  const size_t max_, max_unready_;
  mutable absl::Mutex mu_;
  bool sealed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const HttpConnection*, Entry> open_ ABSL_GUARDED_BY(mu_);
  absl::btree_map<uint64_t, const HttpConnection*> unready_ ABSL_GUARDED_BY(mu_);  // By number.
};

// What all connections of a server share. It must outlive them.
struct ConnectionContext {
  const HttpServerOptions& options;
  const HttpHandler& handler;
  ConnectionTable& table;
  BodyBudget& bodies;
  std::shared_ptr<WaitingBytes> outputs;
  WaitingBytes& heads;
  std::shared_ptr<ServerThreads> threads;
  const std::atomic<bool>& draining;
};

// What a connection knows about its peer.
struct PeerFacts {
  tls::PeerIdentity identity;
  std::shared_ptr<const tls::PeerCertificates> certificates;
  std::string address;
  bool secure = false;
};

// One state machine for plain and TLS connections: read a request, let the handler answer, write,
// repeat. A read is pending all the time, so that a peer that closes the connection is noticed
// while its answer is still being made. All protected and private functions run on the connection's
// strand.
class HttpConnection : public OutputListener, public std::enable_shared_from_this<HttpConnection> {
 public:
  // Starts serving. REQUIRES: is called once.
  virtual void Start() = 0;
  // Cuts the connection soon. Thread-safe.
  void Cut();
  // Closes the connection soon if nothing of a request has come. Thread-safe.
  void CloseIfIdle();
  // Returns whether the peer is too late with its request, or with reading an answer. Thread-safe.
  bool IsOverdue() const;
  // The order in which connections make room for others: first those that wait for their peer's
  // next request, then those that answer one; among these, the one that has done so longest.
  // Thread-safe.
  friend bool operator<(const HttpConnection& a, const HttpConnection& b);

 protected:
  using ErrorCode = boost::system::error_code;
  explicit HttpConnection(const ConnectionContext& context);
  ~HttpConnection() override;

  // The functions of the transport. Read and Write must end in OnRead and OnWritten.
  virtual void Post(std::function<void()> work) = 0;
  virtual void Read(boost::asio::mutable_buffer into) = 0;
  virtual void Write(absl::string_view bytes) = 0;
  virtual void SendEnd() = 0;  // Shuts down the sending direction; ignores failures.
  // Returns whether reading can go on after SendEnd.
  virtual bool CanHalfClose() const = 0;
  virtual void CloseSocket() = 0;
  virtual PeerFacts Peer() = 0;

  void OnReady();  // Must be called when the transport can read and write.
  void OnRead(const ErrorCode& error, size_t count);
  void OnWritten(const ErrorCode& error);
  void LimitRequestTime();  // Sets the deadline for a handshake or a request.
  void Close();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void Wake() override;
  void CutSoon() override;
  void BeginTurn(bool answering);
  void SetDeadline(absl::Duration from_now);
  void ClearDeadline();
  void NextRequest(absl::Duration timeout);
  void ReadMore();
  void OnEnd();
  void DeliverIncoming();
  void CountTunnelInput();
  void Parse();
  bool CheckHead();
  bool Feed();
  bool AcceptHead();
  bool ReviewHead();
  // Counts what has come of a head that is not complete.
  void CountHead();
  // Returns false when there is no room for the body of the current request, whose owner the
  // verdict names.
  bool TakeBodyShare(const HttpHeadVerdict& verdict);
  void OnReviewed(const HttpHeadVerdict& verdict);
  // The place of a body, numbered as in bodies_, has been given to somebody else.
  void LoseBodyShare(uint64_t body);
  bool IsOversized() const;
  void ContinueIfExpected();
  void Dispatch();
  bool StaysOpen();
  HttpRequest ReadHead() const;
  static HttpResponse MalformedRequest(absl::string_view why);
  void Refuse(const ErrorCode& error);
  void Refuse(const HttpResponse& answer);
  void Queue(absl::string_view bytes);
  void Pump();
  void WriteNext();
  void WatchExchange();
  void WatchTunnel();
  void PumpExchange();
  void LimitWriteTime();
  void EndTunnelOutput();
  void EndExchange();
  void Linger();

  const ConnectionContext& context_;
  const int64_t started_nanos_;  // By the steady clock, as the next ones.
  std::atomic<int64_t> deadline_nanos_{INT64_MAX};
  std::atomic<bool> answering_ = false;        // False while it waits for a request.
  std::atomic<int64_t> turn_began_nanos_ = 0;  // When that state began.
  PeerFacts peer_;
  size_t requests_ = 0;
  std::vector<char> incoming_;          // The buffer of the pending read.
  boost::beast::flat_buffer buffer_;    // Bytes that were read and not parsed yet.
  std::optional<Parser> parser_;        // The parser of the current request.
  WaitingBytes::Account head_account_;  // Of a head that is not complete.
  std::optional<HttpRequest> request_;  // The head of the current request, once it has come.
  BodyBudget::PlacePtr body_place_;     // While a long body is being received.
  uint64_t bodies_ = 0;                 // How many of them there have been.
  std::shared_ptr<Exchange> exchange_;  // The exchange whose answer is being sent.
  std::string queued_;                  // Interim and error answers that wait to be written.
  OutgoingBytes::Block writing_;
  size_t last_read_ = 0;  // How many bytes have come with the last read.
  bool read_pending_ = false;
  bool write_pending_ = false;
  bool head_checked_ = false;  // The head of the current request has passed FlawOf().
  std::string parsed_head_;    // What the parser has taken of a head that is not complete yet.
  bool continued_ = false;     // "100 Continue" has been sent.
  bool reviewing_ = false;     // The head of the current request is being reviewed.
  bool refused_ = false;       // An error answer has been queued; nothing more is parsed.
  bool lingering_ = false;     // The last answer has been sent; waits for the peer to close.
  bool peer_ended_ = false;    // The peer sends no more, but may still read.
  bool tunnelling_ = false;    // The answer is an upgrade.
  bool output_ended_ = false;  // All bytes for the tunnel have been written.
  bool input_ended_ = false;   // The reader of the tunnel knows that the peer has ended.
  bool closed_ = false;
};

std::shared_ptr<HttpConnection> NewPlainConnection(const ConnectionContext& context, Socket socket);
// The connection keeps `tls` as long as it lives.
std::shared_ptr<HttpConnection> NewTlsConnection(const ConnectionContext& context, Socket socket,
                                                 std::shared_ptr<boost::asio::ssl::context> tls);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_CONNECTION_H_
