// Bytes on their way to a connection. Private to base/.
#ifndef BASE_INTERNAL_OUTGOING_BYTES_H_
#define BASE_INTERNAL_OUTGOING_BYTES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/http_server.h"

namespace base::internal {

// A queue of pieces, some of which are shared with others. Small pieces are joined when they are
// taken, because a write has a price (a call of the system, a record of TLS); large ones are handed
// on without a copy. Not thread-safe.
class OutgoingBytes {
 public:
  // What is written at once.
  struct Block {
    std::string copied;
    SharedBytes shared;  // Null, or the whole block.

    absl::string_view bytes() const { return shared ? *shared : absl::string_view(copied); }
  };
  // The most that is joined into one block. A shared piece of more is a block of its own.
  static constexpr size_t kBlockBytes = 64 << 10;

  void Append(absl::string_view bytes);
  void Append(SharedBytes bytes);
  void Append(std::string&& bytes);
  size_t size() const { return size_; }
  void Clear();
  // Removes and returns the first block; an empty one when there is nothing.
  Block Take();

 private:
  static bool IsAlone(const Block& piece);
  std::string Join();

  std::vector<Block> pieces_;
  size_t next_ = 0;  // Where the pieces that were not taken begin.
  size_t size_ = 0;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_OUTGOING_BYTES_H_
