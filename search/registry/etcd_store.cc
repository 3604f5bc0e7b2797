// Every write is one transaction that compares the revision of the key: 0 for a create. What a
// failed comparison means is read in the same transaction. A watch is asked for progress reports,
// which become bookmarks.

#include "search/registry/etcd_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resource_registry.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "search/registry/etcd_gateway.h"

namespace search {
namespace {

constexpr int64_t kPage = 500;

class EtcdStore : public RegistryStore {
 public:
  EtcdStore(std::unique_ptr<EtcdGateway> gateway, const EtcdOptions& options)
      : gateway_(std::move(gateway)),
        folder_(absl::StrCat(absl::StripSuffix(options.prefix, "/"), "/",
                             api::kRegistryStorageFolder, "/")),
        timeout_(options.request_timeout),
        health_timeout_(options.health_timeout) {}

  absl::StatusOr<kube::ObjectPtr> Get(absl::string_view name, const base::StopToken& stop) override;
  absl::StatusOr<Listing> List(const ListQuery& query, const base::StopToken& stop) override;
  absl::StatusOr<kube::ObjectPtr> Create(const kube::Object& object,
                                         const base::StopToken& stop) override;
  absl::StatusOr<kube::ObjectPtr> Update(const kube::Object& object,
                                         const base::StopToken& stop) override;
  absl::StatusOr<int64_t> Delete(const kube::Object& object, const base::StopToken& stop) override;
  std::unique_ptr<RegistryWatch> Watch(int64_t revision, RegistryWatchHandler& handler) override;
  absl::StatusOr<int64_t> Progress(const base::StopToken& stop) override;
  absl::Status Health(const base::StopToken& stop) override;

 private:
  std::string KeyOf(absl::string_view name) const { return absl::StrCat(folder_, name); }
  absl::StatusOr<json::Value> Range(json::Value request, absl::Duration timeout,
                                    const base::StopToken& stop);
  absl::StatusOr<json::Value> Guarded(absl::string_view name, int64_t revision, json::Value then,
                                      const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> Put(const kube::Object& object, int64_t revision,
                                      const base::StopToken& stop);

  const std::unique_ptr<EtcdGateway> gateway_;
  const std::string folder_;
  const absl::Duration timeout_, health_timeout_;
};

// The last key of a folder is followed by the name of the folder with '/' replaced by '0'.
std::string EndOf(std::string folder) {
  folder.back() = '0';
  return folder;
}

absl::StatusOr<kube::ObjectPtr> ObjectOf(const json::Value& kv, int64_t revision) {
  ASSIGN_OR_RETURN(const std::string text, BytesFromEtcd(kv["value"]));
  auto parsed = json::Parse(text);
  if (!parsed.ok() || !parsed->is_object()) {
    return absl::InternalError("the stored value is not a JSON object");
  }
  kube::Object object(*std::move(parsed));
  const kube::Gvk& gvk = api::ResourceRegistryResource().gvk;
  object.Set({"apiVersion"}, gvk.ApiVersion());
  object.Set({"kind"}, gvk.kind);
  object.Set({"metadata", "resourceVersion"}, absl::StrCat(revision));
  return kube::Share(std::move(object));
}

int64_t RevisionOf(const json::Value& answer) { return EtcdInt(answer["header"]["revision"]); }

// Returns the revision in metadata.resourceVersion, 0 if there is none.
int64_t VersionOf(const kube::Object& object) {
  int64_t revision = 0;
  return absl::SimpleAtoi(object.resource_version(), &revision) ? revision : 0;
}

absl::StatusOr<json::Value> EtcdStore::Range(json::Value request, absl::Duration timeout,
                                             const base::StopToken& stop) {
  return gateway_->Send({"/v3/kv/range", std::move(request), false, timeout}, stop);
}

absl::StatusOr<kube::ObjectPtr> EtcdStore::Get(absl::string_view name,
                                               const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const json::Value answer,
                   Range(json::Value::Object({{"key", EtcdBytes(KeyOf(name))}}), timeout_, stop));
  if (answer["kvs"].empty()) return absl::NotFoundError(absl::StrCat(name, " is not stored"));
  const json::Value& kv = answer["kvs"].At(0);
  auto object = ObjectOf(kv, EtcdInt(kv["mod_revision"]));
  if (!object.ok()) return base::Annotate(object.status(), "etcd key ", KeyOf(name));
  return object;
}

absl::StatusOr<RegistryStore::Listing> EtcdStore::List(const ListQuery& query,
                                                       const base::StopToken& stop) {
  Listing out;
  std::string after = query.after;
  out.revision = query.revision;
  for (bool more = true; more;) {
    const int64_t wanted = query.limit - static_cast<int64_t>(out.objects.size());
    const int64_t page = query.limit > 0 ? std::min(wanted, kPage) : kPage;
    json::Value request = json::Value::Object(
        {// The key after K is K with a zero byte.
         {"key",
          EtcdBytes(after.empty() ? folder_ : absl::StrCat(KeyOf(after), std::string(1, '\0')))},
         {"range_end", EtcdBytes(EndOf(folder_))},
         {"limit", absl::StrCat(page)}});
    // All pages at the revision of the first one, so that the list is of one moment.
    if (out.revision > 0) request.Set("revision", absl::StrCat(out.revision));
    ASSIGN_OR_RETURN(const json::Value answer, Range(std::move(request), timeout_, stop));
    if (out.revision == 0) out.revision = RevisionOf(answer);
    for (const json::Value& kv : answer["kvs"].items()) {
      ASSIGN_OR_RETURN(const std::string key, BytesFromEtcd(kv["key"]));
      std::string name(absl::StripPrefix(key, folder_));
      // The next page begins after it: without progress there would be pages for ever.
      if (name <= after)
        return absl::InternalError("etcd's answer has keys that were not asked for");
      after = std::move(name);
      auto object = ObjectOf(kv, EtcdInt(kv["mod_revision"]));
      if (object.ok()) {
        out.objects.push_back(*std::move(object));
      } else {
        out.unreadable.push_back(after);
      }
    }
    const int64_t count = std::max<int64_t>(EtcdInt(answer["count"]), 0);
    out.remaining = count - static_cast<int64_t>(answer["kvs"].size());
    const bool full = query.limit > 0 && static_cast<int64_t>(out.objects.size()) >= query.limit;
    more = out.remaining > 0 && !answer["kvs"].empty() && !full;
  }
  return out;
}

// Makes the request operation `then` if the key has the revision.
absl::StatusOr<json::Value> EtcdStore::Guarded(absl::string_view name, int64_t revision,
                                               json::Value then, const base::StopToken& stop) {
  const std::string key = EtcdBytes(KeyOf(name));
  // Revision 0 is that of a key that does not exist, so a creation is guarded in the same way.
  const json::Value compare = json::Value::Object({{"key", key},
                                                   {"target", "MOD"},
                                                   {"result", "EQUAL"},
                                                   {"mod_revision", absl::StrCat(revision)}});
  const json::Value read = json::Value::Object(
      {{"request_range", json::Value::Object({{"key", key}, {"keys_only", true}})}});
  json::Value body = json::Value::Object({{"compare", json::Value::Array({compare})},
                                          {"success", json::Value::Array({std::move(then)})},
                                          {"failure", json::Value::Array({read})}});
  ASSIGN_OR_RETURN(json::Value answer,
                   gateway_->Send({"/v3/kv/txn", std::move(body), true, timeout_}, stop));
  if (answer["succeeded"].AsBool()) return answer;
  if (answer["responses"].At(0)["response_range"]["kvs"].empty()) {
    return absl::NotFoundError(absl::StrCat(name, " is not stored"));
  }
  if (revision == 0) return absl::AlreadyExistsError(absl::StrCat(name, " is stored already"));
  return absl::AbortedError(absl::StrCat(name, " has been changed since revision ", revision));
}

absl::StatusOr<kube::ObjectPtr> EtcdStore::Put(const kube::Object& object, int64_t revision,
                                               const base::StopToken& stop) {
  kube::Object stored = object;
  // It is etcd's revision, which reading fills in.
  stored.Erase({"metadata", "resourceVersion"});
  json::Value put = json::Value::Object(
      {{"request_put", json::Value::Object({{"key", EtcdBytes(KeyOf(object.name()))},
                                            {"value", EtcdBytes(absl::StrCat(
                                                          json::Write(stored.root()), "\n"))}})}});
  ASSIGN_OR_RETURN(const json::Value answer,
                   Guarded(object.name(), revision, std::move(put), stop));
  stored.Set({"metadata", "resourceVersion"}, absl::StrCat(RevisionOf(answer)));
  return kube::Share(std::move(stored));
}

absl::StatusOr<kube::ObjectPtr> EtcdStore::Create(const kube::Object& object,
                                                  const base::StopToken& stop) {
  return Put(object, 0, stop);
}

absl::StatusOr<kube::ObjectPtr> EtcdStore::Update(const kube::Object& object,
                                                  const base::StopToken& stop) {
  const int64_t revision = VersionOf(object);
  if (revision <= 0) return absl::InvalidArgumentError("an update without a resourceVersion");
  return Put(object, revision, stop);
}

absl::StatusOr<int64_t> EtcdStore::Delete(const kube::Object& object, const base::StopToken& stop) {
  const int64_t revision = VersionOf(object);
  if (revision <= 0) return absl::InvalidArgumentError("a deletion without a resourceVersion");
  json::Value remove = json::Value::Object(
      {{"request_delete_range", json::Value::Object({{"key", EtcdBytes(KeyOf(object.name()))}})}});
  ASSIGN_OR_RETURN(const json::Value answer,
                   Guarded(object.name(), revision, std::move(remove), stop));
  return RevisionOf(answer);
}

// Turns the results of one watch into events.
class EtcdWatch : public RegistryWatch {
 public:
  explicit EtcdWatch(RegistryWatchHandler& handler) : handler_(handler) {}

  void Start(EtcdGateway& gateway, const json::Value& request) {
    stream_ = gateway.Watch(
        request, {.on_result = [this](const json::Value& result) { return OnResult(result); },
                  .on_end = [this](absl::Status status) { handler_.OnEnd(std::move(status)); }});
  }

 private:
  absl::Status OnResult(const json::Value& result) {
    if (result["canceled"].AsBool()) {
      const std::string why = result["cancel_reason"].ToString();
      if (EtcdInt(result["compact_revision"]) > 0) {
        return absl::OutOfRangeError(absl::StrCat("the revision has been compacted up to ",
                                                  EtcdInt(result["compact_revision"])));
      }
      return absl::UnavailableError(absl::StrCat("etcd cancelled the watch: ", why));
    }
    for (const json::Value& event : result["events"].items()) RETURN_IF_ERROR(OnEvent(event));
    // An answer without events reports progress, but for the first one, which only confirms.
    if (!result["created"].AsBool() && result["events"].empty()) {
      handler_.OnEvent({RegistryEvent::Type::kBookmark, nullptr, RevisionOf(result)});
    }
    return absl::OkStatus();
  }

  absl::Status OnEvent(const json::Value& event) {
    const json::Value& kv = event["kv"];
    const int64_t revision = EtcdInt(kv["mod_revision"]);
    const bool removed = event["type"].AsString() == "DELETE";
    auto object = ObjectOf(removed ? event["prev_kv"] : kv, revision);
    // A value that nobody can read is not a registry; lists leave it out, too. Of a deleted one the
    // last state may have been compacted: its name has to do.
    const bool gone = removed || !object.ok();
    if (!object.ok()) {
      ASSIGN_OR_RETURN(const std::string key, BytesFromEtcd(kv["key"]));
      kube::Object last = kube::Object::Make(api::ResourceRegistryResource().gvk,
                                             {"", key.substr(key.rfind('/') + 1)});
      last.Set({"metadata", "resourceVersion"}, absl::StrCat(revision));
      object = kube::Share(std::move(last));
    }
    handler_.OnEvent({gone ? RegistryEvent::Type::kDeleted : RegistryEvent::Type::kPut,
                      *std::move(object), revision});
    return absl::OkStatus();
  }

  RegistryWatchHandler& handler_;
  std::unique_ptr<kube::HttpStream> stream_;
};

std::unique_ptr<RegistryWatch> EtcdStore::Watch(int64_t revision, RegistryWatchHandler& handler) {
  const json::Value request = json::Value::Object(
      {{"create_request", json::Value::Object({{"key", EtcdBytes(folder_)},
                                               {"range_end", EtcdBytes(EndOf(folder_))},
                                               {"start_revision", absl::StrCat(revision + 1)},
                                               {"progress_notify", true},
                                               {"prev_kv", true}})}});
  auto watch = std::make_unique<EtcdWatch>(handler);
  watch->Start(*gateway_, request);
  return watch;
}

absl::StatusOr<int64_t> EtcdStore::Progress(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const json::Value answer,
                   Range(json::Value::Object({{"key", EtcdBytes(folder_)},
                                              {"range_end", EtcdBytes(EndOf(folder_))},
                                              {"count_only", true}}),
                         timeout_, stop));
  return RevisionOf(answer);
}

absl::Status EtcdStore::Health(const base::StopToken& stop) {
  // As etcdctl's health check: any linearizable read needs a leader and a quorum.
  return Range(json::Value::Object({{"key", EtcdBytes("health")}, {"keys_only", true}}),
               health_timeout_, stop)
      .status();
}

absl::StatusOr<EtcdGateway::Server> ServerOf(const EtcdOptions& options, const std::string& url) {
  kube::ConnectionConfig config;
  config.server = std::string(absl::StripSuffix(url, "/"));
  if (!absl::StartsWith(config.server, "http://") && !absl::StartsWith(config.server, "https://")) {
    return absl::InvalidArgumentError("the URL does not begin with http:// or https://");
  }
  config.ca_pem = options.ca_pem;
  config.ignore_proxy_environment = true;  // As etcd's own client.
  config.urgent = true;
  config.client_certificate_file = options.cert_file;
  config.client_key_file = options.key_file;
  ASSIGN_OR_RETURN(auto transport, kube::NewHttpTransport(config));
  return EtcdGateway::Server{kube::WithoutUserInfo(url), std::move(transport)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdGateway>> NewEtcdGateway(const EtcdOptions& options,
                                                            const base::Clock& clock) {
  if (options.servers.empty()) {
    return absl::InvalidArgumentError("--etcd-servers: at least one server is needed");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("--etcd-certfile and --etcd-keyfile are needed together");
  }
  std::vector<EtcdGateway::Server> servers;
  for (const std::string& url : options.servers) {
    auto server = ServerOf(options, url);
    if (!server.ok()) {
      return base::Annotate(server.status(), "--etcd-servers: ", kube::WithoutUserInfo(url));
    }
    servers.push_back(*std::move(server));
  }
  return std::make_unique<EtcdGateway>(std::move(servers), clock);
}

absl::StatusOr<std::unique_ptr<RegistryStore>> NewEtcdStore(const EtcdOptions& options,
                                                            const base::Clock& clock) {
  ASSIGN_OR_RETURN(auto gateway, NewEtcdGateway(options, clock));
  return NewEtcdStore(std::move(gateway), options);
}

std::unique_ptr<RegistryStore> NewEtcdStore(std::unique_ptr<EtcdGateway> gateway,
                                            const EtcdOptions& options) {
  return std::make_unique<EtcdStore>(std::move(gateway), options);
}

}  // namespace search
