// Each call is one request to the control plane, and an object is translated on the way: RecordOf
// puts a registry into a record, RegistryOf takes it out and gives it the version of the record.
// Updates and deletions carry the version, so that the API server refuses one that is based on an
// older state. Revisions are those of the control plane's etcd for all kinds together, so they grow
// between changes of registries, too.
//
// Lists are read whole and cut into pages here, since registries are few; each page shows the state
// of its own moment, whatever revision was asked for. When a watch ends, its caller starts another
// one. Nothing is kept in memory.

#include "search/registry/record_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace search {
namespace {

constexpr char kField[] = "registry";

int64_t RevisionIn(absl::string_view text) {
  int64_t revision = 0;
  return absl::SimpleAtoi(text, &revision) ? revision : 0;
}

absl::StatusOr<kube::ObjectPtr> RegistryOf(const kube::Object& record) {
  const json::Value& held = record.root()[kField];
  kube::Object registry(held);
  if (!held.is_object() || registry.name() != record.name()) {
    return absl::InternalError(
        absl::StrCat("the record ", record.name(), " holds no ResourceRegistry of this name"));
  }
  const kube::Gvk& gvk = api::ResourceRegistryResource().gvk;
  registry.Set({"apiVersion"}, gvk.ApiVersion());
  registry.Set({"kind"}, gvk.kind);
  registry.Set({"metadata", "resourceVersion"}, record.resource_version());
  return kube::Share(std::move(registry));
}

kube::Object RecordOf(const kube::Object& registry) {
  kube::Object held = registry;
  held.Erase({"metadata", "resourceVersion"});
  kube::Object record = kube::Object::Make(RegistryRecordResource().gvk, registry.key());
  record.Set({kField}, held.root());
  return record;
}

class RecordWatch : public RegistryWatch, public kube::WatchHandler {
 public:
  explicit RecordWatch(RegistryWatchHandler& handler) : handler_(handler) {}
  // Ends the watch first: until then it calls this object.
  ~RecordWatch() override { watch_.reset(); }

  void Start(kube::Client& client, int64_t revision) {
    kube::WatchOptions options;
    options.resource_version = absl::StrCat(revision);
    watch_ = client.StartWatch(RegistryRecordResource(), "", options, *this);
  }

  void OnEvent(EventType type, kube::Object record) override {
    const int64_t revision = RevisionIn(record.resource_version());
    if (type == EventType::kBookmark) {
      handler_.OnEvent({RegistryEvent::Type::kBookmark, nullptr, revision});
      return;
    }
    auto registry = RegistryOf(record);
    // A record that somebody edited into something else is a deletion for those who watch, as it is
    // missing from lists.
    const bool gone = type == EventType::kDeleted || !registry.ok();
    if (!registry.ok()) {
      kube::Object last =
          kube::Object::Make(api::ResourceRegistryResource().gvk, {"", std::string(record.name())});
      last.Set({"metadata", "resourceVersion"}, absl::StrCat(revision));
      registry = kube::Share(std::move(last));
    }
    handler_.OnEvent({gone ? RegistryEvent::Type::kDeleted : RegistryEvent::Type::kPut,
                      *std::move(registry), revision});
  }

  void OnEnd(absl::Status status) override { handler_.OnEnd(std::move(status)); }

 private:
  RegistryWatchHandler& handler_;
  std::unique_ptr<kube::Watch> watch_;
};

class RecordStore : public RegistryStore {
 public:
  explicit RecordStore(kube::Client& client) : client_(client) {}

  absl::StatusOr<kube::ObjectPtr> Get(absl::string_view name,
                                      const base::StopToken& stop) override {
    ASSIGN_OR_RETURN(const kube::Object record,
                     client_.Get(RegistryRecordResource(), {"", std::string(name)}, stop));
    return RegistryOf(record);
  }

  absl::StatusOr<Listing> List(const ListQuery& query, const base::StopToken& stop) override;

  absl::StatusOr<kube::ObjectPtr> Create(const kube::Object& object,
                                         const base::StopToken& stop) override {
    const auto record = client_.Create(RegistryRecordResource(), RecordOf(object), {}, stop);
    if (!record.ok()) {
      if (kube::AlreadyExists(record.status())) return AsExisting(object);
      return record.status();
    }
    return RegistryOf(*record);
  }

  absl::StatusOr<kube::ObjectPtr> Update(const kube::Object& object,
                                         const base::StopToken& stop) override {
    kube::Object record = RecordOf(object);
    record.Set({"metadata", "resourceVersion"}, object.resource_version());
    ASSIGN_OR_RETURN(const kube::Object stored,
                     client_.Replace(RegistryRecordResource(), record, {}, stop));
    return RegistryOf(stored);
  }

  absl::StatusOr<int64_t> Delete(const kube::Object& object, const base::StopToken& stop) override {
    kube::DeleteOptions options;
    options.resource_version = std::string(object.resource_version());
    RETURN_IF_ERROR(client_.Delete(RegistryRecordResource(), object.key(), options, stop).status());
    return 0;  // The answer does not say it.
  }

  std::unique_ptr<RegistryWatch> Watch(int64_t revision, RegistryWatchHandler& handler) override {
    auto watch = std::make_unique<RecordWatch>(handler);
    watch->Start(client_, revision);
    return watch;
  }

  absl::StatusOr<int64_t> Progress(const base::StopToken& stop) override {
    kube::ListOptions options;
    options.limit = 1;
    const auto page = client_.List(RegistryRecordResource(), "", options, stop);
    if (!page.ok()) return WithHint(page.status());
    return RevisionIn(page->resource_version);
  }

  absl::Status Health(const base::StopToken& stop) override { return Progress(stop).status(); }

 private:
  // A list finds no kind where its definition is missing, and an API server says "404 page not
  // found".
  static absl::Status WithHint(const absl::Status& status) {
    if (!absl::IsNotFound(status)) return status;
    return base::Annotate(status,
                          "the control plane does not serve "
                          "resourceregistryrecords.storage.search.karmada.io, whose "
                          "CustomResourceDefinition is in config/search (kubectl apply -f)");
  }

  static absl::Status AsExisting(const kube::Object& object) {
    return absl::AlreadyExistsError(absl::StrCat(object.name(), " is stored already"));
  }

  kube::Client& client_;
};

absl::StatusOr<RegistryStore::Listing> RecordStore::List(const ListQuery& query,
                                                         const base::StopToken& stop) {
  auto listed = client_.ListAll(RegistryRecordResource(), "", {}, stop);
  if (!listed.ok()) return WithHint(listed.status());
  kube::ListPage& page = *listed;
  Listing out;
  out.revision = RevisionIn(page.resource_version);
  std::sort(page.items.begin(), page.items.end(),
            [](const kube::Object& a, const kube::Object& b) { return a.name() < b.name(); });
  for (const kube::Object& record : page.items) {
    if (!query.after.empty() && record.name() <= query.after) continue;
    if (query.limit > 0 && static_cast<int64_t>(out.objects.size()) == query.limit) {
      ++out.remaining;
      continue;
    }
    auto registry = RegistryOf(record);
    if (registry.ok()) {
      out.objects.push_back(*std::move(registry));
    } else {
      out.unreadable.emplace_back(record.name());
    }
  }
  return out;
}

}  // namespace

const kube::Resource& RegistryRecordResource() {
  static const auto* const resource =
      new kube::Resource{{api::kStoredSearchGroup, api::kSearchVersion, "ResourceRegistryRecord"},
                         "resourceregistryrecords",
                         /*namespaced=*/false};
  return *resource;
}

std::unique_ptr<RegistryStore> NewRecordStore(kube::Client& client) {
  return std::make_unique<RecordStore>(client);
}

}  // namespace search
