// What handlers hold of an exchange. A handle that is dropped before its work is done aborts the
// answer, because nobody could finish it any more.

#include <memory>
#include <utility>

#include "base/http_server.h"
#include "base/internal/http_exchange.h"

namespace base {
namespace internal {
namespace {

class Stream : public HttpStream {
 public:
  explicit Stream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Stream() override { exchange_->AbortUnlessFinished(); }
  bool Write(std::string bytes) override { return exchange_->Write(std::move(bytes)); }
  bool WriteShared(SharedBytes bytes) override { return exchange_->Write(std::move(bytes)); }
  bool HasRoom() const override { return exchange_->HasRoom(); }
  void OnRoom(std::function<void()> callback) override { exchange_->OnRoom(std::move(callback)); }
  void Close() override { exchange_->Close(); }
  void Abort() override { exchange_->Abort(); }
  void OnClosed(std::function<void()> callback) override {
    exchange_->OnClosed(std::move(callback));
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

class Tunnel : public HttpTunnel {
 public:
  explicit Tunnel(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Tunnel() override { exchange_->AbortUnlessFinished(); }
  void Start(Callbacks callbacks) override { exchange_->StartTunnel(std::move(callbacks)); }
  void Read() override { exchange_->Read(); }
  bool Write(std::string bytes) override { return exchange_->Write(std::move(bytes)); }
  bool HasRoom() const override { return exchange_->HasRoom(); }
  void OnRoom(std::function<void()> callback) override { exchange_->OnRoom(std::move(callback)); }
  void EndWriting() override { exchange_->Close(); }
  void Abort() override { exchange_->Abort(); }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

class Responder : public HttpResponder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Responder() override { exchange_->AbortUnlessStarted(); }
  void Send(HttpResponse response) override { exchange_->Send(std::move(response)); }
  std::shared_ptr<HttpStream> StartStream(HttpResponse head) override {
    exchange_->StartStream(std::move(head));
    return std::make_shared<Stream>(exchange_);
  }
  std::shared_ptr<HttpTunnel> Upgrade(HttpResponse head) override {
    exchange_->Upgrade(head);
    return std::make_shared<Tunnel>(exchange_);
  }
  void Abort() override { exchange_->Abort(); }
  void OnClosed(std::function<void()> callback) override {
    exchange_->OnClosed(std::move(callback));
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

using NextPiece = std::function<std::optional<SharedBytes>()>;

// Writes while there is room, and is called again when there is room once more.
void WriteOn(const std::shared_ptr<HttpStream>& stream, const std::shared_ptr<NextPiece>& next) {
  while (stream->HasRoom()) {
    std::optional<SharedBytes> piece = (*next)();
    if (!piece) return stream->Close();
    if (!stream->WriteShared(*std::move(piece))) return;
  }
  // The stream keeps the callback, and the callback the stream, until it has run.
  stream->OnRoom([stream, next] {
    if (stream->HasRoom()) WriteOn(stream, next);
  });
}

}  // namespace

std::shared_ptr<HttpResponder> NewResponder(std::shared_ptr<Exchange> exchange) {
  return std::make_shared<Responder>(std::move(exchange));
}

}  // namespace internal

void WritePieces(std::shared_ptr<HttpStream> stream,
                 std::function<std::optional<SharedBytes>()> next) {
  internal::WriteOn(stream, std::make_shared<internal::NextPiece>(std::move(next)));
}

}  // namespace base
