// Simulated time for programs written in Go, which ask the kernel for the time and for waits themselves, so that nothing that is
// preloaded sees it. build.py adds this file to the runtime, and has the runtime call it at five places:
//
//   - all clocks show the time of the memory that the processes of a run share (shared_time.h);
//   - the thread that waits for the network and the next timer, of which the runtime has one at a time, waits without a limit and
//     has an alarm there, of which there is one for the whole process;
//   - one thread, the watch, sleeps until the time was moved, and interrupts that wait when the alarm is due.
//
// Without the environment variable, time is real. Real in any case are the pauses of threads that look for work, and those of the
// runtime's own monitor; processes end with the one that drives the time.
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The layout of shared_time.h, which states it, too.
const (
	simMostProcesses = 16
	simMostAlarms    = 512
	simReadingTakes  = 50
	simBeginning     = 1_000_000_000_000
	simWallThen      = 1_767_225_600_000_000_000
	simNever         = 1<<63 - 1
)

type simProcess struct {
	pid        int32
	_          int32
	at         [simMostAlarms]int64
	wallOffset int64
	stopped    bool
	_          [7]byte
}

type simShared struct {
	now       int64
	moves     uint32
	_         uint32
	processes [simMostProcesses]simProcess
	driver    int32
}

var simTime *simShared // nil: time is real.
var simMine *simProcess

// simBegin is called once, as soon as the environment is known, by the only thread.
func simBegin() {
	path := gogetenv("PROVE_SHARED_TIME")
	if path == "" {
		return
	}
	name := append([]byte(path), 0)
	fd := open(&name[0], 2 /* O_RDWR */, 0)
	if fd < 0 {
		throw("simulated time: its memory cannot be opened")
	}
	memory, failed := mmap(nil, unsafe.Sizeof(simShared{}), _PROT_READ|_PROT_WRITE, 1 /* MAP_SHARED */, fd, 0)
	if failed != 0 {
		throw("simulated time: its memory cannot be mapped")
	}
	closefd(fd)
	shared := (*simShared)(memory)
	pid := int32(getpid())
	for i := range shared.processes {
		if process := &shared.processes[i]; atomic.Loadint32(&process.pid) == pid {
			simMine = process // The driver has entered it.
		}
	}
	for i := 0; simMine == nil && i < simMostProcesses; i++ {
		if process := &shared.processes[i]; atomic.Casint32(&process.pid, 0, pid) {
			simMine = process
		}
	}
	if simMine == nil {
		throw("simulated time: too many processes")
	}
	linux.Syscall6(157 /* prctl */, 1 /* PR_SET_PDEATHSIG */, 9 /* SIGKILL */, 0, 0, 0, 0)
	simTime = shared
}

// simStart begins the watch. Called once the scheduler runs.
func simStart() {
	if simTime != nil {
		systemstack(func() { newm(simWatch, nil, -1) })
	}
}

// simWatch runs without a processor of the scheduler, as the monitor does.
//
//go:nowritebarrierrec
func simWatch() {
	lock(&sched.lock)
	sched.nmsys++ // A thread that does not count when the runtime looks for a deadlock.
	checkdead()
	unlock(&sched.lock)
	for {
		seen := atomic.Load(&simTime.moves)
		if atomic.Loadint64(&simMine.at[0]) <= atomic.Loadint64(&simTime.now) {
			netpollBreak()
		}
		futex(unsafe.Pointer(&simTime.moves), 0 /* FUTEX_WAIT, between processes */, seen, nil, nil, 0)
	}
}

//go:nosplit
func simNanotime() int64 {
	if simTime == nil {
		return nanotime1()
	}
	return atomic.Xaddint64(&simTime.now, simReadingTakes)
}

//go:nosplit
func walltime() (sec int64, nsec int32) {
	var now int64
	if simTime == nil {
		var t [2]int64
		linux.Syscall6(228 /* clock_gettime */, 0 /* CLOCK_REALTIME */, uintptr(unsafe.Pointer(&t)), 0, 0, 0, 0)
		return t[0], int32(t[1])
	}
	now = simNanotime() - simBeginning + simWallThen + atomic.Loadint64(&simMine.wallOffset)
	return now / 1e9, int32(now % 1e9)
}

// simWaits is called with the time that the next wait for the network may take, and returns the time that it is to have; simHasWaited
// afterwards.
func simWaits(delay int64) int64 {
	if simTime == nil || delay <= 0 {
		return delay
	}
	at := simNanotime() + delay
	if at < 0 {
		return -1
	}
	atomic.Storeint64(&simMine.at[0], at)
	if atomic.Loadint64(&simTime.now) >= at {
		return 0 // The time was moved before the alarm was set.
	}
	return -1
}

func simHasWaited() {
	if simTime != nil {
		atomic.Storeint64(&simMine.at[0], simNever)
	}
}
