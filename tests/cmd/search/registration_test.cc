// What is known of the registries, and when nothing is.
#include "cmd/search/registration.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace cmd {
namespace {

class Fixture {
 public:
  Fixture()
      : scope([this](const kube::Gvk& gvk, const base::StopToken&) { return Resolve(gvk); }, clock),
        is_registered(RegistrationOf(scope)) {
    thread_ = std::thread([this] { scope.Run(stop_.get_token()); });
  }
  ~Fixture() {
    stop_.request_stop();
    thread_.join();
  }

  // "yes", "no", or the code and message of the error.
  std::string Ask(const std::string& path, const std::string& cluster = "") {
    const auto answer = is_registered(kube::server::ReadRequest("GET", path, false), cluster);
    if (answer.ok()) return *answer ? "yes" : "no";
    const kube::server::ApiError error = kube::server::ErrorOf(answer.status());
    CHECK(error.details["retryAfterSeconds"].AsInt() == 1);
    return absl::StrCat(error.code, " ", error.message);
  }
  bool Await(const std::string& path, const std::string& answer) {
    return tests::Eventually([&] { return Ask(path) == answer; });
  }
  void AddRegistry(const std::string& name, const std::string& version, const std::string& kind) {
    kube::Object registry(json::Value::Object());
    registry.Set({"metadata", "name"}, name);
    registry.Set({"spec"}, *json::Parse(absl::StrCat(R"({"resourceSelectors":[{"apiVersion":")",
                                                     version, R"(","kind":")", kind, R"("}]})")));
    scope.SetRegistry(kube::Share(std::move(registry)));
  }

  tests::FakeClock clock;
  std::atomic<bool> discovery_fails = false;  // For example.io.
  search::CacheScope scope;
  const search::IsRegisteredFn is_registered;

 private:
  absl::StatusOr<kube::Resource> Resolve(const kube::Gvk& gvk) const {
    if (gvk.kind == "Pod") return kube::Resource{gvk, "pods", true};
    if (gvk.kind == "Widget" && !discovery_fails) return kube::Resource{gvk, "widgets", true};
    if (gvk.kind == "Widget") return absl::UnavailableError("the server is down");
    return absl::NotFoundError("no such kind");
  }

  base::StopSource stop_;
  std::thread thread_;
};

TEST_CASE("until the registries have been read nothing is known") {
  Fixture f;
  f.AddRegistry("fleet", "v1", "Pod");
  f.AddRegistry("other", "nobody.io/v1", "Thing");
  const std::string refusal = f.Ask("/api/v1/pods");
  CHECK_THAT(refusal, Catch::StartsWith("503 it is not known yet whether pods are served from"));
  CHECK_THAT(refusal, Catch::Contains("waits for the first list of ResourceRegistries"));
  CHECK_THAT(f.Ask("/api/v1/namespaces/a/pods", "member1"), Catch::StartsWith("503 "));
  f.scope.SetSynced();
  // For some seconds a kind that the control plane denies is waited for.
  CHECK(tests::Eventually([&] {
    f.clock.Advance(absl::Seconds(1));
    return f.Ask("/api/v1/pods") == "yes";
  }));
  CHECK(f.Ask("/api/v1/secrets") == "no");
  CHECK(f.Ask("/api/v1/pods", "member1") == "no");
  // A kind that the control plane does not serve is known well enough.
  CHECK(f.Ask("/apis/nobody.io/v1/things") == "no");
}

TEST_CASE("a kind of which discovery says nothing may be registered, whatever its resource is") {
  Fixture f;
  f.AddRegistry("fleet", "v1", "Pod");
  f.scope.SetSynced();
  REQUIRE(f.Await("/api/v1/pods", "yes"));
  f.discovery_fails = true;
  f.AddRegistry("widgets", "example.io/v1", "Widget");
  const std::string refusal =
      "503 it is not known yet whether widgets.example.io are served from the cache of the member "
      "clusters: this server waits for the control plane to resolve the kind example.io/v1, "
      "Kind=Widget, which a ResourceRegistry names";
  CHECK(f.Await("/apis/example.io/v1/widgets", refusal));
  CHECK(f.Ask("/apis/example.io/v2/widgets") == "no");
  CHECK(f.Ask("/api/v1/secrets") == "no");
  CHECK(f.Ask("/api/v1/pods") == "yes");
  f.discovery_fails = false;
  CHECK(tests::Eventually([&] {
    f.clock.Advance(absl::Minutes(1));
    return f.Ask("/apis/example.io/v1/widgets") == "yes";
  }));
}

}  // namespace
}  // namespace cmd
