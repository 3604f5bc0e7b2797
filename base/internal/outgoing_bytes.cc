#include "base/internal/outgoing_bytes.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace base::internal {
namespace {

// A shared piece of this size is not joined with others.
constexpr size_t kAloneBytes = 16 << 10;
// The places of so many pieces that were taken stay, at most, in a queue that never becomes empty.
constexpr size_t kTakenKept = 256;

}  // namespace

void OutgoingBytes::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  const bool fits = next_ < pieces_.size() && !pieces_.back().shared &&
                    pieces_.back().copied.size() + bytes.size() <= kBlockBytes;
  if (!fits) pieces_.emplace_back();
  pieces_.back().copied.append(bytes.data(), bytes.size());
}

void OutgoingBytes::Append(SharedBytes bytes) {
  if (bytes == nullptr || bytes->empty()) return;
  size_ += bytes->size();
  pieces_.push_back({{}, std::move(bytes)});
}

void OutgoingBytes::Append(std::string&& bytes) {
  if (bytes.size() < kAloneBytes) return Append(absl::string_view(bytes));
  Append(std::make_shared<const std::string>(std::move(bytes)));
}

void OutgoingBytes::Clear() { *this = {}; }

bool OutgoingBytes::IsAlone(const Block& piece) {
  return piece.shared && piece.shared->size() >= kAloneBytes;
}

OutgoingBytes::Block OutgoingBytes::Take() {
  Block block;
  if (next_ == pieces_.size()) return block;
  if (IsAlone(pieces_[next_])) {
    block = std::move(pieces_[next_++]);
  } else {
    block.copied = Join();
  }
  size_ -= block.bytes().size();
  if (next_ == pieces_.size()) Clear();
  if (next_ > kTakenKept && next_ > pieces_.size() / 2) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  return block;
}

// Takes at least one piece.
std::string OutgoingBytes::Join() {
  Block& first = pieces_[next_++];
  std::string joined = first.shared ? *first.shared : std::move(first.copied);
  first = {};
  while (next_ < pieces_.size() && !IsAlone(pieces_[next_]) &&
         joined.size() + pieces_[next_].bytes().size() <= kBlockBytes) {
    const absl::string_view bytes = pieces_[next_].bytes();
    joined.append(bytes.data(), bytes.size());
    pieces_[next_++] = {};
  }
  return joined;
}

}  // namespace base::internal
