// Running blocks: each warp to its barrier or for a quantum, blocks one after another, and several
// in turn when one does not come to an end by itself.
#include "raddle/exec/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/checked_launch.h"
#include "raddle/exec/run/launch_check.h"
#include "raddle/exec/run/observation.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Status = WarpState::Status;

namespace {
constexpr std::size_t kScratchWords = 2048;
/// Warp instructions until the block's other warps have their turn, and until the next block is
/// started beside it: of our own workloads, whose results are kept, and of programs of others.
struct Turns {
  u64 warp, block;
};
constexpr Turns kLongTurns{u64{1} << 16, u64{1} << 24}, kShortTurns{u64{1} << 8, u64{1} << 20};
/// A warp that sleeps mostly waits, and its loop may count so that nobody sees it. The turn of a
/// block of a program of others is over when its warps have slept so often and none ran on between.
constexpr u64 kSleepsOfTurn = 64;
/// Blocks that may wait for one another; more if they are small.
constexpr std::size_t kMaxBlocks = 2048, kMaxSmallBlocks = 8192;
constexpr std::size_t kBytesOfSmallBlocks = std::size_t{1} << 30;
/// Warp instructions between reports of progress: a tenth of a second or less, live too.
constexpr u64 kBetweenReports = u64{1} << 16;
/// Of blocks that have not ended, in memory: from there on whoever can executes a launch while it
/// is timed. Most launches of our workloads take less as a whole.
constexpr u64 kLongStreams = u64{256} << 20;
/// Turns that all blocks have had before a warp whose lanes seem to wait for one another may part.
constexpr unsigned kPatientRounds = 2;
constexpr std::size_t kFramePadding =
    192;  // frames of a block must not all start at the same cache set
}  // namespace

namespace {
/// Beside the block's own shared memory, and not counted in it, as on sm_80 and later.
constexpr u32 kReservedSharedBytes = 1024;
bool uses_reserved_shared(const Kernel& kernel) {
  for (const Code& code : kernel.functions)
    for (const Fill& f : code.fills)
      if (f.kind == Fill::Kind::Special && f.special == ptx::Special::ReservedSmemOffset)
        return true;
  return false;
}
}  // namespace
u32 Runner::reserved_shared_at(u32 shared_bytes) { return (shared_bytes + 127) / 128 * 128; }

Runner::Runner(DeviceMemory& memory, const MachineOptions& options, DeviceObjects& objects,
               const Launch& launch)
    : memory_(memory),
      options_(options),
      objects_(objects),
      kernel_(*launch.kernel),
      shape_(launch.shape),
      cooperative_(launch.cooperative),
      device_(launch.device) {
  RADDLE_ASSERT(!kernel_.functions.empty() && kernel_.code != nullptr);
  check_launch(launch, options);
  cluster_shape_ = cluster_of(launch);
  explicit_cluster_ = asks_for_clusters(launch);
  context_.clustered = explicit_cluster_ ? 1 : 0;
  shared_bytes_ = kernel_.static_shared_bytes + shape_.dynamic_shared_bytes;
  local_bytes_ = kernel_.local_bytes;
  if (kernel_.recursive) local_bytes_ = std::max(local_bytes_, options.stack_bytes);
  warps_ = shape_.warps_per_block();
  frame_stride_ = (kernel_.functions[0].frame_bytes + 511) / 256 * 256 + kFramePadding;
  parameters_.resize(launch.parameters.size());
  if (!parameters_.empty())
    std::memcpy(parameters_.data(), launch.parameters.data(), parameters_.size());
  grid_ = ++objects_.launches;
  if (cooperative_) prepare_grid_barrier();
  context_.global = reinterpret_cast<char*>(memory.bytes());
  context_.valid = memory.valid_bytes();
  context_.extent = memory.extent();
  context_.shared_bytes = shared_bytes_;
  if (uses_reserved_shared(kernel_))
    context_.shared_bytes = reserved_shared_at(shared_bytes_) + kReservedSharedBytes;
  context_.local_bytes = local_bytes_;
  context_.parameters = parameters_.data();
  context_.parameter_bytes = static_cast<u32>(parameters_.size());
  context_.aliases = kernel_.aliases.data();
  context_.clock_base = objects_.instructions;
  context_.owner = this;
  RADDLE_ASSERT(options.observer == nullptr || options.checks == nullptr);
  if (options.observer != nullptr) watcher_ = std::make_unique<Observation>(*options.observer);
  if (options.checks != nullptr) watcher_ = std::make_unique<CheckedLaunch>(*options.checks, *this);
  engine_ = watcher_ != nullptr ? &observed_lane_engine() : &lane_engine();
  context_.engine = engine_;
  scratch_.resize(kScratchWords);
  if (options.progress) next_report_ = kBetweenReports;
}

Runner::~Runner() {
  objects_.instructions += context_.warp_instructions;
  if (grid_workspace_ != 0) memory_.free(grid_workspace_);
}

/// The structure that cooperative groups expect the driver to provide: zeros.
void Runner::prepare_grid_barrier() {
  constexpr u64 kBytes = 256;
  const auto at = memory_.allocate(kBytes, {DeviceMemory::Owner::Kind::Internal});
  if (!at) throw RunError("no device memory left for the grid barrier of " + kernel_.title);
  std::memset(memory_.host(*at), 0, kBytes);
  grid_workspace_ = *at;
}

Address Runner::heap_allocate(u64 bytes) {
  const Address at = objects_.heap.allocate(memory_, bytes);
  context_.extent = memory_.extent();
  return at;
}

/// Before the running side of a warp that has parted goes on. True: it has waited for the rest of
/// its warp at a barrier, and has arrived there now.
bool Runner::goes_to_barrier(Block& block, WarpState& warp) {
  using At = SideProgress::At;
  SideProgress& side = warp.sides->running;
  context_.parted = 1;
  context_.passed = side.met ? warp.ip : nullptr;
  const bool arrives = side.at == At::Barrier;
  side.at = At::Running;
  side.met = false;
  if (!arrives) return false;
  arrive(block, warp);
  return arrived_ = true;
}

/// Records that had no room behind the one that they belong to, as many as fit.
void Runner::put_late(WarpState& warp) {
  const auto& words = warp.late;
  std::size_t taken = 0;
  while (taken < words.size()) {
    const trace::Record record{words[taken], words[taken + 1]};
    const trace::OpKind kind = kernel_.code->instructions[record.inst()].kind;
    const std::size_t pieces = trace::carries_transactions(kind) ? record.transactions() : 0;
    const std::size_t size = trace::kRecordWords + pieces * trace::kTransactionWords;
    if (taken + size > kSlackWords) break;
    taken += size;
  }
  RADDLE_ASSERT(taken != 0 && taken <= words.size());
  context_.out = std::copy_n(words.data(), taken, context_.out);
  warp.late.erase(warp.late.begin(), warp.late.begin() + static_cast<std::ptrdiff_t>(taken));
}

u32* Runner::step(Block& block, WarpState& warp, u32* out, u32* soft_end, u64 budget) {
  RADDLE_ASSERT(out <= soft_end);
  RADDLE_ASSERT(warp.block == block.number && warp.index < block.warps.size());
  RADDLE_ASSERT(warp.sp <= warp.stack_capacity);
  stepping_ = &block;
  context_.warp = &warp;
  context_.shared = block.shared.data();
  context_.out = out;
  context_.extent = memory_.extent();  // the host may have allocated since
  u64 end = context_.warp_instructions + budget;
  if (options_.max_warp_instructions != 0) end = std::min(end, options_.max_warp_instructions);
  context_.stop_at = end;
  if (context_.warp_instructions >= next_report_) report_progress(warp);
  arrived_ = asks_ = false;
  if (!warp.late.empty()) {
    put_late(warp);
    return context_.out;
  }
  while (warp.status == Status::Ready) {
    context_.run = warp.ip;
    context_.out_limit = soft_end;
    context_.parted = 0;
    if (warp.sides != nullptr && goes_to_barrier(block, warp)) return context_.out;
    switch (engine_->run(&context_)) {
      case Outcome::Done:
        if (warp.sides == nullptr || !next_side(context_, warp)) finish(block, warp);
        break;
      case Outcome::Barrier:
        if (warp.sides != nullptr) {
          meet(context_, warp, SideProgress::At::Barrier);
          break;
        }
        arrive(block, warp);
        arrived_ = true;
        return context_.out;
      case Outcome::Converged:
        if (!next_side(context_, warp)) finish(block, warp);
        break;
      case Outcome::Meet:
        meet(context_, warp, SideProgress::At::Meeting);
        break;
      case Outcome::Pause:
        if (context_.warp_instructions >= end) check_limit(warp);
        return context_.out;
    }
  }
  return context_.out;
}

void Runner::report_progress(const WarpState& warp) {
  next_report_ = context_.warp_instructions + kBetweenReports;
  options_.progress(
      {kernel_.title, warp.block, shape_.grid.count(), context_.warp_instructions, [&] {
         return fmt::format("block {} warp {} stands at {}", block_text(warp.block), warp.index,
                            location(warp.ip->inst));
       }});
}

void Runner::check_limit(const WarpState& warp) const {
  const u64 maximum = options_.max_warp_instructions;
  if (maximum == 0 || context_.warp_instructions < maximum) return;
  throw RunError(fmt::format(
      "kernel {} has not ended after {} warp instructions: block {} warp {} stands at {}; "
      "--max-cycles moves this limit",
      kernel_.title, maximum, block_text(warp.block), warp.index, location(warp.ip->inst)));
}

void Runner::check_limit_of(const WarpState& warp) const {
  const u64 maximum = options_.max_instructions_of_warp;
  if (maximum == 0 || warp.executed <= maximum || warp.status == Status::Done) return;
  throw RunError(fmt::format(
      "kernel {} has not ended: block {} warp {} has executed {} instructions, more than the {} "
      "that --max-cycles lets a warp execute, and stands at {}",
      kernel_.title, block_text(warp.block), warp.index, warp.executed, maximum,
      location(warp.ip->inst)));
}

void Runner::check_stream(const WarpState& warp) const {
  if (options_.max_stream_bytes == 0 || stream_bytes_ <= options_.max_stream_bytes) return;
  throw RunError(fmt::format(
      "kernel {}: its op stream is beyond {:.3g} GiB of memory after {} warp instructions: an "
      "endless loop? Block {} warp {} stands at {}. --max-stream GIB allows more; raddle record "
      "keeps no block that has ended, --live no stream at all",
      kernel_.title, static_cast<double>(options_.max_stream_bytes) / (1u << 30),
      context_.warp_instructions, block_text(warp.block), warp.index, location(warp.ip->inst)));
}

// --- barriers ------------------------------------------------------------------------------------
namespace {
u32 first_value(const WarpState& warp, u32 offset) {
  RADDLE_ASSERT(warp.effective != 0);  // somebody executes the instruction
  u32 value = 0;
  const unsigned lane = static_cast<unsigned>(__builtin_ctz(warp.effective));
  std::memcpy(&value, warp.frame + offset + 4 * lane, 4);
  return value;
}
}  // namespace

/// The warp's bar instruction: its record, its contribution, and waiting unless it only arrives. A
/// warp counts as a whole, whichever of its lanes are there (the architecture before sm_70 did the
/// same).
void Runner::arrive(Block& block, WarpState& warp) {
  RADDLE_ASSERT(warp.status == Status::Ready);
  const Record& record = *warp.ip;
  RADDLE_ASSERT(record.op == O_bar);
  const auto op = static_cast<BarOp>(record.imm);
  if (op >= BarOp::WarpgroupCommit) return arrive_at_warpgroup(block, warp);
  if (op >= BarOp::ClusterArrive) return arrive_at_cluster(block, warp);
  const u32 id = first_value(warp, record.a),
            threads = record.b != 0 ? first_value(warp, record.b) : 0;
  if (id > 15 || threads % kLanes != 0 || threads > 1024)
    throw RunError(fmt::format("{}: barrier {} with {} threads, block {} warp {}",
                               location(record.inst), id, threads, block_text(warp.block),
                               warp.index));
  const unsigned warps = threads / kLanes;
  const auto kind = op == BarOp::Arrive ? trace::BarrierKind::Arrive : trace::BarrierKind::Sync;
  const auto head = trace::Record::make(record.inst, 1, 0, 0);
  context_.out[0] = head.head;
  context_.out[1] = id | static_cast<u32>(kind) << 4 | warps << 8;
  context_.out += 2;
  BarrierState& barrier = block.barriers[id];
  if (watcher_ != nullptr) watcher_->arrived(block, warp, id);
  ++barrier.arrived;
  if (warps != 0) barrier.expected = warps;
  if (op >= BarOp::Popc) {
    u32 predicate = 0;
    std::memcpy(&predicate, warp.frame + record.c, 4);
    barrier.population += static_cast<unsigned>(__builtin_popcount(predicate & warp.effective));
    barrier.all = barrier.all && (~predicate & warp.effective) == 0;
    barrier.any = barrier.any || (predicate & warp.effective) != 0;
  }
  if (op == BarOp::Arrive) ++warp.ip;
  else {
    warp.status = Status::Waiting;
    warp.barrier = id;
  }
  open_if_complete(block, id);
}

void Runner::open_if_complete(Block& block, unsigned id) {
  RADDLE_ASSERT(id < block.barriers.size());
  BarrierState& barrier = block.barriers[id];
  const unsigned expected = barrier.expected != 0 ? barrier.expected : block.running;
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  if (watcher_ != nullptr) watcher_->opens(block, id);
  for (WarpState& warp : block.warps)
    if (warp.status == Status::Waiting && warp.barrier == id) release_warp(barrier, warp);
  barrier = {};
}

void Runner::release_warp(BarrierState& barrier, WarpState& warp) {
  RADDLE_ASSERT(warp.status == Status::Waiting && warp.ip->op == O_bar);
  const Record& r = *warp.ip;
  const auto op = static_cast<BarOp>(r.imm);
  if (op == BarOp::Popc)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((warp.effective >> lane & 1) != 0)
        std::memcpy(warp.frame + r.d + 4 * lane, &barrier.population, 4);
    }
  if (op == BarOp::And || op == BarOp::Or) {
    u32 p = 0;
    std::memcpy(&p, warp.frame + r.d, 4);
    const bool value = op == BarOp::And ? barrier.all : barrier.any;
    p = (p & ~warp.effective) | (value ? warp.effective : 0);
    std::memcpy(warp.frame + r.d, &p, 4);
  }
  warp.status = Status::Ready;
  ++warp.ip;
}

void Runner::finish(Block& block, WarpState& warp) {
  RADDLE_ASSERT(warp.status == Status::Ready && block.running != 0);
  warp.status = Status::Done;
  --block.running;
  if (Cluster* cluster = block.cluster.get(); cluster != nullptr) {
    if (warp.cluster_arrival == cluster->openings + 1) --cluster->arrived;
    open_cluster_if_complete(*cluster);
  }
  for (unsigned id = 0; id < block.barriers.size(); ++id)
    if (block.barriers[id].arrived != 0) open_if_complete(block, id);
}

// --- whole launches ------------------------------------------------------------------------------
/// One step, its records handed on.
unsigned Runner::advance(Block& block, WarpState& warp, trace::StreamWriter* streams, u64 budget) {
  u32* const begin = scratch_.data();
  const u64 before = context_.warp_instructions;
  u32* const at = step(block, warp, begin, begin + kScratchWords - kSlackWords, budget);
  RADDLE_ASSERT(at >= begin && at <= begin + kScratchWords);  // kSlackWords are enough
  const auto words = static_cast<unsigned>(at - begin);
  warp.executed += context_.warp_instructions - before;
  if (streams == nullptr || words == 0) return words;
  if (static_cast<std::size_t>(warp.room.end - warp.room.at) < words)
    warp.room = streams->grow(block.number, warp.index, words);
  RADDLE_ASSERT(static_cast<std::size_t>(warp.room.end - warp.room.at) >= words);
  std::memcpy(warp.room.at, begin, words * sizeof(u32));
  warp.room.at += words;
  streams->commit(block.number, warp.index, warp.room.at);
  block.stream_bytes += words * sizeof(u32);
  stream_bytes_ += words * sizeof(u32);
  check_stream(warp);
  check_limit_of(warp);
  return words;
}

void Runner::slice(Block& block, WarpState& warp, trace::StreamWriter* streams, u64 budget) {
  if (warp.asks.found) warp.watch.spins = warp.asks.found = false;  // it may get away this time
  if (lanes_part_) return slice_of_parted(block, warp, streams, budget);
  if (warp.watch.spins && goes_round(block, warp, streams)) return;
  constexpr u64 kShort = 512;  // a circle of asking is no longer
  const bool looks = warp.asks.looked_at();
  const u32 traced = context_.traced;
  if (looks) context_.traced = 1;  // what is accessed is told
  bool asks = false, over = false;
  Effects effects;
  const u64 begin = context_.warp_instructions, end = begin + budget;
  while (!over && warp.status == Status::Ready && context_.warp_instructions < end) {
    const unsigned words = advance(block, warp, streams, end - context_.warp_instructions);
    if (looks) note({scratch_.data(), words}, effects);
    // After a barrier the lowest warp goes first, not the one that came last. Warps of a grid that
    // may wait for another block go on until others can see or cause what they do.
    if (asks_ && lanes_wait(warp)) break;
    asks = asks_;
    over = arrived_ || cooperative_;
  }
  context_.traced = traced;
  if (asks && context_.warp_instructions - begin <= kShort)
    return asked_in_vain(block, warp, effects);
  warp.asks.turns = 0;
  if (over) return;
  SpinWatch& watch = warp.watch;
  if (warp.status != Status::Ready || ++watch.left < watch.interval) return;
  watch.left = 0;
  if (goes_round(block, warp, streams)) return;
  watch.interval = std::min(2 * watch.interval + 1, 255u);
  if (watch.asks && lanes_wait(warp) && full_rounds_ >= kPatientRounds) let_lanes_part();
}

/// Each warp that can run has its turn, until the block ends, the budget is spent, or all wait; or,
/// in a cluster, all ask for what another block may do.
Runner::Turn Runner::run_block(Block& block, trace::StreamWriter* streams, u64 budget) {
  const u64 end = context_.warp_instructions + budget;
  const u64 each = options_.short_turns ? kShortTurns.warp : kLongTurns.warp;
  u64 awake = context_.sleeps;  // when a warp ran on without a sleep
  bool ever = false;
  global_ = false;
  while (block.running != 0) {
    bool moved = false, works = false, all_ask = shares_objects(), for_cluster = true;
    for (WarpState& warp : block.warps)
      if (warp.status == Status::Ready) {
        moved = ever = true;
        const u64 before = context_.sleeps;
        slice(block, warp, streams, each);
        if (context_.sleeps == before) awake = before;
        all_ask = all_ask && (asks_ || warp.watch.spins);
        works = works || !warp.watch.spins || !warp.watch.same;
        acts_ = acts_ || warp.watch.acts;
        global_ = global_ || warp.watch.global;
        for_cluster = for_cluster && warp.asks.found;
      }
    if (!moved) return ever ? Turn::Moved : Turn::Stuck;
    fruitful_ = fruitful_ || works;
    if (!works) return for_cluster ? Turn::Asks : Turn::Waits;
    const bool sleeps = options_.short_turns && context_.sleeps - awake >= kSleepsOfTurn;
    const bool spent = all_ask || sleeps || context_.warp_instructions >= end;
    if (spent && block.running != 0) return Turn::Moved;
  }
  return Turn::Ended;
}

namespace {
u64 kept_by(const std::vector<std::unique_ptr<Block>>& blocks) {
  u64 bytes = 0;
  for (const auto& block : blocks) bytes += block->stream_bytes;
  return bytes;
}
std::vector<const Block*> all_of(const std::vector<std::unique_ptr<Block>>& blocks) {
  std::vector<const Block*> out;
  for (const auto& block : blocks) out.push_back(block.get());
  return out;
}
}  // namespace

std::size_t Runner::max_blocks() const {
  if (cooperative_) return shape_.grid.count();
  const std::size_t bytes = (frame_stride_ + std::size_t{local_bytes_} * kLanes) * warps_ +
                            context_.shared_bytes + sizeof(Block);
  return std::clamp(kBytesOfSmallBlocks / bytes, kMaxBlocks, kMaxSmallBlocks);
}

RunCount Runner::counted(bool is_long) const {
  return {context_.warp_instructions, context_.thread_instructions, is_long, waits_};
}

RunCount Runner::run(trace::StreamWriter* streams, bool follow) {
  const u64 each = cluster_shape_.count();
  RADDLE_ASSERT(each != 0 && shape_.grid.count() % each == 0);
  const u32 clusters = static_cast<u32>(shape_.grid.count() / each);
  context_.traced = streams != nullptr ? 1 : 0;
  context_.live = cooperative_ ? 1 : 0;
  // Elsewhere, in a file, a block's stream goes when the block has ended.
  const bool in_memory = dynamic_cast<const trace::MemoryTrace*>(streams) != nullptr;
  const std::size_t maximum = max_blocks();
  const Turns turns = options_.short_turns ? kShortTurns : kLongTurns;
  const u64 quantum = cooperative_ ? 1 : each > 1 ? kLongTurns.warp : turns.block;
  unsigned fruitless = 0, idle = 0;  // rounds in which all waited, and none acts by asking
  std::size_t wanted = 1;            // blocks to be started beside those that go on
  while (next_ < clusters || !active_.empty()) {
    for (; wanted != 0 && next_ < clusters && active_.size() + each <= maximum; --wanted)
      start_cluster(next_++);
    bool moved = false, for_others = false;
    fruitful_ = acts_ = false;
    std::size_t waiting = 0, asking = 0, stuck = 0;
    for (auto& block : active_) {
      const Turn turn = run_block(*block, streams, quantum);
      moved = moved || turn != Turn::Stuck;
      waiting += turn == Turn::Waits ? 1 : 0;
      for_others = for_others || (turn == Turn::Waits && global_);
      asking += turn == Turn::Asks ? 1 : 0;
      stuck += turn == Turn::Stuck ? 1 : 0;
      if (turn != Turn::Ended) continue;
      if (streams != nullptr) streams->finish(block->number);
      if (streams != nullptr && !in_memory) stream_bytes_ -= block->stream_bytes;
      release(std::move(block));
    }
    active_.erase(std::remove(active_.begin(), active_.end(), nullptr), active_.end());
    // Only the blocks of a cluster wait for one another without running.
    if (!moved) deadlock(*active_[0]);
    waits_ = waits_ || (for_others && shape_.grid.count() > each);
    const bool is_long = follow && !waits_ && kept_by(active_) > kLongStreams;
    if (is_long || (waits_ && follow)) return counted(is_long);
    // At its cluster's barrier a block can do nothing about what the others ask for.
    const bool all_wait = waiting + asking != 0 && waiting + asking + stuck == active_.size();
    const bool more = next_ < clusters && active_.size() + each <= maximum;
    full_rounds_ = more ? 0 : full_rounds_ + 1;
    fruitless = all_wait && !more && !fruitful_ ? fruitless + 1 : 0;
    idle = fruitless != 0 && !acts_ ? idle + 1 : 0;
    if (fruitless != 0) all_in_vain(all_of(active_), fruitless, idle);
    // Whoever waits for all others would else be asked once for each of them.
    wanted = all_wait ? waiting + asking : options_.short_turns ? active_.size() / 2 + 1 : 1;
  }
  return counted(false);
}

std::unique_ptr<Block> Runner::take(u32 number) {
  for (auto& block : active_)
    if (block != nullptr && block->number == number) return std::move(block);
  return nullptr;
}

// --- locations in messages -----------------------------------------------------------------------
void Runner::deadlock(const Block& block) const {
  std::string text =
      fmt::format("kernel {}: block {} cannot go on, every warp waits:", kernel_.title,
                  block_text(block.number));
  for (const WarpState& warp : block.warps)
    if (warp.status == Status::Waiting && warp.barrier == kClusterBarrier) {
      text += fmt::format(" warp {} at its cluster's barrier, {};", warp.index,
                          location(warp.ip->inst));
    } else if (warp.status == Status::Waiting) {
      const BarrierState& b = block.barriers[warp.barrier];
      text += fmt::format(" warp {} at barrier {} ({} of {} warps have come), {};", warp.index,
                          warp.barrier, b.arrived, b.expected != 0 ? b.expected : block.running,
                          location(warp.ip->inst));
    }
  text.pop_back();
  throw RunError(text);
}

namespace {
std::string_view line_of(std::string_view text, unsigned line) {
  for (unsigned n = 1; n < line; ++n) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const std::size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view{} : text.substr(from, to - from + 1);
}

/// "a.cu:12, " of an instruction of `code`, "b.h:7, inlined at a.cu:12, " of inlined code; "" where
/// the PTX does not say (nvcc -lineinfo).
std::string written_at(const ptx::Module::Source& source, const Code& code, u32 inst) {
  const u32 index = inst - code.first_instruction;
  if (index >= code.source->instructions.size()) return "";
  const ptx::Instruction& from = code.source->instructions[index];
  const auto text_of = [&](const char* before, ptx::SourceLine at) {
    const auto file = source.source_files.find(at.file);
    if (at.line == 0 || file == source.source_files.end()) return std::string();
    return fmt::format("{}{}:{}, ", before, file->second, at.line);
  };
  return text_of("", from.source) + text_of("inlined at ", from.inlined_at);
}
}  // namespace

std::string Runner::location(u32 inst) const {
  const auto& instructions = kernel_.code->instructions;
  const ptx::Module& module = *kernel_.module;
  if (inst >= instructions.size()) return module.file + ": end of function";
  const u32 own =
      instructions[inst].alias_of != trace::kNoRegister ? instructions[inst].alias_of : inst;
  const Code* code = &kernel_.functions[0];
  for (const Code& c : kernel_.functions)
    if (c.first_instruction <= own) code = &c;
  const ptx::Module::Source source = module.source_of(*code->source);
  const unsigned line = instructions[inst].line;
  const std::string_view text = source.text != nullptr ? line_of(*source.text, line) : "";
  return fmt::format("{}{}:{} '{}'", written_at(source, *code, own), source.file, line, text);
}
std::string Runner::block_text(u32 number) const {
  const Dim3& g = shape_.grid;
  return fmt::format("({},{},{})", number % g.x, number / g.x % g.y, number / g.x / g.y);
}
std::string Runner::thread_text(const Warp& warp, unsigned lane) const {
  const Dim3& b = shape_.block;
  const u32 t = warp.index * kLanes + lane;
  return fmt::format("block {} thread ({},{},{})", block_text(warp.block), t % b.x, t / b.x % b.y,
                     t / (b.x * b.y));
}
const Code& Runner::running_code(const WarpState& warp) const {
  RADDLE_ASSERT(warp.activation < warp.functions.size());
  return kernel_.functions[warp.functions[warp.activation]];
}
void Runner::print(std::string_view text) const {
  if (options_.print) options_.print(text);
}

}  // namespace raddle::exec
