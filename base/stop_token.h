// Cancellation: every function that may wait takes a StopToken and returns kCancelled soon after a
// stop is requested.
#ifndef BASE_STOP_TOKEN_H_
#define BASE_STOP_TOKEN_H_

#include <stop_token>

namespace base {

using StopToken = std::stop_token;
using StopSource = std::stop_source;
template <class F>
using StopCallback = std::stop_callback<F>;

}  // namespace base

#endif  // BASE_STOP_TOKEN_H_
