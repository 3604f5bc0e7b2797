// Each target's answer is compared with the template's generation and dated by managedFields; the
// clusters are then sorted, the slowest first. No state, and nothing is asked of a server.

#include "lens/why/newest_edit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"

namespace lens::why {
namespace {

constexpr absl::Duration kRecent = absl::Hours(1);
constexpr size_t kShown = 5;

// Returns whether the entry of managedFields is about what a generation counts.
bool OwnsContent(const json::Value& entry) {
  if (entry["subresource"].AsString() == "status") return false;
  for (const json::Member& field : entry["fieldsV1"].members()) {
    if (field.name() != "f:metadata" && field.name() != "f:status") return true;
  }
  return false;
}

// Returns absl::InfinitePast() also where an entry has no time, as that of a subresource scale may:
// it may be the newest one.
template <class Concerns>
absl::Time NewestTime(const json::Value& managed_fields, Concerns concerns) {
  absl::Time newest = absl::InfinitePast();
  for (const json::Value& entry : managed_fields.items()) {
    if (!concerns(entry)) continue;
    const auto time = kube::ParseTime(entry["time"].AsString());
    if (!time.ok()) return absl::InfinitePast();
    newest = std::max(newest, *time);
  }
  return newest;
}

absl::Time TimeOfEdit(const Chain& chain) {
  const absl::Time edited = NewestTime(chain.object->metadata()["managedFields"], OwnsContent);
  if (edited != absl::InfinitePast() || chain.object->generation() > 1) return edited;
  const auto created = kube::ParseTime(chain.object->metadata()["creationTimestamp"].AsString());
  return created.ok() ? *created : absl::InfinitePast();
}

// Field managers are named after the programs: the controller manager, and the agents of clusters
// in pull mode; "karmada" is that of server-side apply.
absl::Time LastWrittenByKarmada(const kube::Object& object) {
  return NewestTime(object.metadata()["managedFields"], [](const json::Value& entry) {
    const absl::string_view manager = entry["manager"].AsString();
    return entry["subresource"].AsString().empty() &&
           (manager == "karmada" || absl::StartsWith(manager, "karmada-"));
  });
}

// Works are made of the newest template with the replicas that were last given to clusters, so that
// their generation says nothing of an edit that waits for the scheduler.
bool WaitsForScheduler(const Chain& chain) {
  return chain.binding != nullptr && !api::BindingView(*chain.binding).Placement().is_null() &&
         IsSchedulingBehind(*chain.binding);
}

EditInCluster Look(const std::string& cluster, const kube::ObjectPtr& object, int64_t generation) {
  EditInCluster in{cluster};
  if (object == nullptr) return in;
  const absl::string_view made_of = object->Annotation(api::kTemplateGenerationAnnotation);
  if (!absl::SimpleAtoi(made_of, &in.generation)) in.generation = 0;
  in.has_it = in.generation >= generation;
  if (in.has_it) in.by = LastWrittenByKarmada(*object);
  return in;
}

bool IsSlower(const EditInCluster& a, const EditInCluster& b) {
  if (a.has_it != b.has_it) return !a.has_it;
  return a.has_it ? a.by > b.by : a.generation < b.generation;
}

std::string Seconds(absl::Duration time) { return absl::StrCat(absl::ToInt64Seconds(time), " s"); }

std::string Has(const EditInCluster& in) {
  return in.generation > 0 ? absl::StrCat("has generation ", in.generation) : "does not have it";
}

}  // namespace

const EditInCluster* NewestEdit::Slowest() const {
  const bool is_known =
      !clusters.empty() && (!clusters[0].has_it || clusters[0].by != absl::InfinitePast());
  return is_known ? clusters.data() : nullptr;
}

absl::Duration NewestEdit::Behind(const EditInCluster& in, absl::Time now) const {
  return std::max((in.has_it ? in.by : now) - at, absl::ZeroDuration());
}

std::optional<NewestEdit> NewestEditOf(const Chain& chain) {
  if (chain.object == nullptr || chain.object->generation() == 0) return std::nullopt;
  NewestEdit edit{chain.object->generation(), TimeOfEdit(chain), {}};
  if (edit.at == absl::InfinitePast()) return std::nullopt;
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto answer = chain.members.find(target.name);
    if (answer == chain.members.end() || !answer->second.status.ok()) continue;
    edit.clusters.push_back(Look(target.name, answer->second.object, edit.generation));
  }
  if (WaitsForScheduler(chain)) {
    std::erase_if(edit.clusters, [](const EditInCluster& in) { return in.has_it; });
  }
  std::stable_sort(edit.clusters.begin(), edit.clusters.end(), IsSlower);
  if (edit.clusters.empty()) return std::nullopt;
  if (edit.clusters[0].has_it && chain.now - edit.at > kRecent) return std::nullopt;
  return edit;
}

std::string TextOf(const NewestEdit& edit, absl::Time now) {
  std::string text =
      absl::StrCat("newest edit: generation ", edit.generation, " at ", kube::FormatTime(edit.at));
  const EditInCluster* slowest = edit.Slowest();
  if (slowest == nullptr) return text;
  const std::string later = Seconds(edit.Behind(*slowest, now));
  return slowest->has_it
             ? absl::StrCat(text, "; the last cluster was ", slowest->cluster, ", at most ", later,
                            " later")
             : absl::StrCat(text, "; after ", later, " it is not in ", slowest->cluster);
}

std::vector<std::string> LinesOf(const NewestEdit& edit, absl::Time now) {
  std::vector<std::string> lines;
  for (const EditInCluster& in : edit.clusters) {
    if (lines.size() == kShown) break;
    if (!in.has_it) {
      lines.push_back(absl::StrCat(in.cluster, " ", Has(in)));
    } else if (in.by == absl::InfinitePast()) {
      lines.push_back(absl::StrCat(in.cluster, " has it, nothing says since when"));
    } else {
      lines.push_back(absl::StrCat(in.cluster, " had it by ", kube::FormatTime(in.by), ", ",
                                   Seconds(edit.Behind(in, now)), " later"));
    }
  }
  const size_t more = edit.clusters.size() - lines.size();
  if (more > 0) lines.push_back(absl::StrCat("and ", more, " more, none of them slower"));
  return lines;
}

json::Value ToJson(const NewestEdit& edit, absl::Time now) {
  json::Value clusters = json::Value::Array();
  for (const EditInCluster& in : edit.clusters) {
    const bool is_dated = in.by != absl::InfinitePast();
    json::Value later;
    if (is_dated) later = absl::ToInt64Seconds(edit.Behind(in, now));
    clusters.Append(json::Value::Object(
        {{"name", in.cluster},
         {"hasIt", in.has_it},
         {"generation", in.generation},
         {"by", is_dated ? json::Value(kube::FormatTime(in.by)) : json::Value()},
         {"secondsLater", std::move(later)}}));
  }
  const EditInCluster* slowest = edit.Slowest();
  return json::Value::Object(
      {{"generation", edit.generation},
       {"at", kube::FormatTime(edit.at)},
       {"slowest", slowest == nullptr ? json::Value() : json::Value(slowest->cluster)},
       {"clusters", std::move(clusters)}});
}

}  // namespace lens::why
