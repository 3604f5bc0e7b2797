// What a member of the program karmada-sandbox has besides MemberControllers: simulators of which
// tests of controllers do the work themselves, by objects that they write.
#ifndef SANDBOX_SIM_MEMBER_EXTRAS_H_
#define SANDBOX_SIM_MEMBER_EXTRAS_H_

#include "sandbox/sim/endpoint_slices.h"
#include "sandbox/sim/resource_quotas.h"

namespace sandbox {

// Makes EndpointSlices, and enforces ResourceQuotas. REQUIRES: `loop` outlives this object, and
// `backend` serves requests no longer than that.
struct MemberExtras {
  MemberExtras(Backend& backend, EventLoop& loop) : slices(backend, loop), quotas(backend, loop) {
    backend.AddAdmission(ResourceQuotaAdmission(backend));
  }

  EndpointSlices slices;
  ResourceQuotas quotas;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_MEMBER_EXTRAS_H_
