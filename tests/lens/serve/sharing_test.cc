// Many who look at the same page: how often the control plane is asked for them.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "lens/serve/bounds.h"
#include "tests/lens/serve/shown_server.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

constexpr int kMany = 20;

// A server before a control plane that counts how often the policies are listed.
struct Counted : tests::ShownServer {
  absl::Mutex mu;
  std::vector<std::string> asked_by ABSL_GUARDED_BY(mu);  // Whose token has listed the policies.
  tests::PlaneGate gate{plane, [this](const auto& request, const auto&) {
                          if (!absl::EndsWith(request.path, "/propagationpolicies")) return false;
                          absl::MutexLock lock(&mu);
                          asked_by.emplace_back(request.Header("authorization"));
                          return false;
                        }};

  Counted() : ShownServer(1) {}

  void StartBefore(Mode mode) {
    ServeOptions options = OptionsFor(mode);
    options.plane = gate.Address();
    StartWith(std::move(options));
    // The reading at the start lists them, too.
    if (mode == Mode::kLocal) Json("/api/fleet");
    absl::MutexLock lock(&mu);
    asked_by.clear();
  }
  size_t Lists() {
    absl::MutexLock lock(&mu);
    return asked_by.size();
  }
};

// Calls it on many threads at the same time.
template <typename Work>
void AtOnce(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([i, &work] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE_METHOD(Counted, "Serve: a page that many have open is read once for all of them") {
  StartBefore(Mode::kLocal);
  std::atomic<int> answered = 0;
  AtOnce(kMany, [&](int) { answered += Get("/api/policies").code == 200 ? 1 : 0; });
  CHECK(answered == kMany);
  // One for all, and another one for those who come when it is too old or the fleet is read again.
  CHECK(Lists() < kMany / 2);
}

TEST_CASE_METHOD(Counted, "Serve: nothing that one token has read is shown to another one") {
  for (int i = 0; i < 3; ++i) {
    fleet->control_plane().AddToken(absl::StrCat("token-", i), absl::StrCat("user-", i));
  }
  StartBefore(Mode::kTokens);
  AtOnce(3, [&](int i) { CHECK(Get("/api/policies", absl::StrCat("token-", i)).code == 200); });
  absl::MutexLock lock(&mu);
  CHECK(std::set<std::string>(asked_by.begin(), asked_by.end()).size() == 3);
}

TEST_CASE_METHOD(Counted, "Serve: after a reading of the fleet nothing older is shown") {
  StartBefore(Mode::kLocal);
  CHECK(Json("/api/policies")["policies"].empty());
  CreateAll(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: late, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  CHECK(tests::Eventually([&] { return Json("/api/policies")["policies"].size() == 1; }));
}

TEST_CASE_METHOD(Counted, "Serve: a long answer arrives whole") {
  std::string policies;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&policies, "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ",
                    "PropagationPolicy\nmetadata: {name: p", i, ", namespace: shop}\nspec:\n",
                    "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: w", i,
                    "}]\n  placement: {clusterAffinity: {clusterNames: [member1]}}\n");
  }
  CreateAll(policies.substr(4));
  StartBefore(Mode::kLocal);
  const kube::HttpResponse answer = Get("/api/policies");
  CHECK(answer.body.size() > 4 * kPieceBytes);
  CHECK(json::Parse(answer.body).value()["policies"].size() == 200);
  CHECK(Get("/api/policies", "", "HEAD").body.empty());
}

}  // namespace lens::serve
