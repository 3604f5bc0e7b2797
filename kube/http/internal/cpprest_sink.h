// The stream buffer to which cpprestsdk writes a body, block by block as it arrives.
#ifndef KUBE_HTTP_INTERNAL_CPPREST_SINK_H_
#define KUBE_HTTP_INTERNAL_CPPREST_SINK_H_

#include <cpprest/streams.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kube {

// Makes a continuation run where its task completes, instead of being posted to the pool.
pplx::task_options RunInline();

// Returns a stream that calls `on_data` for every block; an error ends the transfer. The library's
// own buffers either have no limit or do not show data before the end of the body.
concurrency::streams::ostream MakeSinkStream(
    std::function<absl::Status(absl::string_view)> on_data);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_CPPREST_SINK_H_
