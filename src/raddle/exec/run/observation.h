// Follows copies of loaded words through a running launch, for an AccessObserver: the record about
// to be executed says which registers it reads and writes, and every 4-byte word of a register, of
// shared and of local memory has the tag of the word of global memory whose copy it holds.
//
// What moves a copy without using it: mov, selp, shfl, packing and unpacking of 64-bit registers,
// loads and stores of shared and local memory by whole words. Everything else uses its operands and
// gives a result that is no copy. Elements below four bytes, and those that a load widens, are used
// by the load itself; cp.async and the arguments of calls that are not inlined are used where they
// are copied.
#pragma once
#include <array>
#include <cstdint>

#include "raddle/exec/isa/record.h"
#include "raddle/exec/memory/word_tags.h"
#include "raddle/exec/run/access_observer.h"
#include "raddle/exec/run/record_watcher.h"

namespace raddle::exec {

class Observation final : public RecordWatcher {
 public:
  explicit Observation(AccessObserver& observer) : observer_(observer) {}
  void about_to_run(Context& c, const Record& ip, char* frame, std::uint32_t mask) override;
  void slow_load(const Context& c, unsigned lane, Address at, unsigned bytes) override;
  void slow_store(const Context& c, unsigned lane, Address at, unsigned bytes) override;
  void slow_shared_load(const Context&, unsigned, std::uint32_t, unsigned) override {}
  void slow_shared_store(const Context& c, unsigned, std::uint32_t at, unsigned bytes) override {
    tags_.forget(c.shared + at, bytes);
  }
  void started(const Block& block, std::size_t frame_bytes, std::size_t shared_bytes,
               std::size_t local_bytes) override;
  void ended(std::uint32_t block) override { observer_.ended(block); }
  void arrived(const Block&, const WarpState&, unsigned) override {}
  void opens(const Block&, unsigned) override {}

 private:
  using Tag = AccessObserver::Tag;
  using Tags = std::array<Tag, 32>;  // by lane
  struct Run;
  /// Of one lane's access: where it goes.
  struct Place {
    Address global = 0;     // device address, or
    char* local = nullptr;  // this process's; neither: the access is going to fault
    unsigned row = 4;       // bytes from one 4-byte word there to the next
  };
  void arithmetic(const Run& r);
  bool moves(const Run& r);
  void shuffle(const Run& r);
  void warp_operation(const Run& r);
  void access(const Run& r, std::uint64_t window, bool store);
  void load(const Run& r, unsigned lane, const Place& place);
  void store(const Run& r, unsigned lane, const Place& place);
  void atomic(const Run& r);
  void call(const Run& r);
  Place place_of(const Run& r, std::uint64_t address, unsigned lane, unsigned bytes) const;

  void use(const Run& r, unsigned lane, Tag tag);
  /// Uses what registers of `bytes` (4 or 8) a lane hold.
  void use_register(const Run& r, std::uint32_t offset, unsigned bytes);
  void use_words(const Run& r, unsigned lane, const char* at, unsigned bytes);
  void clear_register(const Run& r, std::uint32_t offset, unsigned bytes);
  /// Tags of every lane's word `half` of a register, and the reverse in the run's lanes.
  Tags tags_of(const Run& r, std::uint32_t offset, unsigned bytes, unsigned half);
  void set_tags(const Run& r, std::uint32_t offset, unsigned bytes, unsigned half,
                const Tags& tags);
  void forget_frame(const Run& r);

  AccessObserver& observer_;
  WordTags tags_;
};

}  // namespace raddle::exec
