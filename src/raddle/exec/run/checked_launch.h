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
#include "raddle/exec/run/shared_uses.h"
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
  struct BlockState {
    SharedUses shared;
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
  /// The first byte that nobody in the block has written is found. Precondition: it is asked for.
  bool unwritten(const BlockState& block, const Access& a, std::uint64_t at);
  /// Whether nothing was found.
  bool shared_load(const Access& a, std::uint64_t at);
  void shared_store(const Access& a, std::uint64_t at);
  void same_place(Context& c, const Record& ip, const char* frame, std::uint32_t mask,
                  const std::uint64_t* at);
  void race(const Access& a, std::uint64_t at, const SharedUse& earlier, const char* now,
            const char* before, unsigned kind);
  /// The running block's; nullptr when it is not looked at or the access leaves it.
  BlockState* state_of(const Context& c, std::uint64_t at, unsigned bytes);
  Order order(std::uint32_t inst) const { return inst < orders_.size() ? orders_[inst] : Order{}; }
  SharedUse use_of(const BlockState& block, const Access& a) const;
  /// What later accesses meet of a store: the store itself, or the copy that it starts.
  static SharedUse written_by(const BlockState& block, const Access& a, SharedUse use);
  std::string thread(unsigned warp, unsigned lane) const;

  AccessChecks& checks_;
  const Runner& runner_;
  bool races_;                                  // looked for
  bool shared_ = true;                          // memory: looked at
  std::vector<Order> orders_;                   // by instruction, where races are looked for
  std::uint32_t inst_ = 0, execution_ = 0;      // that runs, and how many have before
  std::map<std::uint32_t, BlockState> blocks_;  // that run
};

}  // namespace raddle::exec
