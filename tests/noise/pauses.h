// When and for how long a thread is held up. It does nothing unless the environment variable
// NOISE_SEED is set to a number.
//
// The decisions of a thread follow from the seed and from the number of the thread, which counts
// the threads of the process in the order of their creation.
#ifndef TESTS_NOISE_PAUSES_H_
#define TESTS_NOISE_PAUSES_H_

#include <cstdint>

namespace noise {

// Holds the calling thread up, or not: most calls do nothing, some yield, few sleep up to some
// tens of milliseconds. A thread sleeps at most half of its time. Keeps errno. Thread-safe; may be
// called from anywhere, also before main.
void Pause();
// Holds the calling thread up more often than Pause, where a busy machine keeps threads waiting for
// a core: at the end of a sleep, at the start of a thread and behind it.
void Oversleep();

// Returns the number of a thread that is about to be created.
uint32_t NextThread();
// Gives the calling thread its number. Some threads are slow from then on: they are held up more
// often, and have a low priority.
void BeginThread(uint32_t number);

}  // namespace noise

#endif  // TESTS_NOISE_PAUSES_H_
