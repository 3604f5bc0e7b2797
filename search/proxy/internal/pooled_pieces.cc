// One of three holds the writer: the pool, which has a piece of work for it, the stream, until
// there is room, or nobody, when the stream is closed.

#include "search/proxy/internal/pooled_pieces.h"

#include <string>
#include <utility>

#include "base/gzip.h"

namespace search {
namespace {

class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(std::shared_ptr<base::HttpStream> stream,
         std::function<std::optional<base::SharedBytes>()> next, bool gzip,
         kube::aggregation::WorkPool& pool)
      : stream_(std::move(stream)), next_(std::move(next)), pool_(pool) {
    if (gzip) gzip_.emplace();
  }

  void Continue() {
    const auto self = shared_from_this();
    if (!stream_->HasRoom()) {
      return stream_->OnRoom([self] { self->Enqueue(); });
    }
    Enqueue();
  }

 private:
  void Enqueue() {
    // A pool that has too much to do takes nothing more; then the one who had room goes on.
    if (!pool_.Run([self = shared_from_this()] { self->WritePiece(); })) WritePiece();
  }

  void WritePiece() {
    const std::optional<base::SharedBytes> piece = next_();
    std::string bytes = Encoded(piece);
    if (!bytes.empty() && !stream_->Write(std::move(bytes))) return;
    if (!piece.has_value()) return stream_->Close();
    Continue();
  }

  std::string Encoded(const std::optional<base::SharedBytes>& piece) {
    if (!gzip_.has_value()) return piece.has_value() ? std::string(**piece) : "";
    std::string bytes;
    if (piece.has_value()) {
      gzip_->Write(**piece, bytes);
    } else {
      gzip_->Finish(bytes);
    }
    return bytes;
  }

  const std::shared_ptr<base::HttpStream> stream_;
  const std::function<std::optional<base::SharedBytes>()> next_;
  kube::aggregation::WorkPool& pool_;
  std::optional<base::GzipStream> gzip_;
};

}  // namespace

void WritePooled(std::shared_ptr<base::HttpStream> stream,
                 std::function<std::optional<base::SharedBytes>()> next, bool gzip,
                 kube::aggregation::WorkPool& pool) {
  std::make_shared<Writer>(std::move(stream), std::move(next), gzip, pool)->Continue();
}

}  // namespace search
