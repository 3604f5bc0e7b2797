// What the process of a daemon sets once, before anything else.
#ifndef BASE_DAEMON_PROCESS_H_
#define BASE_DAEMON_PROCESS_H_

namespace base {

// Sets how the libraries of a process with many threads, most of them idle, use memory and time.
// REQUIRES: called at the beginning of main(), while the process has one thread but for that of
// base::StopSignals.
void PrepareDaemonProcess();

}  // namespace base

#endif  // BASE_DAEMON_PROCESS_H_
