#include "tests/prove/search/history.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace prove {
namespace {

constexpr char kOrigin[] = "resource.karmada.io/cached-from-cluster";

std::string UidOf(const json::Value& object) {
  return std::string(object["metadata"]["uid"].AsString());
}

}  // namespace

std::string ComparableText(json::Value object) {
  object.Erase("kind");
  object.Erase("apiVersion");
  for (const char* name : {"resourceVersion", "managedFields"}) object.Erase({"metadata", name});
  object.Erase({"metadata", "annotations", kOrigin});
  if (object["metadata"]["annotations"].empty()) object.Erase({"metadata", "annotations"});
  return json::Write(object);
}

std::string KeyText(const json::Value& object) {
  const json::Value& metadata = object["metadata"];
  return absl::StrCat(metadata["namespace"].AsString(), "/", metadata["name"].AsString());
}

int64_t History::Moment() {
  absl::MutexLock lock(&mu_);
  return ++moment_;
}

History::Member& History::Of(const std::string& member) {
  Member& found = members_[member];
  if (found.epochs.empty()) found.epochs.push_back(0);
  return found;
}

const History::Member* History::FindMember(const std::string& member) const {
  const auto found = members_.find(member);
  return found == members_.end() ? nullptr : &found->second;
}

void History::Add(const std::string& member, const std::string& key, int64_t version,
                  const json::Value* object) {
  std::string text = object == nullptr ? "" : ComparableText(*object);
  std::string uid = object == nullptr ? "" : UidOf(*object);
  absl::MutexLock lock(&mu_);
  Member& of = Of(member);
  States& states = of.states[key];
  // Who begins to listen is told of what there is already.
  const bool known = !states.empty() && states.back().epoch == of.epoch &&
                     states.back().version == version && states.back().text == text;
  if (!known) {
    states.push_back({version, std::move(text), of.epoch, ++moment_, std::move(uid)});
  }
}

void History::BeginEpoch(const std::string& member, int64_t version,
                         const std::vector<kube::ObjectPtr>& contents) {
  absl::MutexLock lock(&mu_);
  Member& of = Of(member);
  ++of.epoch;
  of.epochs.push_back(++moment_);
  std::set<std::string> there;
  for (const kube::ObjectPtr& object : contents) {
    const std::string key = KeyText(object->root()), uid = UidOf(object->root());
    there.insert(key);
    States& states = of.states[key];
    // Another object had the name: that one is gone.
    if (!states.empty() && states.back().there() && states.back().uid != uid) {
      states.push_back({version, "", of.epoch, moment_});
    }
    states.push_back(
        {kube::ResourceVersionOf(*object), ComparableText(object->root()), of.epoch, moment_, uid});
  }
  for (auto& [key, states] : of.states) {
    if (!there.contains(key)) states.push_back({version, "", of.epoch, moment_});
  }
}

void History::Acknowledge(const std::string& member, int64_t version) {
  absl::MutexLock lock(&mu_);
  Member& of = Of(member);
  of.acknowledged.push_back({++moment_, of.epoch, version});
}

std::vector<std::string> History::Members() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> names;
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

ObjectState History::State(const std::string& member, const std::string& key, size_t number) const {
  absl::MutexLock lock(&mu_);
  return members_.at(member).states.at(key).at(number);
}

std::optional<size_t> History::DeletionAfter(const std::string& member, const std::string& key,
                                             size_t number) const {
  return Find(member, key, "", number + 1);
}

std::map<std::string, size_t> History::At(const std::string& member, int epoch,
                                          int64_t version) const {
  absl::MutexLock lock(&mu_);
  std::map<std::string, size_t> found;
  const Member* of = FindMember(member);
  if (of == nullptr) return found;
  for (const auto& [key, states] : of->states) {
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].epoch == epoch && states[i].version <= version) found[key] = i;
    }
  }
  return found;
}

std::map<std::string, size_t> History::AtMoment(const std::string& member, int64_t moment) const {
  absl::MutexLock lock(&mu_);
  std::map<std::string, size_t> found;
  const Member* of = FindMember(member);
  if (of == nullptr) return found;
  for (const auto& [key, states] : of->states) {
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].moment <= moment) found[key] = i;
    }
  }
  return found;
}

std::string History::ToText() const {
  absl::MutexLock lock(&mu_);
  std::string text;
  for (const auto& [name, member] : members_) {
    for (const auto& [key, states] : member.states) {
      for (const ObjectState& state : states) {
        absl::StrAppend(&text, name, " ", key, " moment ", state.moment, " epoch ", state.epoch,
                        " version ", state.version, ": ", state.there() ? state.text : "not there",
                        "\n");
      }
    }
  }
  return text;
}

std::optional<size_t> History::Find(const std::string& member, const std::string& key,
                                    const std::string& text, size_t from) const {
  absl::MutexLock lock(&mu_);
  const Member* of = FindMember(member);
  if (of == nullptr) return std::nullopt;
  const auto states = of->states.find(key);
  if (states == of->states.end()) return std::nullopt;
  for (size_t i = from; i < states->second.size(); ++i) {
    if (states->second[i].text == text) return i;
  }
  return std::nullopt;
}

int History::EpochAt(const std::string& member, int64_t moment) const {
  absl::MutexLock lock(&mu_);
  const Member* of = FindMember(member);
  if (of == nullptr) return 0;
  const auto after = std::upper_bound(of->epochs.begin(), of->epochs.end(), moment);
  return static_cast<int>(after - of->epochs.begin()) - 1;
}

int64_t History::AcknowledgedAt(const std::string& member, int64_t moment) const {
  const int epoch = EpochAt(member, moment);
  absl::MutexLock lock(&mu_);
  const Member* of = FindMember(member);
  int64_t version = 0;
  if (of == nullptr) return version;
  for (const Mark& mark : of->acknowledged) {
    if (mark.moment < moment && mark.epoch == epoch) version = std::max(version, mark.version);
  }
  return version;
}

}  // namespace prove
