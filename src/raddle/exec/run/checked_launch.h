// One launch under AccessChecks: where its threads go in shared and global memory, and what
// puts them in order.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "raddle/exec/run/access_checks.h"
#include "raddle/exec/run/record_watcher.h"
#include "raddle/exec/run/warp_clocks.h"

namespace raddle::exec {

class CheckedLaunch final : public RecordWatcher {
 public:
  /// Both must outlive it.
  CheckedLaunch(AccessChecks& checks, const Runner& runner);
  void about_to_run(Context& c, const Record& ip, char* frame, std::uint32_t mask) override;
  void slow_load(const Context& c, unsigned lane, Address at, unsigned bytes) override;
  void slow_store(const Context& c, unsigned lane, Address at, unsigned bytes) override;
  void surface_store(Address at, unsigned bytes) override;
  void slow_shared_load(const Context& c, unsigned lane, std::uint32_t at, unsigned bytes) override;
  void slow_shared_store(const Context& c, unsigned lane, std::uint32_t at,
                         unsigned bytes) override;
  void started(const Block& block, std::size_t frame_bytes, std::size_t shared_bytes,
               std::size_t local_bytes) override;
  void ended(std::uint32_t block) override { blocks_.erase(block); }
  void arrived(const Block& block, const WarpState& warp, unsigned barrier) override;
  void opens(const Block& block, unsigned barrier) override;

 private:
  static constexpr unsigned kMaxWarps = WarpClocks::kMaxWarps;
  /// An access of a byte; clock 0: there was none.
  struct Use {
    std::uint32_t clock = 0, inst = 0;
    std::uint8_t warp = 0, lane = 0;  // the warp, or its copies (WarpClocks)
    bool strong = false;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Of one place, a word or (BlockState::place_bytes) a byte.
  struct Place {
    Use write, read;                // the last ones
    bool many = false;              // reads that nothing puts in order: they are in `readers`
    std::uint32_t readers = kNone;  // into BlockState; kept for the next time
  };
  struct BlockState {
    unsigned place_bytes = 4;  // 1 from the first access on that is smaller than a word
    std::vector<Place> shared;
    std::vector<std::array<Use, kMaxWarps>> readers;  // by warp
    WarpClocks clocks;
  };
  /// A thread's access.
  struct Access {
    const Context& context;
    std::uint32_t inst;
    unsigned lane, bytes;
    Order order;
  };

  void access(Context& c, const Record& ip, char* frame, std::uint32_t mask, std::uint64_t window,
              bool store);
  void atomic(Context& c, const Record& ip, char* frame, std::uint32_t mask);
  void pass(const Context& c, Order what);
  void global_load(const Access& a, Address at);
  /// Whether nothing was found.
  bool shared_load(const Access& a, std::uint64_t at);
  void shared_store(const Access& a, std::uint64_t at);
  void same_place(Context& c, const Record& ip, const char* frame, std::uint32_t mask,
                  const std::uint64_t* at);
  void note_read(BlockState& block, Place& place, const Use& use);
  /// A read of another warp that races with this access, or nullptr.
  const Use* racing_read(const BlockState& block, const Place& place, const Use& use) const;
  /// Is the earlier access another warp's, and does nothing put it before this one?
  static bool unordered(const BlockState& block, const Use& earlier, const Use& use);
  bool races(const BlockState& block, const Use& earlier, const Use& use) const;
  void race(const Access& a, std::uint64_t at, const Use& earlier, const char* now,
            const char* before, unsigned kind);
  /// The running block's; nullptr when it is not looked at or the access leaves it.
  BlockState* state_of(const Context& c, std::uint64_t at, unsigned bytes);
  Order order(std::uint32_t inst) const { return inst < orders_.size() ? orders_[inst] : Order{}; }
  Use use_of(const BlockState& block, const Access& a) const;
  /// What later accesses meet of a store: the store itself, or the copy that it starts.
  static Use written_by(const BlockState& block, const Access& a, Use use);
  std::string thread(unsigned warp, unsigned lane) const;

  AccessChecks& checks_;
  const Runner& runner_;
  bool races_;                                  // looked for
  bool shared_ = true;                          // memory: looked at
  std::vector<Order> orders_;                   // by instruction, where races are looked for
  std::uint32_t inst_ = 0;                      // that runs
  std::map<std::uint32_t, BlockState> blocks_;  // that run
};

}  // namespace raddle::exec
