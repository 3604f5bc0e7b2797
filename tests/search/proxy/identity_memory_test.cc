#include "search/proxy/internal/identity_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace search {
namespace {

constexpr char kMessage[] =
    "userextras.authentication.k8s.io \"x\" is forbidden: User \"a\" cannot impersonate resource "
    "\"userextras/scopes\" in API group \"authentication.k8s.io\" at the cluster scope";

std::string Field(uint32_t number, absl::string_view contents) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  const size_t size = contents.size();
  if (size < 128) return absl::StrCat(out, std::string(1, static_cast<char>(size)), contents);
  out += static_cast<char>((size & 127) | 128);
  out += static_cast<char>(size >> 7);
  return absl::StrCat(out, contents);
}

// A Status as apiserver encodes it for a client that asks for protobuf.
std::string Protobuf(absl::string_view message, absl::string_view kind) {
  const std::string status = absl::StrCat(
      Field(1, ""), Field(2, "Failure"), Field(3, message), Field(4, "Forbidden"),
      Field(5, absl::StrCat(Field(1, "x"), Field(2, "authentication.k8s.io"), Field(3, kind))),
      "\x30\x93\x03");
  const std::string type = absl::StrCat(Field(1, "v1"), Field(2, "Status"));
  return absl::StrCat(std::string("k8s\0", 4), Field(1, type), Field(2, status), Field(3, ""),
                      Field(4, ""));
}

TEST_CASE("a member's refusal of uids and extras is known in the forms that clients ask for") {
  CHECK(RefusesWholeIdentity(Protobuf(kMessage, "userextras")));
  CHECK(RefusesWholeIdentity(Protobuf(kMessage, "uids")));
  CHECK(RefusesWholeIdentity(
      R"({"kind":"Status","reason":"Forbidden","message":"cannot impersonate resource \"uids\"",
          "details":{"group":"authentication.k8s.io","kind":"uids"}})"));
}

TEST_CASE("other refusals are none of uids and extras") {
  CHECK_FALSE(RefusesWholeIdentity(Protobuf("pods is forbidden", "userextras")));
  CHECK_FALSE(RefusesWholeIdentity(Protobuf(kMessage, "pods")));
  CHECK_FALSE(RefusesWholeIdentity(Protobuf(kMessage, "uids").substr(0, 60)));
  CHECK_FALSE(RefusesWholeIdentity(kMessage));
  CHECK_FALSE(RefusesWholeIdentity(""));
  CHECK_FALSE(RefusesWholeIdentity(std::string("k8s\0", 4)));
}

}  // namespace
}  // namespace search
