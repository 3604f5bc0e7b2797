// Handles SIGTERM and SIGINT (Ctrl-C): the first signal asks the program to end, the second one
// ends it.
//
//   int main(...) {
//     const base::StopSignals signals;  // Before any thread starts.
//     ...
//     signals.Watch([source](int) mutable { source.request_stop(); }, /*exit_code=*/130);
#ifndef BASE_STOP_SIGNALS_H_
#define BASE_STOP_SIGNALS_H_

#include <signal.h>

#include <functional>

namespace base {

class StopSignals {
 public:
  // Blocks both signals in this thread and in those that it starts, so that they wait for Watch()
  // or Await(), and ignores SIGPIPE, so that a closed connection or pipe shows as a failed write.
  StopSignals();

  // Calls `on_first` on a thread of its own when the first signal arrives, and ends the process
  // with `exit_code` when the second one does. Call it once; it returns at once.
  void Watch(std::function<void(int signal)> on_first, int exit_code) const;
  // Blocks until a signal arrives. REQUIRES: Watch is not used.
  int Await() const;

 private:
  sigset_t signals_;
};

}  // namespace base

#endif  // BASE_STOP_SIGNALS_H_
