#include "kube/http/internal/cpprest_sink.h"

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kube {
namespace {

using Buffer = concurrency::streams::details::streambuf_state_manager<uint8_t>;

constexpr size_t kMaxBlock = std::numeric_limits<int>::max();

class InlineScheduler : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t function, void* parameter) override { function(parameter); }
};

template <class T>
pplx::task<T> Refuse() {
  return pplx::task_from_exception<T>(std::logic_error("the sink can only be written to"));
}

// Write-only; all other functions of the interface are refused.
class Sink : public Buffer {
 public:
  explicit Sink(std::function<absl::Status(absl::string_view)> on_data)
      : Buffer(std::ios_base::out), on_data_(std::move(on_data)) {}

  // Overridden in addition to _putn, because the base class would add a posted continuation to
  // every block.
  pplx::task<size_t> putn_nocopy(const uint8_t* bytes, size_t count) override {
    return _putn(bytes, count);
  }

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(uint8_t*& pointer, size_t& count) override {
    pointer = nullptr;
    count = 0;
    return false;
  }
  void release(uint8_t*, size_t) override {}

 protected:
  pplx::task<size_t> _putn(const uint8_t* bytes, size_t count) override {
    // The library keeps the size of a chunk in an int. With a size of -1, or one so large that it
    // becomes negative, this function would read far beyond the received bytes.
    const bool received = count <= kMaxBlock;
    const absl::Status status =
        received ? on_data_(absl::string_view(reinterpret_cast<const char*>(bytes), count))
                 : absl::UnavailableError("the size of a chunk makes no sense");
    if (status.ok()) return pplx::task_from_result(count, RunInline());
    return pplx::task_from_exception<size_t>(std::runtime_error(status.ToString()), RunInline());
  }
  pplx::task<size_t> _putn(const uint8_t* bytes, size_t count, bool) override {
    return _putn(bytes, count);
  }
  pplx::task<int_type> _putc(uint8_t byte) override {
    return _putn(&byte, 1).then([byte](size_t) { return static_cast<int_type>(byte); });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}

  pplx::task<int_type> _bumpc() override { return Refuse<int_type>(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return Refuse<int_type>(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return Refuse<int_type>(); }
  pplx::task<int_type> _ungetc() override { return Refuse<int_type>(); }
  pplx::task<size_t> _getn(uint8_t*, size_t) override { return Refuse<size_t>(); }
  size_t _scopy(uint8_t*, size_t) override { return 0; }

 private:
  const std::function<absl::Status(absl::string_view)> on_data_;
};

}  // namespace

pplx::task_options RunInline() {
  static const auto* const kScheduler =
      new std::shared_ptr<pplx::scheduler_interface>(std::make_shared<InlineScheduler>());
  return pplx::task_options(*kScheduler);
}

concurrency::streams::ostream MakeSinkStream(
    std::function<absl::Status(absl::string_view)> on_data) {
  return concurrency::streams::streambuf<uint8_t>(std::make_shared<Sink>(std::move(on_data)))
      .create_ostream();
}

}  // namespace kube
