#include "kube/cache/internal/failure_log.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_clock.h"

namespace kube::internal {
namespace {

using Lines = std::vector<std::string>;

struct Fixture {
  tests::FakeClock clock;
  FailureLog log;
  std::map<std::string, Resource> resources;  // By server and plural, one for each informer.

  FailureLog::Cache Cache(const std::string& plural, const std::string& server = "m1") {
    Resource& resource = resources[server + plural];
    resource = {{"", "v1", plural}, plural, true};
    return {&resource, server, resource};
  }
  // Reports the failure of a watch whose connection broke.
  void Break(const FailureLog::Cache& cache, const std::string& why = "cut off") {
    log.Failed(cache,
               absl::UnavailableError(absl::StrCat("watch ", cache.resource.plural, ": ", why)),
               clock.SteadyNow());
  }
  Lines Due(absl::Duration later = absl::ZeroDuration()) {
    clock.Advance(later);
    Lines lines;
    for (const FailureLog::Report& report : log.TakeDue(clock.SteadyNow())) {
      lines.push_back(absl::StrCat(report.count, " ", report.what, ": ",
                                   report.error.ok() ? "well" : report.error.message()));
    }
    return lines;
  }
};

TEST_CASE_METHOD(Fixture, "caches that fail alike are one line, and one when they are well again") {
  const Lines kinds = {"pods", "nodes", "secrets", "services", "events"};
  for (const std::string& kind : kinds) Break(Cache(kind));
  CHECK(Due().empty());
  CHECK(Due(FailureLog::kGather) ==
        Lines{"5 v1/events, v1/nodes, v1/pods and 2 more of m1: watch pods: cut off"});
  CHECK(Due(absl::Seconds(10)).empty());
  for (const std::string& kind : kinds) {
    CHECK(Due().empty());
    log.Succeeded(Cache(kind));
  }
  CHECK(Due() == Lines{"5 v1/events, v1/nodes, v1/pods and 2 more of m1: well"});
  CHECK(Due(absl::Seconds(10)).empty());
}

TEST_CASE_METHOD(Fixture, "different errors are lines of their own") {
  Break(Cache("pods"));
  Break(Cache("secrets"), "code 401");
  Break(Cache("services"), "code 403");
  CHECK(Due(FailureLog::kGather) == Lines{"1 v1/secrets of m1: watch secrets: code 401",
                                          "1 v1/services of m1: watch services: code 403",
                                          "1 v1/pods of m1: watch pods: cut off"});
}

TEST_CASE_METHOD(Fixture, "a cache that fails later than others is a line of its own") {
  Break(Cache("pods"));
  CHECK(Due(FailureLog::kGather).size() == 1);
  Break(Cache("secrets"));
  CHECK(Due().empty());
  CHECK(Due(FailureLog::kGather) == Lines{"1 v1/secrets of m1: watch secrets: cut off"});
}

TEST_CASE_METHOD(Fixture, "a failure that ends at once is reported before its end") {
  Break(Cache("pods"));
  log.Succeeded(Cache("pods"));
  CHECK(Due() == Lines{"1 v1/pods of m1: watch pods: cut off", "1 v1/pods of m1: well"});
}

TEST_CASE_METHOD(Fixture, "an error that becomes another one is not a recovery") {
  Break(Cache("pods"));
  CHECK(Due(FailureLog::kGather).size() == 1);
  Break(Cache("pods"), "no route to host");
  CHECK(Due(FailureLog::kGather) == Lines{"1 v1/pods of m1: watch pods: no route to host"});
  log.Succeeded(Cache("pods"));
  CHECK(Due() == Lines{"1 v1/pods of m1: well"});
}

TEST_CASE_METHOD(Fixture, "a resource that is not wanted any more holds up no line") {
  Break(Cache("pods"));
  Break(Cache("secrets"));
  CHECK(Due(FailureLog::kGather).size() == 1);
  log.Succeeded(Cache("secrets"));
  CHECK(Due().empty());
  log.Forget(Cache("pods"));
  CHECK(Due() == Lines{"1 v1/secrets of m1: well"});
}

TEST_CASE_METHOD(Fixture, "each server has a line, for all informers of it") {
  FailureLog::Cache again = Cache("pods");
  again.informer = this;
  Break(Cache("pods"));
  Break(again);
  Break(Cache("pods", "m2"));
  CHECK(Due(FailureLog::kGather) ==
        Lines{"2 v1/pods of m1: watch pods: cut off", "1 v1/pods of m2: watch pods: cut off"});
  log.Succeeded(again);
  CHECK(Due().empty());
  log.Succeeded(Cache("pods"));
  CHECK(Due() == Lines{"2 v1/pods of m1: well"});
}

}  // namespace
}  // namespace kube::internal
