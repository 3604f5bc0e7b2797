// Threads that outlive what goes wrong on them.
#include "kube/aggregation/work_pool.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "absl/synchronization/notification.h"

namespace kube::aggregation {
namespace {

TEST_CASE("an exception ends the piece of work that throws it, and nothing else") {
  WorkPool pool("test", 1, 10);
  CHECK(pool.Run([] { throw std::runtime_error("of the test"); }));
  absl::Notification done;
  CHECK(pool.Run([&done] { done.Notify(); }));
  done.WaitForNotification();
}

}  // namespace
}  // namespace kube::aggregation
