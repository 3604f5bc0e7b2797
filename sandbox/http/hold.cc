#include "sandbox/http/hold.h"

#include <utility>

namespace sandbox {

void Hold::Arrive(std::function<void(bool released)> go_on) {
  bool released = false;
  {
    absl::MutexLock lock(&mu_);
    if (state_ == State::kEmpty) {
      state_ = State::kWaiting;
      go_on_ = std::move(go_on);
      return;
    }
    released = state_ == State::kReleased;
  }
  go_on(released);
}

void Hold::Release() { End(State::kReleased); }

void Hold::Drop() { End(State::kDropped); }

void Hold::End(State state) {
  std::function<void(bool)> go_on;
  {
    absl::MutexLock lock(&mu_);
    if (state_ == State::kEmpty) state_ = state;
    if (state_ == State::kWaiting) {
      state_ = state;
      go_on = std::move(go_on_);
      runner_ = std::this_thread::get_id();
    }
  }
  if (go_on) {
    go_on(state == State::kReleased);
    go_on = nullptr;  // What it refers to is given up before others may go on.
    absl::MutexLock lock(&mu_);
    runner_ = std::thread::id();
    return;
  }
  if (state != State::kDropped) return;
  absl::MutexLock lock(&mu_);
  const auto is_quiet = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return runner_ == std::thread::id() || runner_ == std::this_thread::get_id();
  };
  mu_.Await(absl::Condition(&is_quiet));
}

bool Hold::waits() const {
  absl::MutexLock lock(&mu_);
  return state_ == State::kWaiting;
}

}  // namespace sandbox
