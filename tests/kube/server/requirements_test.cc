// How many requirements selectors may have.
#include "kube/server/requirements.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"
#include "kube/server/list_options.h"

namespace kube::server {
namespace {

TEST_CASE("requirements are counted before they are read") {
  const auto count = [](const std::string& labels, const std::string& fields) {
    base::HttpRequest request;
    request.query = {{"labelSelector", labels}, {"fieldSelector", fields}};
    const size_t counted = CountRequirements(request);
    const auto options = ListOptions::Read(request);
    if (options.ok()) {
      CHECK(counted >= options->labels.requirements().size() + options->fields.terms().size());
    }
    return counted;
  };
  CHECK(count("", "") == 0);
  CHECK(count("a=b", "") == 1);
  CHECK(count("a in (b,c,d),!e,f notin (g,h),i=j", "") == 4);
  CHECK(count("a", "b=c,d!=e") == 3);
  CHECK(count("", R"(b=c\,d,e=f\\,g=h)") == 3);
  CHECK(count("", ",,b=c,,d=e,") == 2);
  CHECK(count("a),b),c", "") == 3);
}

TEST_CASE("selectors have a thousand requirements at most, of labels and fields together") {
  std::string labels = "a", fields = "metadata.name=a";
  for (int i = 1; i < 500; ++i) {
    absl::StrAppend(&labels, ",!a", i);
    absl::StrAppend(&fields, ",metadata.name!=a", i);
  }
  base::HttpRequest request;
  request.query = {{"labelSelector", labels}, {"fieldSelector", fields}};
  const RequestInfo list{.is_resource = true, .verb = "list"};
  CHECK(CheckRequirements(list, request).ok());
  request.query[0].second += ",b";
  const ApiError error = ErrorOf(CheckRequirements(list, request));
  CHECK(error.code == 400);
  CHECK(error.message ==
        "the selectors have 1001 requirements, at most 1000 may be; sets of values are one: a in "
        "(b, c)");
  CHECK(CheckRequirements({.is_resource = true, .verb = "get"}, request).ok());
}

}  // namespace
}  // namespace kube::server
