// The variable `stderr` of the C library may be set (glibc, "Standard Streams"). It leads to a
// stream of our own meanwhile, which passes on to the descriptor what it does not keep. Another
// thread may still be writing to that stream after the variable has its old value again, so the
// stream is made once and never closed. It has no buffer: one fprintf is one call of Write.

#include "base/profiling/caught_remark.h"

#include <unistd.h>

#include <cerrno>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"

namespace profiling {
namespace {

constexpr absl::string_view kBeginning = "PROFILE: ";

ABSL_CONST_INIT absl::Mutex mu(absl::kConstInit);

std::string& Remark() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
  static auto* const kRemark = new std::string;
  return *kRemark;
}

ssize_t Write(void* /*cookie*/, const char* data, size_t size) {
  absl::string_view text(data, size);
  if (absl::ConsumePrefix(&text, kBeginning)) {
    absl::MutexLock lock(&mu);
    Remark() = std::string(absl::StripSuffix(text, "\n"));
    return static_cast<ssize_t>(size);
  }
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // There is nobody to whom it could be reported.
    text.remove_prefix(static_cast<size_t>(n));
  }
  return static_cast<ssize_t>(size);
}

// Returns nullptr when there is no memory for it.
FILE* Stream() {
  static FILE* const kStream = [] {
    FILE* const stream = fopencookie(
        nullptr, "w", {.read = nullptr, .write = Write, .seek = nullptr, .close = nullptr});
    if (stream != nullptr) setvbuf(stream, nullptr, _IONBF, 0);
    return stream;
  }();
  return kStream;
}

}  // namespace

CaughtRemark::CaughtRemark() : before_(stderr) {
  {
    absl::MutexLock lock(&mu);
    Remark().clear();
  }
  if (FILE* const stream = Stream(); stream != nullptr) {
    __atomic_store_n(&stderr, stream, __ATOMIC_RELEASE);
  }
}

CaughtRemark::~CaughtRemark() { __atomic_store_n(&stderr, before_, __ATOMIC_RELEASE); }

std::string CaughtRemark::Text() const {
  absl::MutexLock lock(&mu);
  return Remark();
}

}  // namespace profiling
