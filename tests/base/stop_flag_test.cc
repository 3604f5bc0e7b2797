#include "base/stop_flag.h"

#include <catch2/catch.hpp>
#include <thread>

namespace {

TEST_CASE("a stop flag wakes who waits for it under its mutex") {
  absl::Mutex mu;
  base::StopSource stop;
  const base::StopFlag flag(mu, stop.get_token());
  CHECK_FALSE(flag.IsSet());
  std::thread stopper([&] { stop.request_stop(); });
  {
    const auto set = [&] { return flag.IsSet(); };
    absl::MutexLock lock(&mu);
    mu.Await(absl::Condition(&set));
  }
  stopper.join();
  CHECK(flag.IsSet());
}

TEST_CASE("a stop flag that comes after the stop is set from the beginning") {
  absl::Mutex mu;
  base::StopSource stop;
  stop.request_stop();
  CHECK(base::StopFlag(mu, stop.get_token()).IsSet());
}

}  // namespace
