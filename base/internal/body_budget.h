// The long bodies of requests that a server receives and holds. Private to base/.
#ifndef BASE_INTERNAL_BODY_BUDGET_H_
#define BASE_INTERNAL_BODY_BUDGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"

namespace base::internal {

// Limits their bytes together, and those of each sender (see Shares). A body that comes more
// slowly than it may makes room for others. Thread-safe.
class BodyBudget {
 public:
  struct Options {
    size_t bytes = SIZE_MAX;
    // A body has to be received within this time. A slower one gives up its place when somebody
    // else needs it.
    absl::Duration time = absl::Seconds(30);
    // How long a body keeps its place in any case.
    absl::Duration least = absl::Seconds(2);
  };
  struct Claim {
    size_t bytes = 0;
    std::string owner;          // Or kNoOwner.
    bool privileged = false;    // Has no share, and may take as much again as all others together.
    std::function<void()> cut;  // The place has been given to somebody else. Must only post.
  };
  class Place;
  using PlacePtr = std::shared_ptr<Place>;

  // REQUIRES: `clock` outlives this object and all places.
  explicit BodyBudget(const Options& options, const Clock& clock = RealClock());

  // Returns nullptr when there is no room. The place counts as long as it is held, and may outlive
  // the budget.
  PlacePtr Take(Claim claim);

 private:
  class State;
  const std::shared_ptr<State> state_;
};

// The place of one body. Thread-safe.
class BodyBudget::Place {
 public:
  Place(std::shared_ptr<State> state, uint64_t id) : state_(std::move(state)), id_(id) {}
  ~Place();
  Place(const Place&) = delete;

  // So many bytes more have come.
  void NoteReceived(size_t bytes) { received_ += bytes; }
  // The body has come: it is not cut any more.
  void NoteComplete();
  size_t received() const { return received_; }

 private:
  const std::shared_ptr<State> state_;
  const uint64_t id_;
  std::atomic<size_t> received_ = 0;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_BODY_BUDGET_H_
