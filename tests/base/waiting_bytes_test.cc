// Whose connection is cut when too much waits.
#include "base/internal/waiting_bytes.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

using base::internal::WaitingBytes;

struct Fixture {
  WaitingBytes bytes{100};
  std::string cut;
  WaitingBytes::Account a{[this] { cut += 'a'; }}, b{[this] { cut += 'b'; }},
      c{[this] { cut += 'c'; }};
};

TEST_CASE("who has waited longest without progress is cut") {
  Fixture f;
  f.bytes.Set(f.a, 40, false);
  f.bytes.Set(f.b, 40, false);
  f.bytes.Set(f.a, 30, /*progress=*/true);
  CHECK(f.bytes.IsTight());
  f.bytes.Set(f.c, 40, false);
  CHECK(f.cut == "b");
  // What it has still to say counts no more.
  f.bytes.Set(f.b, 1000, false);
  CHECK(f.cut == "b");
  f.bytes.Set(f.c, 80, false);
  CHECK(f.cut == "ba");
}

TEST_CASE("nobody is cut for what has been taken") {
  Fixture f;
  f.bytes.Set(f.a, 90, false);
  f.bytes.Set(f.a, 0, true);
  f.bytes.Set(f.b, 90, false);
  f.bytes.End(f.b);
  CHECK_FALSE(f.bytes.IsTight());
  f.bytes.Set(f.c, 100, false);
  CHECK(f.cut.empty());
}

TEST_CASE("more than all may have is too much for one") {
  Fixture f;
  f.bytes.Set(f.a, 101, false);
  CHECK(f.cut == "a");
}

}  // namespace
