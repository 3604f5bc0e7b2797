// Why a member does not take a manifest, and what to do about it: the messages of API servers and
// of this program, explained.
#ifndef LENS_WHY_REFUSALS_H_
#define LENS_WHY_REFUSALS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "lens/why/chain.h"

namespace lens::why {

// What messages contain by which it is known what they are about: a namespace that is being
// deleted, and an object that Karmada does not manage.
inline constexpr char kNamespaceEnds[] = "is being terminated";
inline constexpr char kIsForeign[] = "Karmada will not manage this resource";
// Returns whether the message says that a namespace does not exist: namespaces "shop" not found.
// What is refused to a Namespace for another reason begins with the same words.
bool SaysNoNamespace(absl::string_view message);

struct Refusal {
  std::string cause;      // A clause that names the cluster; "" when the message is not known.
  std::string advice;     // A sentence without its full stop.
  bool says_all = false;  // The message adds nothing to the cause.
  std::string kind = {};  // The same for all members that refuse it for this reason.
  bool is_over = false;   // The member shows that what the message says is so no longer.
};

// Explains the message with which the Work's manifest was refused in the cluster.
Refusal ExplainRefusal(const Chain& chain, const std::string& cluster, absl::string_view message);

// Returns what keeps the member from taking it, in a few words: "member1 already has such an object
// that Karmada does not manage"; the short message when it is not known.
std::string CauseOfRefusal(const Chain& chain, const std::string& cluster,
                           absl::string_view message);

// Returns the message without what says nothing to a reader: that one of one manifests failed, and
// long values, such as the pod template whose change is refused.
std::string ShortMessage(absl::string_view message);

// Returns whether the message says that the content of the object cannot be taken: a value that is
// not valid, of the wrong type, or cannot be changed.
bool IsAboutContent(absl::string_view message);

// Returns how Karmada takes over an object that it does not manage, what follows from that, and
// what is lost when the object is deleted instead. `work` is its Work.
std::string AdviceForForeign(const Chain& chain, const kube::Object& work);

// Returns what to do about Pods that the cluster refuses to a workload with this message; "" for
// other messages.
std::string AdviceForPods(const Chain& chain, const std::string& cluster,
                          absl::string_view message);

}  // namespace lens::why

#endif  // LENS_WHY_REFUSALS_H_
