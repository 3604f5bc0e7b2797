// One of three holds the writer: the pool, which has a piece of work for it, the stream, until
// there is room, or nobody, when the stream is closed.
#include "search/proxy/internal/compressed_pieces.h"

#include <string>
#include <utility>

#include "base/gzip.h"

namespace search {
namespace {

class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(std::shared_ptr<base::HttpStream> stream,
         std::function<std::optional<base::SharedBytes>()> next, kube::aggregation::WorkPool& pool)
      : stream_(std::move(stream)), next_(std::move(next)), pool_(pool) {}

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
    std::string bytes;
    const std::optional<base::SharedBytes> piece = next_();
    if (piece.has_value()) {
      gzip_.Write(**piece, bytes);
    } else {
      gzip_.Finish(bytes);
    }
    if (!bytes.empty() && !stream_->Write(std::move(bytes))) return;
    if (!piece.has_value()) return stream_->Close();
    Continue();
  }

  const std::shared_ptr<base::HttpStream> stream_;
  const std::function<std::optional<base::SharedBytes>()> next_;
  kube::aggregation::WorkPool& pool_;
  base::GzipStream gzip_;
};

}  // namespace

void WriteCompressed(std::shared_ptr<base::HttpStream> stream,
                     std::function<std::optional<base::SharedBytes>()> next,
                     kube::aggregation::WorkPool& pool) {
  std::make_shared<Writer>(std::move(stream), std::move(next), pool)->Continue();
}

}  // namespace search
