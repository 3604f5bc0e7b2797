#include "base/internal/outgoing_bytes.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace {

using base::SharedBytes;
using base::internal::OutgoingBytes;

SharedBytes Shared(size_t size) { return std::make_shared<const std::string>(size, 's'); }

std::string TakeAll(OutgoingBytes& queue) {
  std::string all;
  while (queue.size() > 0) {
    const OutgoingBytes::Block block = queue.Take();
    all.append(block.bytes().data(), block.bytes().size());
  }
  return all;
}

TEST_CASE("small pieces become one block, in their order") {
  OutgoingBytes queue;
  queue.Append(absl::string_view("a"));
  queue.Append(std::make_shared<const std::string>("b"));
  queue.Append(std::string("c"));
  queue.Append(absl::string_view());
  CHECK(queue.size() == 3);
  CHECK(queue.Take().copied == "abc");
  CHECK(queue.size() == 0);
  CHECK(queue.Take().bytes().empty());
}

TEST_CASE("a large shared piece is handed on without a copy") {
  OutgoingBytes queue;
  const SharedBytes large = Shared(100 << 10);
  queue.Append(absl::string_view("before"));
  queue.Append(large);
  queue.Append(absl::string_view("after"));
  CHECK(queue.Take().copied == "before");
  CHECK(queue.Take().shared == large);
  CHECK(queue.Take().copied == "after");
}

TEST_CASE("blocks stay small however many pieces wait") {
  OutgoingBytes queue;
  std::string all;
  const SharedBytes piece = Shared(3000);
  for (int i = 0; i < 1000; ++i) {
    queue.Append(piece);
    all += *piece;
  }
  const OutgoingBytes::Block first = queue.Take();
  CHECK(first.copied.size() <= OutgoingBytes::kBlockBytes);
  CHECK(first.copied.size() > OutgoingBytes::kBlockBytes - 3000);
  CHECK(queue.size() == all.size() - first.copied.size());
  CHECK(first.copied + TakeAll(queue) == all);
}

TEST_CASE("a queue that never becomes empty keeps its order") {
  OutgoingBytes queue;
  const SharedBytes large = Shared(20 << 10);
  for (int i = 0; i < 10; ++i) queue.Append(large);
  for (int i = 0; i < 2000; ++i) {
    queue.Append(large);
    REQUIRE(queue.Take().shared == large);
  }
  CHECK(TakeAll(queue).size() == 10 * large->size());
}

}  // namespace
