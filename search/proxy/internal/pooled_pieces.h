// Writes a long answer whose pieces cost work. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_POOLED_PIECES_H_
#define SEARCH_PROXY_INTERNAL_POOLED_PIECES_H_

#include <functional>
#include <memory>
#include <optional>

#include "base/http_server.h"
#include "kube/aggregation/work_pool.h"

namespace search {

// Does what base::WritePieces does, on threads of the pool: writes what `next` returns until that
// is nullopt, compressed if `gzip`, then closes the stream. The pieces are made one at a time and
// only while the client has room, so that neither the threads of the server nor the memory are
// held by it; between two pieces other work of the pool has its turn. REQUIRES: `pool` outlives the
// stream.
void WritePooled(std::shared_ptr<base::HttpStream> stream,
                 std::function<std::optional<base::SharedBytes>()> next, bool gzip,
                 kube::aggregation::WorkPool& pool);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_POOLED_PIECES_H_
