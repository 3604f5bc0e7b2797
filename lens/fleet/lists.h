// The lists of one reading of a control plane, and what of them could not be read.
#ifndef LENS_FLEET_LISTS_H_
#define LENS_FLEET_LISTS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/client/list_pages.h"
#include "lens/why/chain.h"

namespace lens::fleet {

inline constexpr size_t kListFrom = 20;  // So many objects of a kind are worth a list of all.

// Whether nobody can say without it that everything is fine.
enum class Weight {
  kDecides,
  kHelps,
  kHints,  // Who may not read it does without, and nothing is said.
};

// Not thread-safe.
class Lists {
 public:
  // Where PropagationPolicies of all namespaces may not be listed, those of `ns` are, unless it is
  // "": no others govern its templates.
  // REQUIRES: the client and the token outlive this object.
  Lists(kube::Client& client, std::string ns, const base::StopToken& stop)
      : client_(client), ns_(std::move(ns)), stop_(stop) {}

  // Returns all objects of the resource in the namespace ("" for all) that the options name. Null
  // when they could not be read, which is noted.
  why::Objects All(const kube::Resource& resource, absl::string_view ns, Weight weight,
                   const kube::ListOptions& options = {});
  // Hands out page by page what All returns. Returns whether all could be read.
  bool Pages(const kube::Resource& resource, absl::string_view ns, Weight weight,
             const kube::ListOptions& options, kube::TakePage take);
  // Returns one object; nullptr when it does not exist or could not be read. `known` receives
  // whether that is known.
  kube::ObjectPtr Get(const kube::Resource& resource, const kube::ObjectKey& key, Weight weight,
                      bool* known = nullptr);

  // Notes a sentence about what is not known.
  void Note(std::string sentence, Weight weight);

  const std::vector<std::string>& unread() const { return unread_; }
  const std::vector<why::Unread>& unreadable() const { return unreadable_; }
  bool is_whole() const { return is_whole_; }
  // Returns whether all objects of the kind that were asked for could be read.
  bool CouldRead(const kube::Gvk& gvk) const;

 private:
  // Returns whether the status says that the objects were read, or that there are none.
  bool NoteFailure(const absl::Status& status, const kube::Gvk& gvk, const kube::ObjectKey& key,
                   Weight weight);

  kube::Client& client_;
  const std::string ns_;
  const base::StopToken& stop_;
  std::vector<std::string> unread_;
  std::vector<why::Unread> unreadable_;
  bool is_whole_ = true;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_LISTS_H_
