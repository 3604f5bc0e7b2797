#include "kube/http/transport.h"

#include <utility>

#include "absl/strings/cord.h"

namespace kube {
namespace {

constexpr absl::string_view kNotProcessedPayload = "type.kube/not-processed";

}  // namespace

absl::Status NotProcessed(absl::Status error) {
  if (!error.ok()) error.SetPayload(kNotProcessedPayload, absl::Cord("1"));
  return error;
}

bool WasNotProcessed(const absl::Status& error) {
  return error.GetPayload(kNotProcessedPayload).has_value();
}

}  // namespace kube
