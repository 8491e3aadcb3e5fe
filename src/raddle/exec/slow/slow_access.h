// Memory as slow instructions reach it: one access at a time.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/exec/isa/slow.h"

namespace raddle::exec {

/// The address operand of a slow instruction.
struct SlowAddress {
  ptx::Space space = ptx::Space::Generic;
  std::uint32_t at = 0;  ///< frame offset of the register
  bool narrow = false;   ///< of 32 bits
  std::int64_t offset = 0;
  std::uint64_t of(const char* frame, unsigned lane) const {
    const std::uint64_t base = narrow ? lane_value<std::uint32_t>(frame, at, lane)
                                      : lane_value<std::uint64_t>(frame, at, lane);
    return base + static_cast<std::uint64_t>(offset);
  }
};

/// The bytes of one instruction's accesses, checked one by one, and what the op stream says of
/// them. All of them are in one memory: the one of the first access.
class SlowAccess {
 public:
  SlowAccess(const SlowRun& run, ptx::Space space, bool store)
      : run_(run), space_(space), store_(store) {}
  /// Where `bytes` (a power of two up to 16) at `address` lie. Throws RunError when they are
  /// outside or misaligned, or a generic address means another memory than those before.
  char* at(unsigned lane, std::uint64_t address, unsigned bytes);
  /// Writes the entry of the op stream: transactions of global memory, bank conflict cycles of
  /// shared memory, at least as many as given.
  void write(std::uint32_t mask, unsigned bank_cycles = 1);
  bool is_shared() const { return space_ == ptx::Space::Shared; }

 private:
  char* global(unsigned lane, std::uint64_t address, unsigned bytes);
  char* shared(unsigned lane, std::uint64_t address, unsigned bytes);
  void resolve(unsigned lane, std::uint64_t address);
  std::string fault(unsigned lane, std::uint64_t address, unsigned bytes,
                    std::string_view why) const;
  [[noreturn]] void fail(unsigned lane, std::uint64_t address, unsigned bytes,
                         std::string_view why) const;

  const SlowRun& run_;
  ptx::Space space_;
  const bool store_;
  std::uint64_t window_ = 0;  ///< taken off addresses; a generic one's
  bool aliased_ = false;      ///< generic, and means shared memory
  unsigned transaction_count_ = 0;
  struct Transaction {
    std::uint32_t line, words, lanes;
  };
  std::array<Transaction, 63> transactions_;
  std::array<std::uint8_t, 32> load_{};    ///< different words by bank of shared memory
  std::array<std::uint64_t, 128> seen_{};  ///< words of shared memory already counted, +1, hashed
};

}  // namespace raddle::exec
