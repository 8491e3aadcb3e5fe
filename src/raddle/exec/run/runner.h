// One launch being executed: blocks with their warps, frames and memories, and the plain half of
// the engine.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raddle/exec/isa/kernel.h"
#include "raddle/exec/memory/heap.h"
#include "raddle/exec/run/machine.h"
#include "raddle/exec/run/record_watcher.h"
#include "raddle/exec/run/sides.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

const LaneEngine& lane_engine();
/// Calls observe() before every record.
const LaneEngine& observed_lane_engine();

struct Block;
/// Blocks that run together, with a barrier, and see each other's shared memory.
struct Cluster {
  std::vector<Block*> blocks;  ///< by rank; nullptr: it has ended
  unsigned arrived = 0;        ///< running warps that have, since the barrier last opened
  std::uint64_t openings = 0;
};

/// What a warp did by a part of its stream.
struct Effects {
  /// Something keeps it from being where it was although its registers are what they were: it wrote
  /// to shared or local memory, slept, called.
  bool acts = false;
  bool global = false;  ///< it accessed global memory, by which it may wait for other blocks
  /// Of words of global memory that it wrote, as they are now: who writes the same in each round
  /// changes nothing.
  std::uint64_t written = 0;
};

/// Short turns that a warp has before it is first looked at.
inline constexpr unsigned kFirstLook = 32;
/// Whether a warp goes round in circles (spin.cpp).
struct SpinWatch {
  bool spins = false;               ///< when it was last looked at
  bool same = false;                ///< ... in the circle that it was in before
  bool acts = false;                ///< ... in which it may have changed memory, or slept
  bool global = false;              ///< ... in which it accessed global memory
  std::uint64_t written = 0;        ///< hash of what it wrote in the last such circle
  bool asks = false;                ///< then it did the same again and again, with other registers
  bool met = false;                 ///< a side of it has ended or met others since
  unsigned left = 0, interval = 0;  ///< turns used up until it is looked at again
};

/// Turns of a warp that end because it asks in vain, by an instruction that ends them: the test of
/// a barrier object, a wait for the other warps of its warpgroup. Where it stands after each is all
/// that has to be compared; nothing has to be executed for it.
struct AskWatch {
  struct Turn {
    std::uint64_t state = 0;    ///< hash of where it stood, and of its registers
    std::uint64_t written = 0;  ///< hash of what it wrote in that turn
  };
  std::array<Turn, 4> seen{};  ///< at the end of turns that were looked at; state 0: none
  unsigned turns = 0;          ///< short ones that ended so, one after another
  unsigned patience = 16;      ///< such turns until they are looked at
  bool found = false;          ///< it goes round, by the last of them
  bool looked_at() const { return turns >= patience; }
};

/// The same for a warp that is executed as its stream is read: at one of the places where its
/// reader stopped it is compared with what it was at an earlier one.
struct RoundWatch {
  const Record* at = nullptr;
  std::uint32_t mask = 0, depth = 0;
  std::uint64_t fingerprint = 0;
  unsigned age = 0, limit = 0;      ///< stops since then, and until a later one takes its place
  unsigned rest = 0, interval = 0;  ///< stops until it is looked at again
  bool found = false;               ///< it has come back to that place since
  Effects effects = {};             ///< since then
  std::uint64_t written_last = 0;   ///< effects.written of the round before
};

struct WarpState : Warp {
  enum class Status : std::uint8_t { Ready, Waiting, Done };
  Status status = Status::Ready;
  unsigned barrier = 0;               ///< while waiting; kClusterBarrier: for the cluster
  std::uint64_t cluster_arrival = 0;  ///< waits for that opening of the cluster's barrier
  std::uint64_t product_groups = 0;   ///< wgmma.commit_group that it has executed
  std::vector<StackEntry> entries;
  std::vector<std::shared_ptr<Activation>>
      activations;                       ///< of calls; the kernel's own frame is the block's
  std::vector<std::uint32_t> functions;  ///< running function by depth
  std::vector<std::uint32_t> allocated;  ///< bytes of alloca by depth
  trace::StreamWriter::Room room;
  std::vector<std::uint32_t> late;  ///< whole records that come before what it does next
  SpinWatch watch;
  AskWatch asks;
  RoundWatch round;
  std::uint64_t executed = 0;    ///< instructions, by run()
  std::uint64_t alone = 0;       ///< live: instructions of the lanes that run, while others wait
  std::uint32_t alone_mask = 0;  ///< which they are
  std::unique_ptr<Sides> sides;  ///< nullptr: the warp has not parted
};

struct BarrierState {
  unsigned arrived = 0, expected = 0;  ///< warps; expected 0: all of the block
  unsigned population = 0;             ///< bar.red: lanes with a true predicate
  bool all = true, any = false;
};

struct Block {
  std::uint32_t number = 0;
  unsigned running = 0;  ///< warps not done
  std::vector<WarpState> warps;
  AlignedBytes frames, shared, local;
  std::array<BarrierState, 16> barriers;
  std::shared_ptr<Cluster> cluster;
  std::uint64_t stream_bytes = 0;  ///< of its warps, so far
  /// Phases of its barrier objects that are over since it began, by the object's place (in units of
  /// its 8 bytes).
  std::map<std::uint32_t, std::uint32_t> phases;
  std::uint32_t phases_of(std::uint32_t object) const {
    const auto found = phases.find(object);
    return found == phases.end() ? 0 : found->second;
  }
  /// In a cluster of several: arrivals and bytes that its own warps have brought to an object, by
  /// its place: so far, and when its last phase was over.
  struct Brought {
    std::uint32_t so_far = 0, at_phase = 0;
  };
  std::map<std::uint32_t, Brought> brought;
};
inline constexpr unsigned kClusterBarrier = 16;

/// alloca, stacksave and stackrestore of the warp.
void stack_call(Context* c, const Record* ip, char* frame, std::uint32_t mask,
                const HostCall& call);
/// Where an access to the block's shared memory or that of another block of its cluster goes;
/// nullptr: nowhere. `offset` is the address less the window.
char* shared_place(const Context* c, std::uint64_t offset, unsigned bytes);

/// What kernels leave behind for the next ones.
struct DeviceObjects {
  explicit DeviceObjects(std::uint64_t heap_bytes) : heap(heap_bytes) {}
  ImageTable images;
  DeviceHeap heap;
  std::uint64_t launches = 0;
  std::uint64_t instructions = 0;               ///< of all launches so far: the clock
  std::map<std::string, std::uint64_t> strays;  ///< see Machine::stray_accesses()
};

/// What becomes of an access outside of allocations.
enum class Stray : std::uint8_t {
  Fault,
  First,  ///< it goes on, and is to be told
  Again,  ///< it goes on
};

class Runner {
 public:
  /// `options` and `objects` must outlive it.
  Runner(DeviceMemory& memory, const MachineOptions& options, DeviceObjects& objects,
         const Launch& launch);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// All blocks to their end; with `follow` only until some wait for others, see waits().
  RunCount run(trace::StreamWriter* streams, bool follow = false);
  /// A block has gone round in circles until another one did something.
  bool waits() const { return waits_; }
  /// After run(): whether the block was started, and if it has not ended, the block.
  bool started(std::uint32_t number) const { return number < next_; }
  std::unique_ptr<Block> take(std::uint32_t number);

  /// A block at its start. It goes back through release().
  std::unique_ptr<Block> start(std::uint32_t number);
  void release(std::unique_ptr<Block> block);
  /// Runs one warp, writing to [out, end): until it waits, ends, has run `budget` instructions, or
  /// has written beyond `soft_end`. Returns where the records end.
  std::uint32_t* step(Block& block, WarpState& warp, std::uint32_t* out, std::uint32_t* soft_end,
                      std::uint64_t budget);
  /// Words a handler may write after the check against the end.
  static constexpr unsigned kSlackWords = 640;

  Context& context() { return context_; }
  const Kernel& kernel() const { return kernel_; }
  const trace::LaunchShape& shape() const { return shape_; }
  Dim3 cluster_shape() const { return cluster_shape_; }
  const MachineOptions& options() const { return options_; }
  const DeviceMemory& memory() const { return memory_; }
  const ImageTable& images() const { return objects_.images; }
  /// malloc and free of the kernel.
  Address heap_allocate(std::uint64_t bytes);
  bool heap_free(Address address) { return objects_.heap.free(memory_, address); }
  DeviceGrid* device() const { return device_; }
  /// nullptr: nobody watches the launch.
  RecordWatcher* watcher() const { return watcher_.get(); }
  /// Of an instruction of the trace's code: "FILE:LINE 'text'", and before it, where the PTX says
  /// which source line that is from, "a.cu:12, ".
  std::string location(std::uint32_t inst) const;
  std::string block_text(std::uint32_t number) const;
  std::string thread_text(const Warp& warp, unsigned lane) const;
  const Block* running_block() const { return stepping_; }
  Block& stepping_block() { return *stepping_; }
  /// Blocks may change each other's barrier objects.
  bool shares_objects() const { return cluster_shape_.count() != 1; }
  const Code& running_code(const WarpState& warp) const;
  /// Registers of a frame that never change while the block runs.
  void fill(const Code& code, char* frame, const Warp& warp) const;
  void print(std::string_view text) const;
  /// Where reserved shared memory begins, behind the block's own.
  static std::uint32_t reserved_shared_at(std::uint32_t shared_bytes);
  /// A lane's access outside of all allocations. Unless it is a fault, it has been counted.
  Stray strays(Address address, unsigned bytes) const;
  /// `fault`: what a fault would say.
  void warn_of_stray(const std::string& fault) const;
  /// Whether the warp, which has stopped somewhere, stands and is as it was before.
  /// Again: Yes, and since the last time nothing about it has changed.
  enum class Round : std::uint8_t { Yes, Again, No, Unknown };
  Round comes_round(const Block& block, WarpState& warp);
  /// Adds to `effects` those of the records of a warp's stream.
  void note(std::span<const std::uint32_t> stream, Effects& effects) const;
  /// Every warp of the blocks that run has gone round in circles, so many times in a row, and
  /// `idle` times without changing memory: from some time on lanes of one warp give way to one
  /// another; if nothing comes of it, RunError.
  void all_in_vain(std::span<const Block* const> blocks, std::uint64_t times, std::uint64_t idle);
  /// Lanes of a warp that goes round in circles give way to others.
  bool lanes_part() const { return lanes_part_; }
  void let_lanes_part() { lanes_part_ = options_.independent_lanes; }
  /// The running warp waits for another one by asking again and again: let that one run.
  void yield() {
    arrived_ = asks_ = true;
    context_.out_limit = context_.out;
  }

 private:
  void fill_special(const Fill& fill, char* frame, const Warp& warp) const;
  void fill_block(const Warp& warp, char* frame) const;
  std::uint64_t cluster_special_of(ptx::Special special, std::uint32_t number) const;
  std::uint64_t special_of(const Fill& fill, const Warp& warp, unsigned lane) const;
  void prepare_grid_barrier();
  void put_late(WarpState& warp);
  bool goes_to_barrier(Block& block, WarpState& warp);
  void arrive(Block& block, WarpState& warp);
  void open_if_complete(Block& block, unsigned id);
  void arrive_at_cluster(Block& block, WarpState& warp);
  void arrive_at_warpgroup(Block& block, WarpState& warp);
  void open_cluster_if_complete(Cluster& cluster);
  void release_warp(BarrierState& barrier, WarpState& warp);
  void finish(Block& block, WarpState& warp);
  /// Asks: it waits, but only for what its own cluster may do.
  enum class Turn : std::uint8_t { Ended, Moved, Waits, Asks, Stuck };
  Turn run_block(Block& block, trace::StreamWriter* streams, std::uint64_t budget);
  void start_cluster(std::uint32_t number);
  std::size_t max_blocks() const;
  /// Words of the stream, which lie at scratch_'s begin.
  unsigned advance(Block& block, WarpState& warp, trace::StreamWriter* streams,
                   std::uint64_t budget);
  void slice(Block& block, WarpState& warp, trace::StreamWriter* streams, std::uint64_t budget);
  std::uint64_t fingerprint(const Block& block, const WarpState& warp) const;
  bool goes_round(Block& block, WarpState& warp, trace::StreamWriter* streams);
  void asked_in_vain(const Block& block, WarpState& warp, const Effects& effects);
  void slice_of_parted(Block& block, WarpState& warp, trace::StreamWriter* streams,
                       std::uint64_t budget);
  void report_progress(const WarpState& warp);
  void check_limit(const WarpState& warp) const;
  void check_limit_of(const WarpState& warp) const;
  RunCount counted(bool is_long) const;
  void check_stream(const WarpState& warp) const;
  [[noreturn]] void deadlock(const Block& block) const;

  DeviceMemory& memory_;
  const MachineOptions& options_;
  DeviceObjects& objects_;
  const Kernel& kernel_;
  trace::LaunchShape shape_;
  const bool cooperative_;
  Dim3 cluster_shape_{1, 1, 1};
  bool explicit_cluster_ = false;
  std::uint64_t grid_ = 0;      ///< %gridid
  Address grid_workspace_ = 0;  ///< %envreg1 and 2; cooperative launches have one
  DeviceGrid* device_;
  std::vector<char> parameters_;
  std::uint32_t shared_bytes_, local_bytes_;
  std::size_t frame_stride_;
  unsigned warps_;
  Context context_{};
  const LaneEngine* engine_;
  std::unique_ptr<RecordWatcher> watcher_;
  std::vector<std::unique_ptr<Block>> pool_;
  std::vector<std::unique_ptr<Block>> active_;  // of run()
  std::uint32_t next_ = 0;                      // cluster that run() starts next
  bool waits_ = false;
  bool lanes_part_ = false;
  unsigned full_rounds_ = 0;  // of run(), since no further block can be started
  bool fruitful_ = false;     // ... in this round somebody did more than ask
  bool acts_ = false;         // ... or asks by what may change memory
  bool global_ = false;       // the block that ran last asks for words of global memory
  std::vector<std::uint32_t> scratch_;
  Block* stepping_ = nullptr;  ///< whose warp runs
  bool arrived_ = false;       ///< the last step ended at a barrier, or waits by asking,
  bool asks_ = false;          ///< and that
  std::uint64_t next_report_ = ~std::uint64_t{0};  ///< instructions, then progress is told
  std::uint64_t stream_bytes_ = 0;                 ///< of the op stream, in memory
};

}  // namespace raddle::exec
