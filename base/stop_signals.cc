#include "base/stop_signals.h"

#include <unistd.h>

#include <thread>
#include <utility>

#include "base/threads.h"

namespace base {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void StopSignals::Watch(std::function<void(int signal)> on_first, int exit_code) const {
  StartThread("the signals", [signals = *this, on_first = std::move(on_first), exit_code] {
    on_first(signals.Await());
    signals.Await();
    _exit(exit_code);
  }).detach();
}

int StopSignals::Await() const {
  int signal = 0;
  sigwait(&signals_, &signal);
  return signal;
}

}  // namespace base
