// What a shadow knows of the writes of one target.
#ifndef KUBE_CLIENT_INTERNAL_SHADOW_RECORD_H_
#define KUBE_CLIENT_INTERNAL_SHADOW_RECORD_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/internal/shadow_write.h"
#include "kube/client/shadow.h"
#include "kube/client/transport.h"

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
  // The last attempt, if the object could not be read for it.
  std::optional<HttpRequest> unanswered_request;
  bool unjudged = false;  // Judge() could not read the object.

  bool IsUnanswered() const { return unanswered_request.has_value() || unjudged; }
  bool IsKept() const { return due || IsUnanswered(); }
  bool IsConfirmed() const { return confirmed_at != base::SteadyTime::InfinitePast(); }
  void Withdraw(base::SteadyTime now) {
    due = shown = unjudged = false;
    withdrawn_at = now;
    confirmed_at = base::SteadyTime::InfinitePast();
    // What comes back is known by its fingerprint; the rest may be large.
    unanswered_request.reset();
    request = {};
    write.patch = write.reverse = {};
  }
  int64_t attempts = 0;
  bool due = false;
  bool shown = false;   // Due for longer than the hold.
  bool logged = false;  // This content was reported.
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_SHADOW_RECORD_H_
