// The plane gets what karmada-search reads at its start: whose certificates count, the definition
// of its records, and a record that registers ConfigMaps of all members. The histories of members
// follow what the servers store, by subscriptions: what a subscription was told of before a restore
// belongs to the epoch before it.

#include "tests/prove/search/search_stage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/meta/selector.h"
#include "sandbox/cluster_identity.h"
#include "sandbox/karmada_definitions.h"
#include "sandbox/manifests.h"
#include "tests/prove/child.h"

namespace prove {
namespace {

const kube::Gvr kConfigMaps{"", "v1", "configmaps"};
const kube::Gvr kSpaces{"", "v1", "namespaces"};

constexpr char kRecord[] = R"(
apiVersion: storage.search.karmada.io/v1alpha1
kind: ResourceRegistryRecord
metadata: {name: all}
registry:
  apiVersion: search.karmada.io/v1alpha1
  kind: ResourceRegistry
  metadata: {name: all, uid: 7e0c5f5e-0000-4000-8000-000000000001, creationTimestamp: "2026-01-01T00:00:00Z", generation: 1}
  spec:
    targetCluster: {}
    resourceSelectors:
    - {apiVersion: v1, kind: ConfigMap}
    backendStore: {openSearch: {addresses: ["$0"], secretRef: {namespace: "", name: ""}}}
)";

// They are read once: each run has a fleet of its own.
const absl::StatusOr<sandbox::KarmadaDefinitions>& Definitions() {
  static const auto& definitions = *[] {
    const auto directory = sandbox::FindManifests({"", "crds", "--crds"});
    return new absl::StatusOr<sandbox::KarmadaDefinitions>(
        directory.ok() ? sandbox::ReadKarmadaDefinitions(*directory, std::nullopt)
                       : directory.status());
  }();
  return definitions;
}

// Returns a port of the loopback address that nobody uses now.
absl::StatusOr<int> FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  if (!found) return absl::UnavailableError("there is no free port");
  return ntohs(address.sin_port);
}

absl::Status Create(sandbox::Backend& backend, const kube::Gvr& resource, kube::Object object) {
  const absl::Status created = backend.Create(resource, std::move(object)).status();
  return absl::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

absl::Status CreateNamespace(sandbox::Backend& backend, const std::string& name) {
  return Create(backend, kSpaces, kube::Object::Make({"", "v1", "Namespace"}, {"", name}));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SearchStage>> SearchStage::Start(SearchStageOptions options,
                                                                TimeDriver& time) {
  auto stage = std::unique_ptr<SearchStage>(new SearchStage(std::move(options), time));
  RETURN_IF_ERROR(stage->Open());
  return stage;
}

SearchStage::~SearchStage() {
  KillSearch();
  readers_.clear();
  fleet_.reset();
  documents_.reset();
}

absl::Status SearchStage::Open() {
  std::filesystem::create_directories(options_.directory);
  RETURN_IF_ERROR(Definitions().status());
  sandbox::FleetOptions fleet;
  fleet.definitions = &*Definitions();
  fleet.with_tls = false;
  fleet.with_scheduler = false;
  fleet.members = 2;
  fleet.nodes_per_member = 1;
  ASSIGN_OR_RETURN(fleet_, sandbox::Fleet::Start(fleet));
  RETURN_IF_ERROR(fleet_->WriteKubeconfigs(options_.directory));
  ASSIGN_OR_RETURN(port_, FreePort());
  RETURN_IF_ERROR(IssueCertificates());
  RETURN_IF_ERROR(Register());
  for (const std::string& name : fleet_->member_names()) RETURN_IF_ERROR(OpenMember(name));
  return absl::OkStatus();
}

absl::Status SearchStage::OpenMember(const std::string& name) {
  for (const char* space : kNamespaces) {
    RETURN_IF_ERROR(CreateNamespace(fleet_->member(name)->backend(), space));
  }
  Follow(name);
  return absl::OkStatus();
}

absl::Status SearchStage::IssueCertificates() {
  ASSIGN_OR_RETURN(const auto authority, tls::CertificateAuthority::Create("prove"));
  ASSIGN_OR_RETURN(const tls::KeyPair server,
                   authority->Issue({.common_name = "karmada-search", .dns_names = {"localhost"}}));
  ASSIGN_OR_RETURN(
      const tls::KeyPair reader,
      authority->Issue({.common_name = "reader", .organizations = {"system:masters"}}));
  ASSIGN_OR_RETURN(reader_credentials_, tls::ClientCredentials::Create(
                                            {.ca_pem = authority->cert_pem(), .client = reader}));
  for (const auto& [name, pem] :
       {std::pair{"search.crt", server.cert_pem}, std::pair{"search.key", server.key_pem}}) {
    RETURN_IF_ERROR(sandbox::WritePrivateFile(absl::StrCat(options_.directory, "/", name), pem));
  }
  sandbox::Backend& plane = fleet_->control_plane().backend();
  RETURN_IF_ERROR(CreateNamespace(plane, "kube-system"));
  kube::Object config = kube::Object::Make({"", "v1", "ConfigMap"},
                                           {"kube-system", "extension-apiserver-authentication"});
  // Nobody has a certificate of that name.
  config.Set({"data"}, json::Value::Object(
                           {{"client-ca-file", authority->cert_pem()},
                            {"requestheader-client-ca-file", authority->cert_pem()},
                            {"requestheader-allowed-names", R"(["front-proxy-client"])"},
                            {"requestheader-username-headers", R"(["X-Remote-User"])"},
                            {"requestheader-group-headers", R"(["X-Remote-Group"])"},
                            {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}));
  return Create(plane, kConfigMaps, std::move(config));
}

absl::Status SearchStage::Register() {
  sandbox::Backend& plane = fleet_->control_plane().backend();
  ASSIGN_OR_RETURN(const std::string directory, sandbox::FindManifests({"", "search", "--search"}));
  ASSIGN_OR_RETURN(std::vector<kube::Object> definitions, sandbox::ReadManifests(directory));
  RETURN_IF_ERROR(sandbox::LoadDefinitions(directory, std::move(definitions), plane));
  ASSIGN_OR_RETURN(documents_, DocumentStore::Start());
  ASSIGN_OR_RETURN(json::Value record, yaml::Parse(absl::Substitute(kRecord, documents_->url())));
  return Create(plane, {"storage.search.karmada.io", "v1alpha1", "resourceregistryrecords"},
                kube::Object(std::move(record)));
}

void SearchStage::Follow(const std::string& member) {
  subscriptions_[member] = fleet_->member(member)->backend().Subscribe(
      kConfigMaps, [this, member](const sandbox::Event& event) {
        const json::Value& object = event.object->root();
        const bool deleted = event.type == sandbox::Event::Type::kDeleted;
        history_.Add(member, KeyText(object), kube::ResourceVersionOf(*event.object),
                     deleted ? nullptr : &object);
      });
}

void SearchStage::Backup(const std::string& name) {
  const auto objects = member(name).backend().List(kConfigMaps, "", kube::LabelSelector());
  if (objects.ok()) backups_[name] = *objects;
  member(name).faults().Backup();
}

// What the member is going to be has to be known before anybody reads it.
void SearchStage::Restore(const std::string& name) {
  sandbox::ApiServer& server = member(name);
  server.backend().Unsubscribe(subscriptions_[name]);
  history_.BeginEpoch(name, server.version() + 1, backups_[name]);
  server.faults().Restore();
  Follow(name);
}

absl::Status SearchStage::StartSearch() {
  const std::string& directory = options_.directory;
  std::vector<std::string> words = options_.command;
  for (const std::string& word :
       {absl::StrCat("--kubeconfig=", directory, "/karmada.kubeconfig"),
        std::string("--registry-storage=custom-resources"), std::string("--bind-address=127.0.0.1"),
        absl::StrCat("--secure-port=", port_),
        absl::StrCat("--tls-cert-file=", directory, "/search.crt"),
        absl::StrCat("--tls-private-key-file=", directory, "/search.key")}) {
    words.push_back(word);
  }
  ++starts_;
  ASSIGN_OR_RETURN(search_, StartChild({.words = std::move(words),
                                        .log = absl::StrCat(directory, "/daemon.log")},
                                       time_));
  return absl::OkStatus();
}

void SearchStage::KillSearch() {
  if (search_ != 0) EndChild(search_, time_);
  search_ = 0;
}

bool SearchStage::SearchDied() const { return search_ != 0 && HasEnded(search_); }

void SearchStage::StartReaders() {
  for (const auto& [name, reading] :
       std::vector<std::pair<std::string, Reading>>{{"lists", Reading::kList},
                                                    {"cached lists", Reading::kCachedList},
                                                    {"pages", Reading::kPages},
                                                    {"a watch", Reading::kWatch},
                                                    {"short watches", Reading::kShortWatch},
                                                    {"interrupted watches", Reading::kOneByOne},
                                                    {"a watch-list", Reading::kWatchList}}) {
    readers_.push_back(
        std::make_unique<Reader>(ReaderOptions{.name = name,
                                               .reading = reading,
                                               .port = port_,
                                               .credentials = reader_credentials_,
                                               .process = [this] { return process(); }},
                                 history_));
  }
}

std::vector<std::string> SearchStage::EndReaders() {
  for (const auto& reader : readers_) reader->Stop();
  KillSearch();
  std::vector<std::string> found = WrongDocuments();
  for (const auto& reader : std::exchange(readers_, {})) {
    const std::vector<Note> notes = reader->Notes();
    std::vector<std::string> lines = Judge(reader->name(), history_, notes);
    if (!lines.empty()) Keep(reader->name(), notes);
    found.insert(found.end(), lines.begin(), lines.end());
  }
  return found;
}

void SearchStage::NoteSettled() {
  for (const auto& reader : readers_) reader->NoteSettled();
}

std::vector<std::string> SearchStage::WrongDocuments() {
  return JudgeDocuments(history_, history_.Moment(), documents_->Documents());
}

// Writes down what somebody who looks for the reason has to know.
void SearchStage::Keep(const std::string& reader, const std::vector<Note>& notes) const {
  std::ofstream file(absl::StrCat(options_.directory, "/", reader, ".notes"));
  for (const Note& note : notes) file << ToLine(note) << "\n";
  std::ofstream members(absl::StrCat(options_.directory, "/members"));
  members << history_.ToText();
}

}  // namespace prove
