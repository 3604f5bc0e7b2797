// Drives the time of a run: everybody works until all wait, then time jumps to the next moment that
// somebody waits for. Minutes of back-off and grace take milliseconds, and however busy the machine
// is, no wait ends early or late.
//
//   int main(int argc, char** argv) {
//     prove::TimeDriver::Begin(argv);          // The process starts again with simulated time.
//     prove::TimeDriver time;
//     ...                                      // Processes that it starts share the time.
//     time.RunFor(absl::Minutes(5), [&] { return settled(); });
//   }
#ifndef TESTS_PROVE_TIME_TIME_DRIVER_H_
#define TESTS_PROVE_TIME_TIME_DRIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "tests/prove/time/shared_time.h"

namespace prove {

// Used by one thread, which nobody may wait for: while it drives, all others are watched.
class TimeDriver {
 public:
  // Executes this program again with the library preloaded and a time of its own, unless it has
  // one already. The library is found beside the program.
  static void Begin(char** argv);

  // Without Begin(), time is real, for programs that do not use the C library. Nobody waits for
  // minutes then, so each second counts as kPace seconds of what is waited for here.
  static constexpr int kPace = 10;
  TimeDriver();
  ~TimeDriver();
  TimeDriver(const TimeDriver&) = delete;
  // How many seconds of RunFor() and Now() a second of the program under test is.
  int pace() const { return real_ ? kPace : 1; }

  // Returns the simulated steady time since its beginning.
  absl::Duration Now() const;

  // Lets everybody run until all threads of all processes wait. Returns false when they have
  // used half a minute of a core: then something repeats without end.
  bool AwaitIdle();

  // Lets `duration` pass, jump by jump; ends early, with true, when `over` holds while all wait.
  // Returns whether it does in the end. `over` may take a while, and may cause new work.
  bool RunFor(absl::Duration duration, const std::function<bool()>& over);

  // How much later than asked alarms may go off, so that what is due at nearly the same time is due
  // at once. What waits must not mind, as on a machine with other work.
  void SetSlack(absl::Duration slack) { slack_ = absl::ToInt64Nanoseconds(slack); }

  // A process that was just started; from now on time passes only while it waits, too.
  void Watch(int pid);
  // A process that was killed or has ended wants nothing any more. Call it when it was waited for.
  void Forget(int pid);

  // Steps the wall clock of a process that is watched to what is so much ahead of the driver's own.
  // Waits for a time of the wall clock that have begun end when they would have. Thread-safe.
  void SetWallOffset(int pid, absl::Duration ahead);
  // Sends a watched process SIGSTOP and SIGCONT; time passes while it stands still. Thread-safe.
  void Stop(int pid);
  void Continue(int pid);

  // What was done so far.
  int64_t jumps() const { return jumps_; }
  bool busy_without_end() const { return busy_without_end_; }

 private:
  class Threads;

  // Returns when the time of the first alarm has come, and its slack is over.
  int64_t NextJump() const;
  void MoveTo(int64_t time);
  std::vector<int> Processes() const;
  bool AllWait(int pid);
  bool NetworkWaits() const;
  ProcessAlarms* Find(int pid) const;

  const bool real_;
  SharedTime& shared_;
  const std::vector<int> network_threads_;
  std::map<int, std::unique_ptr<Threads>> threads_;  // By process.
  int64_t slack_ = 1'000'000;
  int64_t jumps_ = 0;
  bool busy_without_end_ = false;
};

}  // namespace prove

#endif  // TESTS_PROVE_TIME_TIME_DRIVER_H_
