// What a shadow knows of one write.
#ifndef KUBE_SHADOW_INTERNAL_SHADOW_RECORD_H_
#define KUBE_SHADOW_INTERNAL_SHADOW_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/http/transport.h"
#include "kube/shadow/internal/shadow_write.h"
#include "kube/shadow/shadow.h"

namespace kube {

struct Shadow::Record {
  internal::ShadowedWrite write;
  HttpRequest request;
  std::weak_ptr<Transport> server;
  absl::Time first, last;
  base::SteadyTime due_since = base::SteadyTime::InfinitePast();
  base::SteadyTime last_attempt = base::SteadyTime::InfinitePast();
  base::SteadyTime withdrawn_at = base::SteadyTime::InfinitePast();
  base::SteadyTime confirmed_at = base::SteadyTime::InfinitePast();
  base::SteadyTime judged_at = base::SteadyTime::InfinitePast();
  int64_t attempts = 0;
  size_t bytes = 0;     // What it counts of the limit for all records.
  bool due = false;     // It would change something, as far as is known.
  bool shown = false;   // Due for longer than the hold, and confirmed by a round.
  bool logged = false;  // This content was reported.
  // The object could not be read: by the loop, for a record that is not due, or by Judge().
  bool unanswered = false;

  bool IsKept() const { return due || unanswered; }
  bool IsConfirmed() const { return confirmed_at != base::SteadyTime::InfinitePast(); }
};

}  // namespace kube

#endif  // KUBE_SHADOW_INTERNAL_SHADOW_RECORD_H_
