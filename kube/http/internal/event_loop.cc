// The thread waits in epoll_wait for sockets, for the nearest timer and for an eventfd that Post()
// writes to. A round first runs posted functions, then handles ready sockets, then due timers. A
// source may remove itself or another one in the middle of a round: ready sources are looked up
// again before each call, and removed ones are kept alive until the round is over.
//
// What wakes up in a round, this thread first, costs more than most events. So while the thread is
// busy, which means that events come shortly after one another, it rests for some milliseconds when
// it has handled all there are, and a round has several events. It stops being busy when there is
// no event after a rest. A lone event is handled at once.

#include "kube/http/internal/event_loop.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/threads.h"

namespace kube {
namespace {

constexpr int kEventsPerRound = 64;
constexpr size_t kScratchBytes = 64 << 10;
// How long one round after the other begins while the thread is busy.
constexpr absl::Duration kRest = absl::Milliseconds(10);

uint32_t EpollEvents(short events) {
  return ((events & POLLIN) != 0 ? EPOLLIN : 0u) | ((events & POLLOUT) != 0 ? EPOLLOUT : 0u);
}

// What a loop is for, in words that follow "for", and whether it rests between rounds while it is
// busy.
struct LoopKind {
  absl::string_view serves;
  bool rests;
};
constexpr LoopKind kWatches = {"the watches of servers", /*rests=*/true};
constexpr LoopKind kForwarded = {"forwarded requests", /*rests=*/false};

// Lives until both the loop and the thread have released it.
class EpollReactor : public Reactor {
 public:
  explicit EpollReactor(const LoopKind& kind)
      : rests_(kind.rests),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    // The eventfd is the one descriptor without a source: its pointer is null.
    epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
    const bool made = epoll_ >= 0 && wake_ >= 0;
    if (made && epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0) return;
    // Without the event loop no watch would ever get an event, and nobody would notice.
    base::LogError("cannot create an event loop, which needs two file descriptors",
                   {{"for", kind.serves}, {"error", std::strerror(errno)}});
    std::abort();
  }
  ~EpollReactor() override {
    sources_.clear();
    close(wake_);
    close(epoll_);
  }

  // Returns false after Stop().
  bool Post(std::function<void(Reactor&)> function) {
    absl::MutexLock lock(&mu_);
    if (stopping_) return false;
    posted_.push_back(std::move(function));
    if (posted_.size() == 1) Wake();
    return true;
  }

  void Stop() {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    Wake();
  }

  void Run() {
    while (DoPosted()) {
      DoReady();
      DoTimers();
      removed_.clear();
    }
    removed_.clear();
    sources_.clear();
  }

  absl::Status Watch(const std::shared_ptr<Source>& source, const Interest& interest) override {
    Entry& entry = sources_[source.get()];
    entry.source = source;
    const Interest before = std::exchange(entry.interest, interest);
    // A socket that was closed meanwhile has left epoll by itself.
    const bool same = before.fd == interest.fd && before.socket == interest.socket;
    if (same && before.events == interest.events) return absl::OkStatus();
    epoll_event event = {.events = EpollEvents(interest.events), .data = {.ptr = source.get()}};
    const int operation = same ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_, operation, interest.fd, &event) == 0) return absl::OkStatus();
    entry.interest = Interest();
    return absl::UnavailableError(
        absl::StrCat("cannot wait for one more socket: ", std::strerror(errno),
                     " (limits: open file descriptors, fs.epoll.max_user_watches)"));
  }

  void SetTimer(const std::shared_ptr<Source>& source, base::SteadyTime at) override {
    Entry& entry = sources_[source.get()];
    entry.source = source;
    if (entry.timer == at) return;
    timers_.erase({entry.timer, source.get()});
    entry.timer = at;
    timers_.insert({at, source.get()});
  }

  void Remove(Source* source) override {
    const auto found = sources_.find(source);
    if (found == sources_.end()) return;
    Entry entry = std::move(found->second);
    sources_.erase(found);
    timers_.erase({entry.timer, source});
    const int fd = entry.interest.fd;
    if (fd >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    removed_.push_back(std::move(entry.source));
  }

  absl::Span<char> scratch() override { return absl::MakeSpan(scratch_); }

 private:
  struct Entry {
    std::shared_ptr<Source> source;
    Interest interest;
    base::SteadyTime timer = base::SteadyTime::InfiniteFuture();
  };

  void Wake() const {
    const uint64_t one = 1;
    static_cast<void>(!write(wake_, &one, sizeof one));
  }

  // Returns false when the loop has to end.
  bool DoPosted() {
    std::vector<std::function<void(Reactor&)>> functions;
    bool stopping = false;
    {
      absl::MutexLock lock(&mu_);
      functions.swap(posted_);
      stopping = stopping_;
    }
    for (const auto& function : functions) function(*this);
    return !stopping;  // After Stop() nothing more is posted.
  }

  int MillisecondsToWait() const {
    if (timers_.empty()) return -1;
    const absl::Duration left = timers_.begin()->first - SteadyNow();
    if (left <= absl::ZeroDuration()) return 0;
    constexpr absl::Duration kLongest = absl::Hours(1);
    return static_cast<int>(absl::ToInt64Milliseconds(std::min(left, kLongest))) + 1;
  }

  // Waits for events; returns their number.
  int AwaitEvents(absl::Span<epoll_event> events) {
    const auto await = [&](int milliseconds) {
      return epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds);
    };
    if (busy_) {
      if (const int more = await(0); more != 0) return more;
      // Sockets that become ready during the rest are handled in one round; a posted function ends
      // it.
      Rest(woken_ + kRest - SteadyNow());
      const int count = await(0);
      woken_ = SteadyNow();
      busy_ = count != 0;
      if (busy_) return count;
    }
    const int count = await(MillisecondsToWait());
    const base::SteadyTime now = SteadyNow();
    busy_ = rests_ && now - std::exchange(woken_, now) < kRest;
    return count;
  }

  // Waits until something is posted, for this time at most.
  void Rest(absl::Duration longest) const {
    if (longest <= absl::ZeroDuration()) return;
    pollfd posted = {wake_, POLLIN, 0};
    poll(&posted, 1, static_cast<int>(absl::ToInt64Milliseconds(longest)) + 1);
  }

  void DoReady() {
    std::array<epoll_event, kEventsPerRound> events;
    const int count = AwaitEvents(absl::MakeSpan(events));
    for (int i = 0; i < count; ++i) {
      auto* source = static_cast<Source*>(events[i].data.ptr);
      if (source == nullptr) {
        uint64_t ignored = 0;
        static_cast<void>(!read(wake_, &ignored, sizeof ignored));
      } else if (sources_.contains(source)) {
        source->OnReady(*this);
      }
    }
  }

  void DoTimers() {
    const base::SteadyTime now = SteadyNow();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      Source* source = timers_.begin()->second;
      timers_.erase(timers_.begin());
      sources_.at(source).timer = base::SteadyTime::InfiniteFuture();
      source->OnTimer(*this);
    }
  }

  const bool rests_;
  const int epoll_;
  const int wake_;
  absl::Mutex mu_;
  std::vector<std::function<void(Reactor&)>> posted_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // The members below are used only by the thread.
  absl::flat_hash_map<Source*, Entry> sources_;
  std::set<std::pair<base::SteadyTime, Source*>> timers_;
  std::vector<std::shared_ptr<Source>> removed_;
  bool busy_ = false;
  base::SteadyTime woken_;  // When the last round began.
  std::array<char, kScratchBytes> scratch_;
};

// The threads of all loops. The process ends only after them: a thread that still used OpenSSL
// while that cleans itself up would crash.
class LoopThreads {
 public:
  static LoopThreads& Get() {
    static auto* const threads = new LoopThreads;
    [[maybe_unused]] static const int registered = [] {
      // What was registered last is called first at the exit, so OpenSSL has to come before.
      OPENSSL_init_ssl(0, nullptr);
      return std::atexit([] { Get().JoinAll(); });
    }();
    return *threads;
  }

  std::thread::id Start(absl::string_view serves, const std::shared_ptr<EpollReactor>& reactor) {
    absl::MutexLock lock(&mu_);
    for (std::thread& thread : ended_) thread.join();
    ended_.clear();
    std::thread thread = base::StartThread(serves, [this, reactor] {
      reactor->Run();
      End();
    });
    const std::thread::id id = thread.get_id();
    running_[id] = {std::move(thread), reactor};
    return id;
  }
  // Ends the thread and waits for it. A thread that calls this for itself ends afterwards.
  void Stop(std::thread::id id) {
    Running running;
    {
      absl::MutexLock lock(&mu_);
      const auto found = running_.find(id);
      if (found == running_.end()) return;  // JoinAll is waiting for it.
      found->second.reactor->Stop();
      if (id == std::this_thread::get_id()) return;
      running = std::move(found->second);
      running_.erase(found);
    }
    running.thread.join();
  }

 private:
  struct Running {
    std::thread thread;
    std::shared_ptr<EpollReactor> reactor;
  };

  // The last thing that a thread does. If it has stopped itself, nobody waits for it yet.
  void End() {
    absl::MutexLock lock(&mu_);
    const auto found = running_.find(std::this_thread::get_id());
    if (found == running_.end()) return;  // Stop() or JoinAll() waits for it.
    ended_.push_back(std::move(found->second.thread));
    running_.erase(found);
  }

  void JoinAll() {
    std::map<std::thread::id, Running> running;
    std::vector<std::thread> ended;
    {
      absl::MutexLock lock(&mu_);
      running.swap(running_);
      ended.swap(ended_);
    }
    for (auto& [id, one] : running) {
      one.reactor->Stop();
      one.thread.join();
    }
    for (std::thread& thread : ended) thread.join();
  }

  absl::Mutex mu_;
  std::map<std::thread::id, Running> running_ ABSL_GUARDED_BY(mu_);
  // Threads that have stopped themselves and done all they had to. The next Start() joins them.
  std::vector<std::thread> ended_ ABSL_GUARDED_BY(mu_);
};

class ThreadedLoop : public EventLoop {
 public:
  explicit ThreadedLoop(const LoopKind& kind)
      : kind_(kind), reactor_(std::make_shared<EpollReactor>(kind)) {}
  ~ThreadedLoop() override {
    absl::MutexLock lock(&mu_);  // Nobody else uses the loop any more.
    if (id_ != std::thread::id()) LoopThreads::Get().Stop(id_);
  }

  void Post(std::function<void(Reactor&)> function) override {
    {
      absl::MutexLock lock(&mu_);
      if (id_ == std::thread::id()) id_ = LoopThreads::Get().Start(kind_.serves, reactor_);
    }
    reactor_->Post(std::move(function));
  }

  bool OnThread() const override {
    absl::MutexLock lock(&mu_);
    return id_ == std::this_thread::get_id();
  }

 private:
  const LoopKind kind_;
  const std::shared_ptr<EpollReactor> reactor_;
  mutable absl::Mutex mu_;
  std::thread::id id_ ABSL_GUARDED_BY(mu_);  // None before the first Post.
};

// A loop that lives as long as somebody owns it.
class CurrentLoop {
 public:
  explicit CurrentLoop(const LoopKind& kind) : kind_(kind) {}

  std::shared_ptr<EventLoop> Get() {
    absl::MutexLock lock(&mu_);
    std::shared_ptr<EventLoop> loop = current_.lock();
    if (loop == nullptr) {
      loop = std::make_shared<ThreadedLoop>(kind_);
      current_ = loop;
    }
    return loop;
  }

 private:
  const LoopKind kind_;
  absl::Mutex mu_;
  std::weak_ptr<EventLoop> current_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<EventLoop> EventLoop::Shared() {
  static auto* const current = new CurrentLoop(kWatches);
  return current->Get();
}

std::shared_ptr<EventLoop> EventLoop::Prompt() {
  static auto* const current = new CurrentLoop(kForwarded);
  return current->Get();
}

}  // namespace kube
