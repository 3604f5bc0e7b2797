// Lets the time of a fake clock pass, no faster than the program's threads can follow.
//
// What a thread does takes no time on a fake clock, and seconds in reality when the machine is busy
// or a sanitizer slows the program down: a clock that advances all the same lets every deadline of
// such a thread pass before it has run once.
#ifndef TESTS_SUPPORT_PASSING_TIME_H_
#define TESTS_SUPPORT_PASSING_TIME_H_

#include <functional>

#include "absl/time/time.h"
#include "tests/support/fake_clock.h"

namespace tests {

// Waits until every other thread of this process sleeps, at most a fifth of a second: a thread that
// always has work must not stop the time.
void AwaitIdleThreads();

// Advances the clock by `step` at a time until `done`, but by no more than `most` in all; before
// each step it waits until the other threads sleep. Returns whether `done` became true within a
// minute of real time. REQUIRES: the caller holds no mutex that a thread needs.
bool PassTimeUntil(FakeClock& clock, absl::Duration step, const std::function<bool()>& done,
                   absl::Duration most = absl::InfiniteDuration());

}  // namespace tests

#endif  // TESTS_SUPPORT_PASSING_TIME_H_
