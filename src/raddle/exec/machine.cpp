// The machine's two ways to run a launch: at once, or as its stream is read.
#include "raddle/exec/machine.h"

#include <fmt/format.h>

#include <map>

#include "raddle/base/error.h"
#include "raddle/exec/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Executes a few dozen records ahead of its reader. A warp that has met a barrier is taken up
/// again when its reader asks for more, which the timing model does only after all warps have been
/// seen there.
class LiveStream final : public trace::KernelStream {
 public:
  LiveStream(DeviceMemory& memory, const MachineOptions& options, DeviceObjects& objects,
             const Launch& launch)
      : options_(options), runner_(memory, options_, objects, launch) {
    runner_.context().live = runner_.context().traced = 1;
    if (runner_.cluster_shape().count() > 1)
      throw InputError("kernel " + runner_.kernel().title +
                       " cannot be run live: its blocks form clusters, which must run together");
  }
  const trace::KernelCode& code() const override { return *runner_.kernel().code; }
  const trace::LaunchShape& shape() const override { return runner_.shape(); }
  bool concurrent() const override { return false; }

  trace::WarpCursor open(u32 number, unsigned warp) override {
    std::unique_ptr<Open>& block = open_[number];
    if (block == nullptr) {
      block = std::make_unique<Open>();
      block->block = runner_.start(number);
      block->buffers.resize(block->block->warps.size() * kBufferWords);
      for (WarpState& w : block->block->warps) block->readers.push_back({block.get(), &w});
    }
    trace::WarpCursor cursor;
    cursor.position = &block->readers[warp];
    const bool some = refill(cursor);
    RADDLE_ASSERT(some);
    return cursor;
  }
  bool refill(trace::WarpCursor& cursor) override {
    const Reader& reader = *static_cast<const Reader*>(cursor.position);
    WarpState& warp = *reader.warp;
    if (warp.status == WarpState::Status::Waiting)
      throw RunError(
          fmt::format("kernel {}: warp {} of block {} was asked to go on while it waits at {}",
                      runner_.kernel().title, warp.index, runner_.block_text(warp.block),
                      runner_.place(warp.ip->inst)));
    u32* const begin = reader.open->buffers.data() + warp.index * kBufferWords;
    u32* end = begin;
    while (end == begin && warp.status == WarpState::Status::Ready)
      end = runner_.step(*reader.open->block, warp, begin, begin + kChunkWords, kBudget);
    cursor.at = begin;
    cursor.end = end;
    return end != begin;
  }
  void close(u32 number) override {
    auto found = open_.find(number);
    if (found == open_.end()) return;
    runner_.release(std::move(found->second->block));
    open_.erase(found);
  }

 private:
  static constexpr std::size_t kChunkWords = 64;  // 32 records without pieces
  static constexpr std::size_t kBufferWords = kChunkWords + Runner::kSlackWords;
  static constexpr std::uint64_t kBudget = std::uint64_t{1} << 40;
  struct Open;
  struct Reader {
    Open* open;
    WarpState* warp;
  };
  struct Open {
    std::unique_ptr<Block> block;
    std::vector<u32> buffers;
    std::vector<Reader> readers;
  };
  const MachineOptions options_;
  Runner runner_;
  std::map<u32, std::unique_ptr<Open>> open_;
};

}  // namespace

struct Machine::Impl {
  DeviceMemory& memory;
  MachineOptions options;
  DeviceObjects objects;
};

Machine::Machine(DeviceMemory& memory, MachineOptions options)
    : impl_(std::make_unique<Impl>(
          Impl{memory, std::move(options), DeviceObjects(options.heap_bytes)})) {}
Machine::~Machine() = default;

RunCount Machine::run(const Launch& launch, trace::StreamWriter* streams) {
  Runner runner(impl_->memory, impl_->options, impl_->objects, launch);
  return runner.run(streams);
}
std::unique_ptr<trace::KernelStream> Machine::live(const Launch& launch) {
  return std::make_unique<LiveStream>(impl_->memory, impl_->options, impl_->objects, launch);
}
u64 Machine::create_texture(const TextureDescription& description) {
  return impl_->objects.images.create(description, impl_->memory);
}
u64 Machine::create_surface(const SurfaceDescription& description) {
  return impl_->objects.images.create(description, impl_->memory);
}
bool Machine::destroy_texture(u64 handle) { return impl_->objects.images.destroy_texture(handle); }
bool Machine::destroy_surface(u64 handle) { return impl_->objects.images.destroy_surface(handle); }
void Machine::set_heap_bytes(u64 bytes) { impl_->objects.heap.set_limit(bytes); }
void Machine::set_stack_bytes(u32 bytes) { impl_->options.stack_bytes = bytes; }
std::string_view Machine::lanes() { return lane_engine().name; }

}  // namespace raddle::exec
