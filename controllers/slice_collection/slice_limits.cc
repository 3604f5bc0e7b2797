// Weights are counted by indexes, which is cheap, and compared with the limit; only beyond it the
// objects are sorted, and the choice is kept for a second (limits_, under mu_; sorting happens
// without the lock, so that two threads may sort the same). The choice is a position: by namespace,
// the age of the last object that is within. Namespaces take turns in the order of what each has
// before an object (LastWithin). A restart computes the same choice from the same objects.

#include "controllers/slice_collection/slice_limits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/endpoint_slice.h"

namespace controllers {
namespace {

constexpr absl::string_view kHowCounted = " (one for every 64 KiB of a slice)";

// Returns a text by which objects are ordered, the oldest first. (Times of the API have one form,
// in which a later one is a greater text.)
std::string Age(const kube::Object& object) {
  return absl::StrCat(object.metadata()["creationTimestamp"].AsString(), "/",
                      object.key().ToString());
}

struct Weighed {
  std::string ns;
  std::string age;
  size_t weight;
  size_t before = 0;  // The weight of the older ones of the same namespace.
};

// Returns the age of the last one of each namespace that is within the limit; nullopt if all are.
// Namespaces take turns: one that has little gets all of it, and none gets its later ones as long
// as another one has less.
std::optional<LastOfNamespaces> LastWithin(std::vector<Weighed> all, size_t limit) {
  std::sort(all.begin(), all.end(),
            [](const Weighed& a, const Weighed& b) { return a.age < b.age; });
  std::map<std::string, size_t> sums;
  for (Weighed& one : all) one.before = std::exchange(sums[one.ns], sums[one.ns] + one.weight);
  std::stable_sort(all.begin(), all.end(),
                   [](const Weighed& a, const Weighed& b) { return a.before < b.before; });
  LastOfNamespaces last;
  size_t sum = 0;
  for (const Weighed& one : all) {
    sum += one.weight;
    if (sum > limit) return last;
    last[one.ns] = one.age;
  }
  return std::nullopt;
}

std::vector<Weighed> SlicesOf(const kube::ObjectKey& service, const SliceSources::Listed& listed) {
  std::vector<Weighed> all;
  for (const kube::ObjectPtr& slice : listed.SlicesOf(service)) {
    all.push_back({service.ns, Age(*slice), WeightOf(*slice)});
  }
  return all;
}

// Only what is collected of a Service counts for the member.
std::vector<Weighed> ExportsOf(const SliceSources::Listed& listed) {
  std::vector<Weighed> all;
  for (const kube::ObjectPtr& exported : listed.exports->store().List()) {
    const size_t weight = listed.WeightOf(exported->key());
    all.push_back(
        {std::string(exported->ns()), Age(*exported), std::min(weight, kMaxSlicesOfService)});
  }
  return all;
}

// As long as the member has few slices, whosever they are, nobody has to count what is exported.
bool MayBeTooMuch(const SliceSources::Listed& listed) {
  return listed.exports != nullptr && listed.Weight() > kMaxSlicesOfMember;
}

}  // namespace

absl::Status SliceLimits::OfService(const std::string& cluster, const kube::ObjectKey& service,
                                    const SliceSources::Listed& listed) {
  const size_t slices = listed.WeightOf(service);
  if (slices <= kMaxSlicesOfService) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("cluster ", cluster, " has ", slices, " EndpointSlices of Service ",
                   service.ToString(), kHowCounted, ", and at most ", kMaxSlicesOfService,
                   " of a Service and cluster are collected: the oldest ones"));
}

absl::Status SliceLimits::OfMember(const std::string& cluster, const SliceSources::Listed& listed) {
  if (!MayBeTooMuch(listed)) return absl::OkStatus();
  size_t slices = 0;
  for (const Weighed& exported : ExportsOf(listed)) slices += exported.weight;
  if (slices <= kMaxSlicesOfMember) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("cluster ", cluster, " exports Services with ", slices, " EndpointSlices",
                   kHowCounted, ", and at most ", kMaxSlicesOfMember,
                   " of a cluster are collected: those of the oldest ServiceExports of each "
                   "namespace, in turn"));
}

SliceLimits::Choice SliceLimits::ChooseSlice(const std::string& cluster, const kube::Object& slice,
                                             const SliceSources::Listed& listed) {
  const kube::ObjectKey service = api::EndpointSliceView(slice).Service();
  const size_t weight = listed.WeightOf(service);
  if (weight <= kMaxSlicesOfService) return Choice::kOfAll;
  return Choose({{cluster, service}, weight, service.ns, Age(slice)},
                [&] { return LastWithin(SlicesOf(service, listed), kMaxSlicesOfService); });
}

SliceLimits::Choice SliceLimits::ChooseService(const std::string& cluster,
                                               const kube::ObjectKey& service,
                                               const SliceSources::Listed& listed) {
  if (!MayBeTooMuch(listed)) return Choice::kOfAll;
  const kube::ObjectPtr exported = listed.exports->store().Find(service);
  if (exported == nullptr) return Choice::kNot;
  const size_t size = listed.Weight() + listed.exports->store().size();
  return Choose({{cluster, {}}, size, service.ns, Age(*exported)},
                [&] { return LastWithin(ExportsOf(listed), kMaxSlicesOfMember); });
}

SliceLimits::Choice SliceLimits::Choose(const Question& question,
                                        absl::FunctionRef<std::optional<LastOfNamespaces>()> last) {
  const auto choice = [&](const Limit& limit) {
    if (!limit.last.has_value()) return Choice::kOfAll;
    const auto of_ns = limit.last->find(question.ns);
    const bool is_within = of_ns != limit.last->end() && question.age <= of_ns->second;
    return is_within ? Choice::kAmongMany : Choice::kNot;
  };
  const base::SteadyTime now = clock_.SteadyNow();
  {
    absl::MutexLock lock(&mu_);
    const auto known = limits_.find(question.subject);
    const bool is_valid = known != limits_.end() && now < known->second.at + kChoiceLasts &&
                          (known->second.last.has_value() || known->second.size == question.size);
    if (is_valid) return choice(known->second);
  }
  const Limit limit{now, question.size, last()};
  absl::MutexLock lock(&mu_);
  std::erase_if(limits_, [&](const auto& entry) { return entry.second.at + kChoiceLasts <= now; });
  limits_.insert_or_assign(question.subject, limit);
  return choice(limit);
}

}  // namespace controllers
