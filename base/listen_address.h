// The address on which a server listens, as users write it in flags.
#ifndef BASE_LISTEN_ADDRESS_H_
#define BASE_LISTEN_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace base {

struct ListenAddress {
  std::string host;   // Without brackets; empty stands for every address of the machine.
  uint16_t port = 0;  // 0 picks a free one.
};

// Parses "host:port", where the host may be empty, a name, an IPv4 address or an IPv6 address in
// brackets. Whether the host exists is not looked up. kInvalidArgument names the text.
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

}  // namespace base

#endif  // BASE_LISTEN_ADDRESS_H_
