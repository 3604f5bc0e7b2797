// The stream buffer through which cpprestsdk hands over a body, block by block as it arrives.
#ifndef KUBE_CLIENT_INTERNAL_CPPREST_SINK_H_
#define KUBE_CLIENT_INTERNAL_CPPREST_SINK_H_

#include <cpprest/streams.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kube {

// Makes a continuation run where its task completes instead of in another turn of the pool.
pplx::task_options RunInline();

// A stream that calls `on_data` for every block; an error breaks the transfer off. The library's
// own buffers are either without bound or without a way to see data before the end of the body.
concurrency::streams::ostream MakeSinkStream(
    std::function<absl::Status(absl::string_view)> on_data);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_CPPREST_SINK_H_
