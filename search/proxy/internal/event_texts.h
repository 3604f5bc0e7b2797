// What watches of the same form write of an object, made once. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_EVENT_TEXTS_H_
#define SEARCH_PROXY_INTERNAL_EVENT_TEXTS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/random.h"
#include "kube/meta/object.h"

namespace search {

// The texts of the last objects in forms such as Tables, for which an object has to be decoded. The
// version that a watch is at stands in them, and differs from watch to watch. A text is used for a
// second, because the columns of Tables tell ages, and keeps no object. Thread-safe.
class EventTexts {
 public:
  // Makes the text of an object with this resourceVersion.
  using Make = std::function<std::string(const std::string& version)>;

  // Keeps texts of at most so many bytes together. REQUIRES: `clock` outlives the object.
  EventTexts(size_t max_bytes, const base::Clock& clock) : max_bytes_(max_bytes), clock_(clock) {}

  struct Subject {
    kube::ObjectPtr object;
    std::shared_ptr<const void> columns;  // Stands for a Table's columns; may be null.
    std::string form;                     // Tells apart what the text depends on besides.
  };
  // Appends the text of the subject with `version`.
  void Append(const Subject& subject, absl::string_view version, const Make& make,
              std::string& out);

 private:
  using Parts = std::vector<std::string>;  // What stands around the places of the version.
  using PartsPtr = std::shared_ptr<const Parts>;
  using Key = std::tuple<const void*, const void*, std::string>;
  struct Kept {
    // Whose addresses are in the key. Once it is gone, another object may have the address.
    std::weak_ptr<const kube::Object> object;
    std::shared_ptr<const void> columns;
    PartsPtr parts;
    size_t bytes = 0;
    base::SteadyTime at;
  };

  PartsPtr Find(const Key& key, const kube::ObjectPtr& object) const ABSL_LOCKS_EXCLUDED(mu_);
  void Keep(Key key, Kept kept) ABSL_LOCKS_EXCLUDED(mu_);

  const size_t max_bytes_;
  const base::Clock& clock_;
  // Stands for the version. Nobody can guess it, and so have it in an object.
  const std::string place_ = base::NewUuid();
  mutable absl::Mutex mu_;
  absl::flat_hash_map<Key, Kept> kept_ ABSL_GUARDED_BY(mu_);
  std::deque<Key> order_ ABSL_GUARDED_BY(mu_);  // The oldest first.
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_EVENT_TEXTS_H_
