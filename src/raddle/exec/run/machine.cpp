// The machine's two ways to run a launch: at once, or as its stream is read.
#include "raddle/exec/run/machine.h"

#include <fmt/format.h>

#include <map>
#include <span>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/exec/run/launch_check.h"
#include "raddle/exec/run/runner.h"
#include "raddle/trace/memory_trace.h"

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
      : options_(options),
        own_(std::make_unique<Runner>(memory, options_, objects, launch)),
        runner_(*own_) {
    runner_.context().live = runner_.context().traced = 1;
    if (runner_.cluster_shape().count() > 1)
      throw CannotRunLive("kernel " + runner_.kernel().title +
                          " cannot be run live: its blocks form clusters, which must run together");
  }
  /// Goes on where `runner` has stopped; `before` holds what its warps have done so far.
  LiveStream(std::unique_ptr<Runner> runner, std::shared_ptr<trace::MemoryTrace> before)
      : own_(std::move(runner)), runner_(*own_), before_(std::move(before)) {
    runner_.context().live = runner_.context().traced = 1;
  }
  const trace::KernelCode& code() const override { return *runner_.kernel().code; }
  const trace::LaunchShape& shape() const override { return runner_.shape(); }
  bool concurrent() const override { return false; }
  bool live() const override { return true; }

  trace::WarpCursor open(u32 number, unsigned warp) override {
    std::unique_ptr<Open>& open = open_[number];
    if (open == nullptr) open = begin(number);
    RADDLE_ASSERT(warp < open->readers.size());
    Reader& reader = open->readers[warp];
    trace::WarpCursor cursor;
    // Only a warp that has not had its turn yet has nothing there.
    if (before_ != nullptr && runner_.started(number) &&
        (open->block == nullptr || open->block->warps[warp].room.at != nullptr)) {
      cursor = before_->open(number, warp);
      reader.before = cursor.position;
      cursor.position = &reader;
      return cursor;
    }
    cursor.position = &reader;
    const bool some = refill(cursor);
    RADDLE_ASSERT(some);
    return cursor;
  }
  bool refill(trace::WarpCursor& cursor) override {
    RADDLE_ASSERT(cursor.position != nullptr);
    Reader& reader = *static_cast<Reader*>(cursor.position);
    if (reader.before != nullptr) {
      trace::WarpCursor earlier{cursor.at, cursor.end, reader.before};
      if (before_->refill(earlier)) {
        reader.before = earlier.position;
        cursor.at = earlier.at;
        cursor.end = earlier.end;
        return true;
      }
      reader.before = nullptr;
    }
    if (reader.open->block == nullptr) return false;
    WarpState& warp = reader.open->block->warps[reader.warp];
    if (warp.status == WarpState::Status::Waiting)
      throw RunError(
          fmt::format("kernel {}: warp {} of block {} was asked to go on while it waits at {}",
                      runner_.kernel().title, warp.index, runner_.block_text(warp.block),
                      runner_.location(warp.ip->inst)));
    u32* const begin = reader.open->buffers.data() + warp.index * kBufferWords;
    u32* end = begin;
    const u64 before = runner_.context().warp_instructions;
    while (end == begin && warp.status == WarpState::Status::Ready)
      end = runner_.step(*reader.open->block, warp, begin, begin + kChunkWords, kBudget);
    RADDLE_ASSERT(end >= begin && end <= begin + kBufferWords);
    if (warp.status == WarpState::Status::Ready) {
      look(*reader.open->block, warp, {begin, end});
      look_at_lanes(warp, runner_.context().warp_instructions - before);
    } else {  // it has ended, or come to a barrier
      in_vain_ = idle_ = 0;
    }
    cursor.at = begin;
    cursor.end = end;
    return end != begin;
  }
  void close(u32 number) override {
    auto found = open_.find(number);
    if (found == open_.end()) return;
    if (found->second->block != nullptr) runner_.release(std::move(found->second->block));
    open_.erase(found);
  }

 private:
  static constexpr std::size_t kChunkWords = 64;  // 32 records without pieces
  static constexpr std::size_t kBufferWords = kChunkWords + Runner::kSlackWords;
  static constexpr std::uint64_t kBudget = std::uint64_t{1} << 40;
  struct Open;
  struct Reader {
    Open* open;
    unsigned warp;
    void* before = nullptr;  ///< where it stands in before_; nullptr: beyond it
  };
  struct Open {
    std::unique_ptr<Block> block;  ///< nullptr: it had ended before
    std::vector<u32> buffers;
    std::vector<Reader> readers;
  };
  /// Whether a warp that has just run goes round in circles, and what follows from that.
  void look(Block& block, WarpState& warp, std::span<const u32> stream) {
    runner_.note(stream, warp.round.effects);
    const auto round = runner_.comes_round(block, warp);
    const bool again = round == Runner::Round::Again;
    if (std::exchange(warp.watch.met, false) || (!again && round != Runner::Round::Unknown))
      in_vain_ = 0;
    if (again) {
      const u64 written = std::exchange(warp.round.effects.written, 0);
      if (std::exchange(warp.round.written_last, written) != written) idle_ = 0;
    }
    if (in_vain_ == 0 || std::exchange(warp.round.effects.acts, false)) idle_ = 0;
    if (!again && round != Runner::Round::Yes) return;
    if (runner_.lanes_part() && lanes_wait(warp)) give_way(runner_.context(), warp);
    ++in_vain_;
    ++idle_;
    if (until_review_ != 0) --until_review_;
    else review();
  }
  /// Looks at all warps, once for as many looks as there are warps that may go round: it takes as
  /// long as that.
  void review() {
    std::vector<const Block*> blocks;
    u64 asking = 0;
    for (const auto& [number, open] : open_)
      if (open->block != nullptr) {
        blocks.push_back(open->block.get());
        for (const WarpState& other : open->block->warps) {
          if (other.status != WarpState::Status::Ready) continue;
          ++asking;
          if (!other.watch.spins) in_vain_ = idle_ = 0;
        }
      }
    RADDLE_ASSERT(asking != 0);  // the one that has just been looked at
    until_review_ = asking - 1;
    if (const u64 times = in_vain_ / asking; times != 0)
      runner_.all_in_vain(blocks, times, idle_ / asking);
  }
  /// Lanes that have run for long while others of their warp wait give way even where they do not
  /// go round in circles: they may count how often they have asked.
  void look_at_lanes(WarpState& warp, u64 executed) {
    constexpr u64 kPatience = u64{1} << 20, kKnownPatience = u64{1} << 12;
    const bool same = lanes_wait(warp) && warp.mask == warp.alone_mask;
    warp.alone = same ? warp.alone + executed : 0;
    warp.alone_mask = warp.mask;
    if (warp.alone < (runner_.lanes_part() ? kKnownPatience : kPatience)) return;
    warp.alone = 0;
    runner_.let_lanes_part();
    if (runner_.lanes_part()) give_way(runner_.context(), warp);
  }
  std::unique_ptr<Open> begin(u32 number) {
    auto open = std::make_unique<Open>();
    open->block = before_ != nullptr && runner_.started(number) ? runner_.take(number)
                                                                : runner_.start(number);
    for (WarpState& warp : open->block == nullptr ? std::span<WarpState>() : open->block->warps)
      warp.watch.spins = false;
    const unsigned warps = shape().warps_per_block();
    open->buffers.resize(warps * kBufferWords);
    for (unsigned w = 0; w < warps; ++w) open->readers.push_back({open.get(), w});
    return open;
  }
  const MachineOptions options_;
  std::unique_ptr<Runner> own_;
  Runner& runner_;
  std::shared_ptr<trace::MemoryTrace> before_;  // nullptr: live from the start
  std::map<u32, std::unique_ptr<Open>> open_;
  u64 in_vain_ = 0;  // looks, one after another, that found every warp going round in circles
  u64 idle_ = 0;     // ... of which none acts
  u64 until_review_ = 0;
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

void Machine::check(const Launch& launch) const { check_launch(launch, impl_->options); }
RunCount Machine::run(const Launch& launch, trace::StreamWriter* streams) {
  Runner runner(impl_->memory, impl_->options, impl_->objects, launch);
  return runner.run(streams);
}
bool Machine::can_follow(const Launch& launch) {
  for (const Code& code : launch.kernel->functions)
    if (!code.device_calls.empty()) return false;
  return cluster_of(launch).count() == 1;
}
std::unique_ptr<trace::KernelStream> Machine::run_until_waiting(
    const Launch& launch, std::shared_ptr<trace::MemoryTrace> before, RunCount& count) {
  RADDLE_ASSERT(can_follow(launch));
  auto runner = std::make_unique<Runner>(impl_->memory, impl_->options, impl_->objects, launch);
  count = runner->run(before.get(), true);
  if (!runner->waits() && !count.is_long) return nullptr;
  return std::make_unique<LiveStream>(std::move(runner), std::move(before));
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
const std::map<std::string, u64>& Machine::stray_accesses() const { return impl_->objects.strays; }
std::string_view Machine::lanes() { return lane_engine().name; }

}  // namespace raddle::exec
