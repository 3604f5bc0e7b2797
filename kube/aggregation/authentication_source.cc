// One thread follows the ConfigMap and the files. It lists the one ConfigMap (by its name as field
// selector, which is all that the role extension-apiserver-authentication-reader allows), applies
// it, and watches from there. The watch puts what it delivers into news_ and wakes the thread, so
// that nothing is parsed on the transport's thread. When the watch has ended, the thread lists
// again after a pause, which is longer if the watch has failed. In between it reads the
// files again at their times.

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"
#include "base/snapshot.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "base/threads.h"
#include "kube/aggregation/authentication_config.h"

namespace kube::aggregation {
namespace {

constexpr char kNamespace[] = "kube-system";
constexpr char kName[] = "extension-apiserver-authentication";
constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Seconds(30);
constexpr absl::Duration kLookupPause = absl::Milliseconds(500);

const Resource& ConfigMaps() {
  static const Resource* const resource = new Resource{
      .gvk = {.group = "", .version = "v1", .kind = "ConfigMap"}, .plural = "configmaps"};
  return *resource;
}

// The role grants the one name only: a list without it would be refused.
const std::string& FieldSelector() {
  static const std::string* const selector = new std::string(absl::StrCat("metadata.name=", kName));
  return *selector;
}

void LowerNames(std::vector<std::string>& names) {
  for (std::string& name : names) name = absl::AsciiStrToLower(absl::StripAsciiWhitespace(name));
}

class Follower : public AuthenticationSource, private WatchHandler {
 public:
  Follower(AuthenticationOptions options, Client* client, const base::Clock& clock)
      : options_(std::move(options)), client_(client), clock_(clock) {
    RequestHeaderNames& names = options_.requestheader_names;
    for (auto* list : {&names.user, &names.uid, &names.group, &names.extra_prefix}) {
      LowerNames(*list);
    }
  }

  ~Follower() override {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(const base::StopToken& stop) {
    // Files that the operator has named must be usable at the start; later they may be bad for a
    // while.
    RETURN_IF_ERROR(ReadFiles());
    Publish();
    if (LooksUp()) {
      const absl::Status status = FirstLookup(stop);
      if (!status.ok() && !options_.tolerate_lookup_failure) return status;
      if (!status.ok()) {
        base::LogWarning(
            "going on without the authentication configuration of the cluster, which "
            "may treat all requests as anonymous",
            {{"error", status}});
      }
    }
    if (LooksUp() || HasFiles()) {
      thread_ = base::StartThread("the authorities of clients", [this] { Run(); });
    }
    return absl::OkStatus();
  }

  std::shared_ptr<const AuthenticationConfig> Get() const override { return config_.Get(); }

 private:
  bool ClientsFromCluster() const { return options_.client_ca_file.empty(); }
  bool ProxiesFromCluster() const { return options_.requestheader_client_ca_file.empty(); }
  bool HasFiles() const { return !ClientsFromCluster() || !ProxiesFromCluster(); }
  bool LooksUp() const {
    return client_ != nullptr && !options_.skip_lookup &&
           (ClientsFromCluster() || ProxiesFromCluster());
  }

  void Publish() { config_.Set(std::make_shared<const AuthenticationConfig>(now_)); }

  absl::Status ReadFiles() {
    if (!ClientsFromCluster()) {
      ASSIGN_OR_RETURN(auto authority, ReadAuthority("client-ca-file", options_.client_ca_file));
      // now_ is changed only after a file was read as a whole: a half-written one leaves what was
      // in use.
      now_.clients = std::move(authority);
    }
    if (!ProxiesFromCluster()) {
      ASSIGN_OR_RETURN(auto authority, ReadAuthority("requestheader-client-ca-file",
                                                     options_.requestheader_client_ca_file));
      now_.front_proxies = FrontProxies{std::move(authority), options_.requestheader_allowed_names,
                                        options_.requestheader_names};
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::shared_ptr<const tls::ClientAuthority>> ReadAuthority(
      absl::string_view flag, const std::string& path) {
    auto pem = base::ReadContent(path);
    if (!pem.ok()) return base::Annotate(pem.status(), "--", flag);
    auto authority = tls::ClientAuthority::Create(*pem);
    if (!authority.ok()) return base::Annotate(authority.status(), "--", flag, ": ", path);
    return authority;
  }

  // Takes over what the ConfigMap has for us. The error names what is missing; the other part is
  // taken over nevertheless.
  absl::Status Apply(const json::Value& data) {
    absl::Status status;
    if (ProxiesFromCluster()) {
      auto proxies = ParseFrontProxies(data);
      status.Update(proxies.status());
      // A part that is unusable leaves the earlier one in force.
      if (proxies.ok()) now_.front_proxies = *std::move(proxies);
    }
    if (ClientsFromCluster()) {
      auto clients = ParseClients(data);
      if (clients.ok()) {
        now_.clients = *std::move(clients);
      } else {
        LogUnusable(clients.status());
      }
    }
    Publish();
    return base::Annotate(status, "ConfigMap ", kNamespace, "/", kName);
  }

  static void LogUnusable(const absl::Status& status) {
    base::LogWarning(
        "the authentication configuration of the cluster cannot be used; what was in "
        "use before stays",
        {{"object", absl::StrCat("ConfigMap ", kNamespace, "/", kName)}, {"error", status}});
  }

  // Lists and applies the ConfigMap; returns the version of the list.
  absl::StatusOr<std::string> Lookup(const base::StopToken& stop) {
    ListOptions options;
    options.field_selector = FieldSelector();
    ASSIGN_OR_RETURN(const ListPage page, client_->List(ConfigMaps(), kNamespace, options, stop));
    for (const Object& object : page.items) {
      if (object.name() != kName) continue;
      RETURN_IF_ERROR(Apply(object.root()["data"]));
      return page.resource_version;
    }
    return absl::NotFoundError(
        absl::StrCat("ConfigMap ", kNamespace, "/", kName, " does not exist"));
  }

  absl::Status FirstLookup(const base::StopToken& stop) {
    const base::SteadyTime deadline = clock_.SteadyNow() + options_.lookup_timeout;
    for (;;) {
      const absl::Status status = Lookup(stop).status();
      // A server that is starting answers so.
      const bool may_pass = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
      if (!may_pass || clock_.SteadyNow() + kLookupPause >= deadline) {
        return base::Annotate(status, "looking up the authentication configuration");
      }
      if (!clock_.SleepFor(kLookupPause, stop)) return absl::CancelledError("stopped");
    }
  }

  void Run() {
    const base::StopToken stop = stop_.get_token();
    base::SteadyTime next_files = clock_.SteadyNow() + options_.file_period;
    base::SteadyTime next_lookup =
        LooksUp() ? clock_.SteadyNow() : base::SteadyTime::InfiniteFuture();
    absl::Duration pause = kFirstPause;
    while (!stop.stop_requested()) {
      // While a watch runs, nothing is looked up: it delivers each change.
      if (watch_ == nullptr && clock_.SteadyNow() >= next_lookup) {
        const absl::Status status = LookupAndWatch(stop);
        if (!status.ok() && !stop.stop_requested()) LogUnusable(status);
        pause = status.ok() ? kFirstPause : std::min(2 * pause, kLongestPause);
        next_lookup = clock_.SteadyNow() + base::Jitter(pause, 0.5);
      }
      const base::SteadyTime lookup =
          watch_ == nullptr ? next_lookup : base::SteadyTime::InfiniteFuture();
      const News news = AwaitNews(std::min(lookup, HasFiles() ? next_files : lookup), stop);
      if (news.data) {
        const absl::Status status = Apply(*news.data);
        if (!status.ok()) LogUnusable(status);
      }
      if (news.ended) {
        watch_.reset();
        // A watch that ends without an error has reached its time, so only a failed one makes the
        // pause longer.
        if (!news.ended->ok()) pause = std::min(2 * pause, kLongestPause);
        next_lookup = clock_.SteadyNow() + base::Jitter(pause, 0.5);
      }
      if (HasFiles() && clock_.SteadyNow() >= next_files) {
        ReadFilesAgain();
        next_files = clock_.SteadyNow() + options_.file_period;
      }
    }
    watch_.reset();
  }

  absl::Status LookupAndWatch(const base::StopToken& stop) {
    ASSIGN_OR_RETURN(const std::string version, Lookup(stop));
    {
      absl::MutexLock lock(&mu_);
      // What an earlier watch has left does not count.
      news_ = {};
    }
    WatchOptions options;
    options.field_selector = FieldSelector();
    options.resource_version = version;
    watch_ = client_->StartWatch(ConfigMaps(), kNamespace, options, *this);
    return absl::OkStatus();
  }

  void ReadFilesAgain() {
    const absl::Status status = ReadFiles();
    if (!status.ok()) {
      base::LogWarning("an authority's file cannot be used; what was in use before stays",
                       {{"error", status}});
    }
    Publish();
  }

  struct News {
    std::optional<json::Value> data;    // What the newest state has.
    std::optional<absl::Status> ended;  // How the watch has ended.
  };

  News AwaitNews(base::SteadyTime deadline, const base::StopToken& stop) {
    const base::StopFlag stopped(mu_, stop);
    absl::MutexLock lock(&mu_);
    const auto woken = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return stopped.IsSet() || news_.data || news_.ended;
    };
    clock_.AwaitUntil(mu_, absl::Condition(&woken), deadline);
    // Of several events only the newest is applied.
    return std::exchange(news_, {});
  }

  void OnEvent(EventType type, Object object) override {
    // A ConfigMap that was deleted leaves what was in use: nobody could sign in otherwise.
    const bool changed = type == EventType::kAdded || type == EventType::kModified;
    if (!changed || object.name() != kName) return;
    absl::MutexLock lock(&mu_);
    news_.data = object.root()["data"];
  }

  void OnEnd(absl::Status status) override {
    absl::MutexLock lock(&mu_);
    news_.ended = std::move(status);
  }

  AuthenticationOptions options_;
  Client* const client_;
  const base::Clock& clock_;
  AuthenticationConfig now_;  // Used by Start and then by the thread only.
  base::Snapshot<AuthenticationConfig> config_;
  absl::Mutex mu_;
  News news_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Watch> watch_;  // Used by the thread only.
  base::StopSource stop_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AuthenticationSource>> AuthenticationSource::Start(
    AuthenticationOptions options, Client* client, const base::Clock& clock,
    const base::StopToken& stop) {
  RETURN_IF_ERROR(Validate(options));
  auto follower = std::make_unique<Follower>(std::move(options), client, clock);
  RETURN_IF_ERROR(follower->Start(stop));
  return follower;
}

}  // namespace kube::aggregation
