// What has changed lately, by what records its time: events, conditions of Clusters, taints and
// evictions, the leaders of Karmada's programs, and the writers of policies, override policies,
// customizations and templates. Of each object the last writer is known, from its managedFields,
// and those of templates and the like are read until kMostWritersRead of them are; a template is
// what a policy has claimed, of the kinds that bindings name. What Karmada's own programs write is
// left out.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/url.h"
#include "lens/serve/bounds.h"
#include "lens/serve/events.h"
#include "lens/serve/lists.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"

namespace lens::serve {
namespace {

constexpr int kMostMinutes = 24 * 60;
constexpr char kMetadataOnly[] = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

absl::Time TimeOf(const json::Value& text) {
  const auto time = kube::ParseTime(text.AsString());
  return time.ok() ? *time : absl::InfinitePast();
}

class Hour {
 public:
  Hour(const Asked& asked, absl::Time since)
      : asked_(asked), since_(since), lists_(asked.viewer.client(), asked.stop) {}

  absl::StatusOr<json::Value> Read() {
    ReadEvents();
    ReadClusters();
    ReadBindings();
    ReadLeaders();
    for (const auto* kind :
         {&api::PropagationPolicies(), &api::ClusterPropagationPolicies(), &api::OverridePolicies(),
          &api::ClusterOverridePolicies(), &api::InterpreterCustomizations(),
          &api::InterpreterWebhookConfigurations()}) {
      ReadEdits(*kind, "");
    }
    ReadTemplates();
    RETURN_IF_ERROR(lists_.Check());
    if (is_cut_) {
      lists_.Note(absl::StrCat("who has changed what: only ", writers_read_,
                               " objects were read: there may be more"));
    }
    return Sorted();
  }

 private:
  struct Entry {
    absl::Time time;
    json::Value json;
  };

  void Add(absl::Time time, json::Value json) {
    if (time >= since_) entries_.push_back({time, std::move(json)});
  }
  void Add(absl::Time time, absl::string_view what, bool warns, absl::string_view message,
           const kube::Object& about) {
    Add(time, json::Value::Object({{"time", TimeAsJson(time)},
                                   {"severity", warns ? "warning" : "normal"},
                                   {"what", what},
                                   {"reason", ""},
                                   {"message", Shortened(message)},
                                   {"count", 1},
                                   {"from", ""},
                                   {"about", SubjectOf(about.gvk(), about.key())}}));
  }

  void ReadEvents() {
    size_t read = 0;
    lists_.Each(api::Events(), EventFields(), "", [&](kube::Object event) {
      Add(why::EventTime(event), EventAsJson(event));
      if (++read < kMostEventsRead) return true;
      lists_.Note(absl::StrCat("only ", kMostEventsRead, " events were read: there are more"));
      return false;
    });
  }

  void ReadClusters() {
    for (const kube::ObjectPtr& object :
         lists_.All(api::Clusters(), {"metadata.creationTimestamp", "metadata.deletionTimestamp",
                                      "spec.taints", "status.conditions"})) {
      const api::ClusterView cluster(*object);
      for (const json::Value& condition : cluster.Conditions().items()) {
        const bool is_true = condition["status"].AsString() == "True";
        const bool warns = condition["type"].AsString() == api::kClusterReady && !is_true;
        Add(TimeOf(condition["lastTransitionTime"]), "cluster", warns,
            absl::StrCat(condition["type"].AsString(), " became ", condition["status"].AsString(),
                         " (", condition["reason"].AsString(),
                         "): ", condition["message"].AsString()),
            *object);
      }
      for (const api::Taint& taint : cluster.Taints()) {
        Add(TimeOf(json::Value(taint.time_added)), "cluster", taint.effect == api::kNoExecute,
            absl::StrCat("got the taint ", taint.key, taint.value.empty() ? "" : "=", taint.value,
                         ":", taint.effect),
            *object);
      }
      Add(TimeOf(object->metadata()["creationTimestamp"]), "cluster", false, "joined", *object);
      Add(TimeOf(object->metadata()["deletionTimestamp"]), "cluster", true, "began to leave",
          *object);
    }
  }

  void ReadBindings() {
    for (const auto* kind : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
      lists_.Each(*kind, {"spec.gracefulEvictionTasks", "spec.resource"}, "",
                  [&](kube::Object binding) {
                    AddBinding(binding);
                    return true;
                  });
    }
  }

  void AddBinding(const kube::Object& object) {
    const api::BindingView binding(object);
    const api::ObjectReference reference = binding.Resource();
    templates_.insert(reference.gvk());
    for (const api::EvictionTask& task : binding.EvictionTasks()) {
      Add(TimeOf(task.json["creationTimestamp"]), "eviction", true,
          absl::StrCat("is evicted from ", task.from_cluster, " (", task.json["reason"].AsString(),
                       ", by ", task.json["producer"].AsString(), ")"),
          kube::Object::Make(reference.gvk(), reference.key()));
    }
  }

  void ReadLeaders() {
    for (const kube::ObjectPtr& lease :
         lists_.All(api::Leases(), {"spec"}, api::kSystemNamespace)) {
      Add(TimeOf(lease->spec()["acquireTime"]), "leader", false,
          absl::StrCat(lease->spec()["holderIdentity"].AsString(), " became the leader (change ",
                       lease->spec()["leaseTransitions"].AsInt(), ")"),
          *lease);
    }
  }

  // The last writers of templates. One selector for each kind of claim, so that none is read twice.
  void ReadTemplates() {
    if (templates_.empty()) return;
    const auto served = asked_.viewer.Served(asked_.stop);
    if (!served.ok()) {
      return lists_.Note(absl::StrCat("who has changed templates: ", served.status().message()));
    }
    const std::string by_cluster_policy =
        absl::StrCat(api::kClusterPropagationPolicyIdLabel, ",!", api::kPropagationPolicyIdLabel);
    for (const kube::ApiResource& kind : (*served)->resources) {
      if (!templates_.contains(kind.resource.gvk)) continue;
      const bool can_be_read = ReadEdits(kind.resource, by_cluster_policy);
      if (!can_be_read || !kind.resource.namespaced) continue;
      ReadEdits(kind.resource, api::kPropagationPolicyIdLabel);
    }
  }

  // The last writer of each object that is not Karmada itself. Returns whether all were read.
  bool ReadEdits(const kube::Resource& resource, absl::string_view selector) {
    const auto path = kube::CollectionPath(resource, "");
    if (!path.ok()) return false;
    std::string next;
    do {
      is_cut_ = is_cut_ || writers_read_ >= kMostWritersRead;
      if (is_cut_) return false;
      kube::Query query;
      query.Add("limit", "500").Add("labelSelector", selector).Add("continue", next);
      kube::HttpRequest request;
      request.path = absl::StrCat(*path, query.text());
      request.accept = kMetadataOnly;
      const auto answer = asked_.viewer.client().GetRaw(request, asked_.stop);
      if (!answer.ok() || answer->code != 200) return NoteUnread(resource, answer);
      const auto list = json::Parse(answer->body);
      if (!list.ok()) return NoteUnread(resource, list.status());
      for (const json::Value& item : (*list)["items"].items()) AddEdit(resource, item);
      writers_read_ += (*list)["items"].size();
      next = (*list)["metadata"]["continue"].ToString();
    } while (!next.empty());
    return true;
  }

  // Returns false.
  bool NoteUnread(const kube::Resource& resource,
                  const absl::StatusOr<kube::HttpResponse>& answer) {
    if (answer.ok() && answer->code == 404) return false;  // A kind that is not served.
    lists_.Note(absl::StrCat("who has changed ", resource.gvk.kind, " objects: ",
                             answer.ok() ? absl::StrCat("the answer has the code ", answer->code)
                                         : std::string(answer.status().message())));
    return false;
  }

  void AddEdit(const kube::Resource& resource, const json::Value& item) {
    const json::Value& metadata = item["metadata"];
    absl::Time last = absl::InfinitePast();
    absl::string_view writer;
    const char* done = "was changed";
    for (const json::Value& fields : metadata["managedFields"].items()) {
      const absl::string_view manager = fields["manager"].AsString();
      const bool is_karmada = absl::StartsWith(manager, "karmada-");
      const absl::Time time = TimeOf(fields["time"]);
      if (is_karmada || !fields["subresource"].AsString().empty() || time <= last) continue;
      last = time;
      writer = manager;
      done = fields["operation"].AsString() == "Apply" ? "was applied" : "was changed";
    }
    const absl::Time created = TimeOf(metadata["creationTimestamp"]);
    const kube::Object about = kube::Object::Make(
        resource.gvk, {metadata["namespace"].ToString(), metadata["name"].ToString()});
    const std::string by = writer.empty() ? "" : absl::StrCat(" by ", writer);
    if (last <= created) {
      Add(created, "edit", false, absl::StrCat("was created", by), about);
    } else {
      Add(last, "edit", false, absl::StrCat(done, by), about);
    }
    Add(TimeOf(metadata["deletionTimestamp"]), "edit", false, "is being deleted", about);
  }

  json::Value Sorted() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.time > b.time; });
    json::Value shown = json::Value::Array();
    for (size_t i = 0; i < std::min(entries_.size(), kMostEvents); ++i) {
      shown.Append(std::move(entries_[i].json));
    }
    const int64_t left_out =
        static_cast<int64_t>(entries_.size()) - static_cast<int64_t>(shown.size());
    return json::Value::Object({{"entries", std::move(shown)},
                                {"leftOut", left_out},
                                {"since", kube::FormatTime(since_)},
                                {"unread", lists_.Unread()},
                                {"readAt", kube::FormatTime(absl::Now())}});
  }

  const Asked& asked_;
  const absl::Time since_;
  ListsOfView lists_;
  std::vector<Entry> entries_;
  std::set<kube::Gvk> templates_;  // The kinds that bindings name.
  size_t writers_read_ = 0;        // Of how many objects.
  bool is_cut_ = false;            // There may be more.
};

}  // namespace

absl::StatusOr<json::Value> HourView(const Asked& asked) {
  ASSIGN_OR_RETURN(const int minutes, asked.parameters.Number("minutes", 60, kMostMinutes));
  return Hour(asked, absl::Now() - absl::Minutes(minutes)).Read();
}

}  // namespace lens::serve
