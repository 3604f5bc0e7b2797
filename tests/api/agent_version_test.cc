#include "api/agent_version.h"

#include <catch2/catch.hpp>

#include "api/resources.h"

namespace api {
namespace {

TEST_CASE("The version on a Lease is that of the agent that renewed it last") {
  kube::Object lease = kube::Object::Make(Leases().gvk, {"karmada-cluster", "m1"});
  CHECK(AgentVersion(lease) == "");
  lease.Set({"spec", "renewTime"}, "2026-01-01T11:00:00.000000Z");
  CHECK(AgentVersion(lease) == "");
  SetAgentVersion(lease, "v0.1.0-12-gcba2ef23a");
  CHECK(AgentVersion(lease) == "v0.1.0-12-gcba2ef23a");
  // Upstream's agent renews it, and keeps what it does not know.
  lease.Set({"spec", "renewTime"}, "2026-01-01T11:00:10.000000Z");
  CHECK(AgentVersion(lease) == "");
}

TEST_CASE("What somebody else has written in the place of a version is none") {
  kube::Object lease = kube::Object::Make(Leases().gvk, {"karmada-cluster", "m1"});
  for (const char* text : {"", " ", "v0.1.0", "v0.1.0 "}) {
    lease.SetAnnotation("agent.karmada.io/renewed-by", text);
    CHECK(AgentVersion(lease) == "");
  }
}

}  // namespace
}  // namespace api
