// A run, step by step: the server is asked whether it would take the value (a dry run); the object
// is changed as `kubectl apply` does it; the plane settles, and stays quiet for a while; its daemon
// is killed; a fresh plane, which has seen nothing but the changed object, settles beside it; a
// fresh daemon of the first plane writes nothing; both planes are equal; the object is put back;
// the plane is as it was before.
//
// After a violation the plane is replaced, so that no run can spoil the next one. A plane that
// differs gets some minutes before it counts.

#include "tests/prove/values/value_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "sandbox/api_server.h"
#include "sandbox/sim/webhook_rules.h"
#include "tests/prove/perturbation.h"
#include "tests/prove/stage.h"

namespace prove {
namespace {

using Phase = Perturbation::Phase;

constexpr char kPrefix[] = "value ";
// The status of a cluster, with what its pods take, is written once a minute.
constexpr absl::Duration kQuiet = absl::Seconds(75), kQuietAfterRestart = absl::Seconds(30);
constexpr absl::Duration kObserved = absl::Seconds(20);
// How long a plane that differs gets, in steps.
constexpr absl::Duration kPatience[] = {absl::Minutes(1), absl::Minutes(4)};
constexpr int kMostFailures = 10;  // Of one request, within kObserved.
constexpr int kMoreThreads = 4;

bool HasNull(const json::Value& value) {
  if (value.is_null()) return true;
  return std::any_of(value.items().begin(), value.items().end(), HasNull) ||
         std::any_of(value.members().begin(), value.members().end(),
                     [](const json::Member& m) { return HasNull(m.value); });
}

// Members that a merge patch would remove have to be sent in another way.
json::Value Replacing(const json::Value& object) {
  json::Value patch = json::Value::Array();
  const auto add = [&](const std::string& path, const json::Value& value) {
    patch.Append(json::Value::Object({{"op", "add"}, {"path", path}, {"value", value}}));
  };
  for (const json::Member& m : object.members()) {
    if (m.name() == "apiVersion" || m.name() == "kind" || m.name() == "status") continue;
    if (m.name() != "metadata") add(absl::StrCat("/", m.name()), m.value);
  }
  for (const char* name : {"labels", "annotations"}) {
    const json::Value* map = object["metadata"].Find(name);
    if (map != nullptr && HasNull(*map)) add(absl::StrCat("/metadata/", name), *map);
  }
  return patch;
}

// What is stored of an object, as far as a user has given it.
std::string Stored(const kube::Object& object) {
  json::Value root = object.root();
  root.Erase("status");
  for (const char* name : {"resourceVersion", "generation", "managedFields"}) {
    root.Erase({"metadata", name});
  }
  return json::Write(root);
}

// Counts how often something was changed, which a plane that has seen more has done more often; or,
// as the digest of a template does, depends on a uid.
bool IsHistory(absl::string_view name, bool reported) {
  return name == "resourcetemplate.karmada.io/generation" ||
         name == "resourcebinding.karmada.io/passed-template" ||
         name == "deployment.kubernetes.io/revision" || name == "resourceTemplateGeneration" ||
         (reported && name == "generation");
}

json::Value WithoutHistory(const json::Value& value, bool reported) {
  if (value.is_array()) {
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) items.push_back(WithoutHistory(item, reported));
    return json::Value::OfItems(std::move(items));
  }
  if (!value.is_object()) return value;
  json::Value kept = json::Value::Object();
  for (const json::Member& m : value.members()) {
    if (IsHistory(m.name(), reported)) continue;
    const bool reports = m.name() == "manifestStatuses" || m.name() == "aggregatedStatus";
    kept.Set(m.name(), WithoutHistory(m.value, reported || reports));
  }
  return kept;
}

bool Changes(absl::string_view write) {
  return absl::EndsWith(write, " 200") || absl::EndsWith(write, " 201");
}

void Add(std::vector<std::string>& violations, absl::string_view when,
         const std::vector<std::string>& lines) {
  for (const std::string& line : lines) violations.push_back(absl::StrCat(when, line));
}

}  // namespace

json::Value ValueRecord::ToJson() const {
  return json::Value::Object({{"violations", json::Value::Strings(violations)},
                              {"refused", refused},
                              {"perturbed", !same},
                              {"failure", ""},
                              {"realSeconds", real_seconds}});
}

// A plane with the seed's objects on it.
class ValueRuns::Plane {
 public:
  // kInvalidArgument for a probe that is not understood; kFailedPrecondition when the server does
  // not take the object.
  static absl::StatusOr<std::unique_ptr<Plane>> Start(const Seed& seed, const std::string& probe,
                                                      StageOptions options, TimeDriver& time) {
    std::unique_ptr<Plane> plane(new Plane);
    plane->directory_ = options.directory;
    ASSIGN_OR_RETURN(plane->stage_, Stage::Start(std::move(options), time));
    RETURN_IF_ERROR(plane->Open(seed, probe));
    return plane;
  }
  ~Plane() {
    stage_.reset();
    if (!keep_) std::filesystem::remove_all(directory_);
  }

  Stage& stage() { return *stage_; }
  const json::Value& object() const { return object_; }
  void KeepLog() { keep_ = true; }

  absl::Status StartDaemon() {
    RETURN_IF_ERROR(stage_->StartDaemon());
    perturbation_->SetDaemon(stage_->daemon());
    return absl::OkStatus();
  }
  void KillDaemon() {
    perturbation_->SetDaemon(0);
    stage_->KillDaemon();
  }
  absl::Status Settle(absl::Duration quiet) { return stage_->Settle(quiet); }
  SettledState State() {
    SettledState state = ReadSettledState(stage_->fleet());
    for (auto& [key, object] : state) object = WithoutHistory(object, /*reported=*/false);
    return state;
  }

  // Changes the object from one manifest to another.
  absl::StatusOr<kube::ObjectPtr> Put(const json::Value& from, const json::Value& to,
                                      bool dry_run) {
    sandbox::PatchRequest request{.dry_run = dry_run, .field_manager = "user"};
    if (HasNull(to)) {
      request.type = sandbox::PatchRequest::Type::kJson;
      request.patch = Replacing(to);
    } else {
      request.patch = MergePatch(from, to);
    }
    return backend().Patch(resource_.gvr(), kube::Object(object_).key(), request);
  }
  absl::StatusOr<kube::ObjectPtr> Get() {
    return backend().Get(resource_.gvr(), kube::Object(object_).key());
  }

  // Returns what the daemon writes or repeats in a while in which nothing happens.
  std::vector<std::string> Restlessness() {
    Observe();
    stage_->time().RunFor(kObserved, [this] { return stage_->DaemonDied(); });
    std::map<std::string, int> failures;
    std::vector<std::string> lines;
    for (const std::string& write : perturbation_->Writes(Phase::kQuiet)) {
      if (Changes(write)) lines.push_back(write);
      ++failures[write];
    }
    for (const auto& [write, times] : failures) {
      if (times > kMostFailures) lines.push_back(absl::StrCat(write, " (", times, " times)"));
    }
    return lines;
  }

  // Begins a new record of requests.
  void Observe() {
    perturbation_ = std::make_shared<Perturbation>();
    perturbation_->SetPhase(Phase::kQuiet);
    perturbation_->SetDaemon(stage_->daemon());
    stage_->fleet().control_plane().SetInterference(perturbation_);
    for (const std::string& member : stage_->fleet().member_names()) {
      stage_->fleet().member(member)->SetInterference(perturbation_);
    }
  }
  std::vector<std::string> EffectiveWrites() const {
    std::vector<std::string> lines;
    for (const std::string& write : perturbation_->Writes(Phase::kQuiet)) {
      if (Changes(write)) lines.push_back(write);
    }
    return lines;
  }

  // Returns in what the plane differs, when it has had time.
  absl::StatusOr<std::vector<std::string>> DifferencesFrom(const SettledState& wanted) {
    SettledState state = State();
    for (const absl::Duration more : kPatience) {
      if (state == wanted) break;
      RETURN_IF_ERROR(Settle(more));
      state = State();
    }
    return Differences(wanted, state);
  }

 private:
  Plane() = default;

  absl::Status Open(const Seed& seed, const std::string& probe) {
    backend().AddAdmission(sandbox::WebhookRules());
    Observe();
    user_.emplace(stage_->fleet());
    for (const Action& action : seed.around) RETURN_IF_ERROR(user_->Perform(action));
    object_ = seed.subject.object;
    resource_ = backend().Find(kube::Object(object_).gvk());
    if (resource_.plural.empty()) return absl::NotFoundError("the object's kind is not served");
    if (seed.joined) RETURN_IF_ERROR(Adopt());
    if (!probe.empty()) {
      ASSIGN_OR_RETURN(object_, WithProbe(seed.subject, object_, probe));
    }
    if (!seed.late) RETURN_IF_ERROR(CreateObject());
    RETURN_IF_ERROR(StartDaemon());
    RETURN_IF_ERROR(Settle(kQuiet));
    if (!seed.late) return absl::OkStatus();
    RETURN_IF_ERROR(CreateObject());
    return Settle(kQuiet);
  }

  absl::Status CreateObject() {
    const absl::Status created =
        user_->Perform({.kind = Action::Kind::kApply, .cluster = "host", .object = object_});
    return created.ok() ? created : absl::FailedPreconditionError(created.message());
  }

  // Takes over what the object has that is there already.
  absl::Status Adopt() {
    ASSIGN_OR_RETURN(const kube::ObjectPtr live, Get());
    for (const json::Member& m : live->spec().members()) {
      if (!object_["spec"].Has(m.name())) object_.Set({"spec", m.name()}, m.value);
    }
    return absl::OkStatus();
  }

  sandbox::Backend& backend() { return stage_->fleet().control_plane().backend(); }

  std::unique_ptr<Stage> stage_;
  std::shared_ptr<Perturbation> perturbation_;
  std::optional<User> user_;
  kube::Resource resource_;
  json::Value object_;  // As the user has it.
  std::string directory_;
  bool keep_ = false;
};

ValueRuns::ValueRuns(Seed seed, RunOptions options, TimeDriver& time)
    : seed_(std::move(seed)), options_(std::move(options)), time_(time) {}
ValueRuns::~ValueRuns() = default;

std::vector<std::string> ValueRuns::Names() const {
  std::vector<std::string> names;
  for (const std::string& probe : Probes(seed_.subject)) {
    names.push_back(absl::StrCat(kPrefix, seed_.name, " ", probe));
  }
  return names;
}

absl::StatusOr<std::unique_ptr<ValueRuns::Plane>> ValueRuns::Fresh(const std::string& probe) {
  StageOptions stage{.command = options_.command,
                     .directory = absl::StrCat(options_.directory, "/", planes_++),
                     .with_tls = options_.with_tls};
  stage.command.insert(stage.command.end(), seed_.flags.begin(), seed_.flags.end());
  return Plane::Start(seed_, probe, std::move(stage), time_);
}

absl::Status ValueRuns::Prepare() {
  if (plane_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(plane_, Fresh(""));
  before_ = plane_->State();
  threads_ = ThreadsOf(plane_->stage().daemon());
  return absl::OkStatus();
}

ValueRecord ValueRuns::Reference() {
  ValueRecord record;
  const double began = RealSeconds();
  absl::Status done = Prepare();
  if (done.ok()) done = CompareWithFresh("", record);
  if (!done.ok()) record.violations.push_back(absl::StrCat("could not go on: ", done.message()));
  record.real_seconds = RealSeconds() - began;
  return record;
}

absl::StatusOr<ValueRecord> ValueRuns::Run(const std::string& name) {
  ValueRecord record;
  const double began = RealSeconds();
  absl::string_view probe = name;
  if (!absl::ConsumePrefix(&probe, absl::StrCat(kPrefix, seed_.name, " "))) {
    return absl::InvalidArgumentError(absl::StrCat("not the name of a run: ", name));
  }
  RETURN_IF_ERROR(Prepare());
  ASSIGN_OR_RETURN(const json::Value changed, WithProbe(seed_.subject, plane_->object(), probe));
  ASSIGN_OR_RETURN(const bool admitted, Admitted(changed, record));
  if (admitted) {
    const absl::Status tried = Try(std::string(probe), changed, record);
    if (!tried.ok())
      record.violations.push_back(absl::StrCat("could not go on: ", tried.message()));
  }
  if (!record.violations.empty() && plane_ != nullptr) {
    plane_->KeepLog();
    plane_ = nullptr;
    tried_.clear();  // It may be tried again.
  }
  record.real_seconds = RealSeconds() - began;
  return record;
}

absl::StatusOr<bool> ValueRuns::Admitted(const json::Value& changed, ValueRecord& record) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr live, plane_->Get());
  const auto stored = plane_->Put(plane_->object(), changed, /*dry_run=*/true);
  if (!stored.ok()) {
    record.refused = std::string(stored.status().message());
    return false;
  }
  const std::string text = Stored(**stored);
  record.same = text == Stored(*live) || !tried_.insert(text).second;
  return !record.same;
}

absl::Status ValueRuns::Try(const std::string& probe, const json::Value& changed,
                            ValueRecord& record) {
  RETURN_IF_ERROR(plane_->Put(plane_->object(), changed, /*dry_run=*/false).status());
  RETURN_IF_ERROR(base::Annotate(plane_->Settle(kQuiet), "with the value"));
  Add(record.violations, "written while all is settled: ", plane_->Restlessness());
  RETURN_IF_ERROR(CompareWithFresh(probe, record));
  const auto undone = plane_->Put(changed, plane_->object(), /*dry_run=*/false);
  RETURN_IF_ERROR(base::Annotate(undone.status(), "the value cannot be taken back"));
  RETURN_IF_ERROR(base::Annotate(plane_->Settle(kQuiet), "without the value again"));
  ASSIGN_OR_RETURN(const std::vector<std::string> differences, plane_->DifferencesFrom(before_));
  Add(record.violations, "taken back: ", differences);
  const int threads = ThreadsOf(plane_->stage().daemon());
  if (threads > threads_ + kMoreThreads) {
    record.violations.push_back(absl::StrCat("threads: ", threads, " instead of ", threads_));
  }
  return absl::OkStatus();
}

absl::Status ValueRuns::CompareWithFresh(const std::string& probe, ValueRecord& record) {
  // No time is spent on the daemon meanwhile.
  plane_->KillDaemon();
  SettledState wanted;
  auto fresh = Fresh(probe);
  const bool taken = !absl::IsFailedPrecondition(fresh.status());
  if (taken) {
    RETURN_IF_ERROR(base::Annotate(fresh.status(), "on a fresh plane"));
    wanted = (*fresh)->State();
    fresh->reset();
  }
  plane_->Observe();
  RETURN_IF_ERROR(plane_->StartDaemon());
  RETURN_IF_ERROR(base::Annotate(plane_->Settle(kQuietAfterRestart), "after a restart"));
  Add(record.violations, "written at a restart: ", plane_->EffectiveWrites());
  if (!taken) return absl::OkStatus();  // Who edits may do what who creates may not.
  ASSIGN_OR_RETURN(const std::vector<std::string> differences, plane_->DifferencesFrom(wanted));
  Add(record.violations, "not as on a fresh plane: ", differences);
  return absl::OkStatus();
}

}  // namespace prove
