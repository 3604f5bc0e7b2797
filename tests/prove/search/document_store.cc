#include "tests/prove/search/document_store.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace prove {
namespace {

constexpr char kIndex[] = "karmada-search-core-v1-configmap";

// "member1 one/a": "17 of 8d1c...", its version and uid.
using States = std::map<std::string, std::string>;

States StatesIn(const std::vector<json::Value>& documents, std::vector<std::string>& found) {
  States states;
  for (const json::Value& document : documents) {
    const std::string key =
        absl::StrCat(document["cluster"].AsString(), " ", document["namespace"].AsString(), "/",
                     document["name"].AsString());
    const std::string state =
        absl::StrCat(document["resourceVersion"].AsString(), " of ", document["uid"].AsString());
    if (!states.emplace(key, state).second) {
      found.push_back(absl::StrCat("documents: ", key, " has two"));
    }
  }
  return states;
}

States StatesAt(const History& history, int64_t moment) {
  States states;
  for (const std::string& member : history.Members()) {
    for (const auto& [key, number] : history.AtMoment(member, moment)) {
      const ObjectState state = history.State(member, key, number);
      if (!state.there()) continue;
      states[absl::StrCat(member, " ", key)] = absl::StrCat(state.version, " of ", state.uid);
    }
  }
  return states;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentStore>> DocumentStore::Start() {
  std::unique_ptr<DocumentStore> store(new DocumentStore);
  store->memory_.keeps_deletions = absl::Minutes(1);
  ASSIGN_OR_RETURN(
      store->server_,
      base::HttpServer::Start(
          {.threads = 1}, [store = store.get()](base::HttpRequest request,
                                                const std::shared_ptr<base::HttpResponder>& to) {
            absl::MutexLock lock(&store->mu_);
            to->Send(store->memory_.Answer(request));
          }));
  return store;
}

DocumentStore::~DocumentStore() {
  if (server_ != nullptr) server_->Stop();
}

std::string DocumentStore::url() const {
  return absl::StrCat("http://127.0.0.1:", server_->port());
}

std::vector<json::Value> DocumentStore::Documents() const {
  absl::MutexLock lock(&mu_);
  return memory_.Documents(kIndex);
}

std::vector<std::string> JudgeDocuments(const History& history, int64_t moment,
                                        const std::vector<json::Value>& documents) {
  std::vector<std::string> found;
  const States are = StatesIn(documents, found), due = StatesAt(history, moment);
  for (const auto& [key, state] : due) {
    const auto document = are.find(key);
    if (document == are.end()) {
      found.push_back(absl::StrCat("documents: ", key, " has none"));
    } else if (document->second != state) {
      found.push_back(
          absl::StrCat("documents: ", key, " is ", document->second, " instead of ", state));
    }
  }
  for (const auto& [key, state] : are) {
    if (!due.contains(key)) found.push_back(absl::StrCat("documents: ", key, " is not there"));
  }
  return found;
}

}  // namespace prove
