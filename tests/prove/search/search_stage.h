// A control plane with two members in this process, whose servers know every state of every
// object, and karmada-search, the program itself, as a child, with readers around it.
#ifndef TESTS_PROVE_SEARCH_SEARCH_STAGE_H_
#define TESTS_PROVE_SEARCH_SEARCH_STAGE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/tls.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "tests/prove/search/document_store.h"
#include "tests/prove/search/history.h"
#include "tests/prove/search/oracle.h"
#include "tests/prove/search/reader.h"
#include "tests/prove/time/time_driver.h"

namespace prove {

struct SearchStageOptions {
  // The command line of karmada-search; what it has to know of the servers is added.
  std::vector<std::string> command;
  std::string directory;  // For certificates, kubeconfigs and the log.
};

// The namespaces of members in which objects are.
inline constexpr const char* kNamespaces[] = {"one", "two"};

// Used by the thread of the time driver, unless it says otherwise.
class SearchStage {
 public:
  // REQUIRES: `time` outlives the stage.
  static absl::StatusOr<std::unique_ptr<SearchStage>> Start(SearchStageOptions options,
                                                            TimeDriver& time);
  ~SearchStage();
  SearchStage(const SearchStage&) = delete;

  sandbox::Fleet& fleet() { return *fleet_; }
  History& history() { return history_; }
  TimeDriver& time() { return time_; }
  sandbox::ApiServer& member(const std::string& name) { return *fleet_->member(name); }

  absl::Status StartSearch();
  // Ends it as a crash does.
  void KillSearch();
  bool SearchDied() const;
  pid_t search() const { return search_; }
  // How often it has been started. Thread-safe.
  int process() const { return starts_; }

  // Begins the readers, one of each kind, until EndReaders().
  void StartReaders();
  // Has what readers have compared with what the members are now.
  void NoteSettled();
  // The documents that are not what the members are now.
  std::vector<std::string> WrongDocuments();
  // Ends karmada-search, too. Returns what is wrong in what readers have noted, and in documents.
  std::vector<std::string> EndReaders();
  std::vector<std::unique_ptr<Reader>>& readers() { return readers_; }

  // Keeps what the member is now, and makes it so again. Used by one thread at a time.
  void Backup(const std::string& member);
  void Restore(const std::string& member);

 private:
  SearchStage(SearchStageOptions options, TimeDriver& time)
      : options_(std::move(options)), time_(time) {}
  absl::Status Open();
  absl::Status OpenMember(const std::string& name);
  absl::Status Register();
  absl::Status IssueCertificates();
  void Follow(const std::string& member);
  void Keep(const std::string& reader, const std::vector<Note>& notes) const;

  const SearchStageOptions options_;
  TimeDriver& time_;
  History history_;
  std::unique_ptr<DocumentStore> documents_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::map<std::string, int64_t> subscriptions_;                 // By member.
  std::map<std::string, std::vector<kube::ObjectPtr>> backups_;  // By member.
  std::shared_ptr<const tls::ClientCredentials> reader_credentials_;
  int port_ = 0;
  pid_t search_ = 0;
  std::atomic<int> starts_ = 0;
  std::vector<std::unique_ptr<Reader>> readers_;
};

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_SEARCH_STAGE_H_
