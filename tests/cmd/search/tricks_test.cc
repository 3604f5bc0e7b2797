// Requests that two programs could read differently, sent to the whole program as bytes: each is
// refused, and nothing behind it on its connection is served.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/cmd/search/search_plane.h"

namespace tests {
namespace {

constexpr char kMark[] = "/readyz/of-the-smuggled-request";

struct Trick {
  std::string name, request;
  int code;
};

std::string Get(absl::string_view target, absl::string_view headers = "") {
  return absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: test\r\n", headers, "\r\n");
}

std::string Post(absl::string_view headers, absl::string_view body) {
  return absl::StrCat("POST ", kProxyPath, "/api/v1/namespaces/default/pods HTTP/1.1\r\n",
                      "Host: test\r\n", headers, "\r\n", body);
}

// Requests whose end is in two places: the second request would be somebody else's.
std::vector<Trick> SmuggledRequests() {
  const std::string hidden = Get(kMark);
  const std::string chunks = absl::StrCat("0\r\n\r\n", hidden);
  return {
      {"length and chunks", Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunks),
       400},
      {"chunks and length", Post("Transfer-Encoding: chunked\r\nContent-Length: 500\r\n", chunks),
       400},
      {"two lengths", Post("Content-Length: 0\r\nContent-Length: 500\r\n", hidden), 400},
      {"one length twice", Post("Content-Length: 0\r\nContent-Length: 0\r\n", hidden), 400},
      {"a list of lengths", Post("Content-Length: 0, 500\r\n", hidden), 400},
      {"a signed length", Post("Content-Length: +0\r\n", hidden), 400},
      {"a space before the colon", Post("Transfer-Encoding : chunked\r\n", chunks), 400},
      {"an unknown encoding", Post("Transfer-Encoding: xchunked\r\n", chunks), 501},
      {"two encodings", Post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", chunks),
       400},
      {"a continued line", Post("X-A: b\r\n Content-Length: 500\r\n", hidden), 400},
      {"a bare line feed", Post("X-A: b\nContent-Length: 500\r\n", hidden), 400},
      {"two hosts", Get("/livez", "Host: other\r\n") + hidden, 400},
      {"a control character in a header", Get("/livez", "X-A: \x01\r\n") + hidden, 400},
      {"a control character in the target", Get("/livez\x01") + hidden, 400},
  };
}

TEST_CASE("a request cannot hide another one, and a target has one meaning") {
  SearchPlane plane;
  plane.CreateRegistry("all", "member1, member2");
  for (const Trick& trick : SmuggledRequests()) {
    CAPTURE(trick.name);
    const std::string answers = plane.Exchange(trick.request);
    CAPTURE(answers);
    CHECK(absl::StartsWith(answers, absl::StrCat("HTTP/1.1 ", trick.code, " ")));
    // One answer only.
    const std::vector<std::string> parts = absl::StrSplit(answers, "HTTP/1.1 ");
    CHECK(parts.size() == 2);
  }

  const std::string pods = absl::StrCat(kProxyPath, "/api/v1/namespaces/default/pods");
  const std::string secrets = "/api/v1/namespaces/karmada-cluster/secrets";
  const std::string twice = "Impersonate-User: bob\r\n";
  const std::vector<Trick> tricks = {
      {"dots", Get(absl::StrCat(pods, "/../../karmada-cluster/secrets")), 400},
      {"encoded dots", Get(absl::StrCat(pods, "/%2e%2E/secrets")), 400},
      {"an encoded slash", Get(absl::StrCat(kProxyPath, "/api/v1/namespaces/a%2Fsecrets")), 400},
      {"a backslash", Get(absl::StrCat(kProxyPath, "/api/v1/namespaces\\a")), 400},
      {"an empty segment", Get(absl::StrCat(kProxyPath, "/", secrets)), 400},
      {"an encoded line break", Get(absl::StrCat(pods, "%0d%0aX:%201")), 400},
      {"half an encoding", Get(absl::StrCat(pods, "%2")), 400},
      {"a fragment in the query", Get(absl::StrCat(pods, "?limit=1#/../x")), 400},
      {"a fragment in the path", Get(absl::StrCat(pods, "#x")), 400},
      {"the prefix encoded",
       Get(absl::StrCat("/apis/search.karmada.io/v1alpha1/proxyin%67/karmada/proxy", secrets)),
       400},
      {"the proxy in the proxy", Get(absl::StrCat(kProxyPath, kProxyPath, secrets)), 400},
      {"the view with dots", Get(absl::StrCat(kViewPath, "/api/v1/pods/../secrets")), 400},
      {"two users", Get(pods, twice + twice), 400},
      {"two users in two spellings", Get(pods, twice + "impersonate-user: eve\r\n"), 400},
      {"a group without a user", Get(pods, "Impersonate-Group: system:masters\r\n"), 400},
      {"two choices of a cluster",
       Get(absl::StrCat(pods, "?cluster=member1"), "X-Karmada-Cluster: member2\r\n"), 400},
  };
  for (const Trick& trick : tricks) {
    CAPTURE(trick.name);
    const std::string answer = plane.Exchange(absl::StrCat(
        trick.request.substr(0, trick.request.size() - 2), "Connection: close\r\n\r\n"));
    CAPTURE(answer);
    CHECK(absl::StartsWith(answer, absl::StrCat("HTTP/1.1 ", trick.code, " ")));
  }

  const std::string long_head =
      Get("/livez", absl::StrCat("X-A: ", std::string(100'000, 'a'), "\r\n"));
  const std::string refused = plane.Exchange(long_head);
  // The connection may be gone before the answer has been read.
  CHECK((refused.empty() || absl::StartsWith(refused, "HTTP/1.1 4")));
  CHECK(plane.Get("/livez").code == 200);
}

TEST_CASE("who says nothing about himself cannot send much") {
  SearchPlane plane;
  const std::string answer =
      plane.ExchangeAs({}, Post("Content-Length: 1000000\r\n", std::string(100'000, 'x')));
  CHECK((answer.empty() || absl::StartsWith(answer, "HTTP/1.1 401 ")));
  // Nor can who says something that counts for nothing; the rest of the body never comes.
  const std::string liar = plane.ExchangeAs(
      {}, Post("Authorization: Bearer x\r\nContent-Length: 1000000\r\n", std::string(20'000, 'x')));
  CHECK(absl::StartsWith(liar, "HTTP/1.1 401 "));
}

}  // namespace
}  // namespace tests
