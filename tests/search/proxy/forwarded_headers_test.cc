// What members get to know about the caller, and what a caller cannot make them believe.
#include "search/proxy/internal/forwarded_headers.h"

#include <catch2/catch.hpp>

#include "tests/search/proxy/requests.h"

namespace search {
namespace {

TEST_CASE("a request is made on behalf of its caller") {
  const kube::aggregation::UserInfo caller = {
      "bob",
      "uid-1",
      {"dev", "system:authenticated", "ops", "system:unauthenticated"},
      {{"example.com/scopes", {"a", "b"}}, {"plain", {"c"}}}};
  CHECK(ImpersonationHeaders(caller, Identity::kWhole) ==
        Headers{{"Impersonate-User", "bob"},
                {"Impersonate-Group", "dev"},
                {"Impersonate-Group", "ops"},
                {"Impersonate-Uid", "uid-1"},
                {"Impersonate-Extra-example.com%2Fscopes", "a"},
                {"Impersonate-Extra-example.com%2Fscopes", "b"},
                {"Impersonate-Extra-plain", "c"}});
  CHECK(ImpersonationHeaders(caller, Identity::kNameAndGroups) ==
        Headers{{"Impersonate-User", "bob"},
                {"Impersonate-Group", "dev"},
                {"Impersonate-Group", "ops"}});
}

TEST_CASE("headers by which a caller could pass for another are not passed on") {
  base::HttpRequest request;
  for (const char* name :
       {"Accept", "Authorization", "Cookie", "Impersonate-Extra-Scopes", "Impersonate-Group",
        "Impersonate-Uid", "Impersonate-User", "Proxy-Authorization", "User-Agent", "X-Custom",
        "X-Custom", "X-Real-IP", "X-Remote-Group", "X-Remote-User"}) {
    SetHeader(request, name, "1");
  }
  RemoveIdentity(request);
  CHECK(request.fields ==
        Headers{{"Accept", "1"}, {"User-Agent", "1"}, {"X-Custom", "1"}, {"X-Custom", "1"}});
  CHECK(request.headers.size() == 3);
}

}  // namespace
}  // namespace search
