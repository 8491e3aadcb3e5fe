// The simulated device's global memory: one reserved range, allocations with guard gaps, and the
// number of valid bytes of every 128-byte line so that an access one byte past an allocation is
// caught, always.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/trace/allocation.h"

namespace raddle::exec {

class DeviceMemory {
 public:
  /// Address of the first byte; line numbers (address / 128) fit 32 bits.
  static constexpr Address kBase = 0x10'0000'0000ull;
  static constexpr Address kAlignment = 256;

  /// Where this process sees the memory: anywhere, or at the very addresses that the device uses,
  /// so that host code may touch what it is given (managed and mapped memory).
  enum class HostView : std::uint8_t { Anywhere, SameAddress };

  /// Reserves `capacity` bytes of address space (no memory is used until touched; fresh memory
  /// reads as zero), or what of it there is for a process that the system gives less (ulimit -v,
  /// valgrind): see capacity(). Throws RunError when even little is refused, as SameAddress is to a
  /// process that has something else there.
  explicit DeviceMemory(std::uint64_t capacity = std::uint64_t{16} << 30,
                        HostView view = HostView::Anywhere);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Whose an allocation is, for messages.
  struct Owner {
    /// Heap: a kernel has asked for it; Internal: we have, for ourselves.
    enum class Kind : std::uint8_t { Program, Variable, Heap, Internal } kind = Kind::Program;
    std::string variable = {};  ///< its name for people
  };
  /// 256-byte aligned, followed by at least one invalid line: where one of that size was freed,
  /// else behind all others, else in the smallest gap that is large enough; nullopt without one.
  /// size 0 gives size 1. Throws std::bad_alloc when the system gives the process no more memory.
  std::optional<Address> allocate(std::uint64_t size, Owner owner);
  std::optional<Address> allocate(std::uint64_t size) { return allocate(size, Owner{}); }
  /// False when `address` is not the start of a live allocation.
  bool free(Address address);
  std::uint64_t used() const { return used_; }
  /// The largest allocation that there is room for, in bytes; 0: none.
  std::uint64_t largest_free() const;
  /// Bytes that allocations may have in all: as asked for, unless the system has given less.
  std::uint64_t capacity() const { return capacity_; }
  /// Since it was called last, of what the host asks for and of variables.
  trace::AllocationChanges take_changes();

  /// True when every byte of [address, address + size) belongs to one allocation.
  bool valid(Address address, std::uint64_t size) const;
  /// Host view. Precondition: valid(address, size).
  std::byte* host(Address address) { return bytes_ + (address - kBase); }
  const std::byte* host(Address address) const { return bytes_ + (address - kBase); }
  /// One sentence about the allocation or variable of the program that lies nearest to `address`,
  /// for messages ("16 bytes past the end of the 4096-byte allocation at 0x..."). What we have
  /// allocated for ourselves is not named.
  std::string describe(Address address) const;

  // For the engine's own checks.
  std::byte* bytes() { return bytes_; }
  const std::uint8_t* valid_bytes() const {
    return valid_;
  }  ///< per 128-byte line: bytes valid from its start, 0..128
  std::uint64_t extent() const {
    return extent_;
  }  ///< bytes from kBase up to the end of the last allocation

 private:
  /// Gaps between allocations, as large as they are: footprint -> start. Behind the last
  /// allocation is one more.
  std::multimap<std::uint64_t, Address> gaps() const;
  std::optional<Address> take_gap(std::uint64_t footprint);
  bool reserve_all(Address at);
  void open(std::uint64_t extent);

  std::uint64_t capacity_;
  std::byte* bytes_ = nullptr;
  std::uint8_t* valid_ = nullptr;
  std::uint64_t first_ = 0;  ///< of kBase, where the first allocation is
  std::uint64_t extent_ = 0, used_ = 0;
  std::uint64_t asked_for_ = 0;
  std::uint64_t open_ = 0;  ///< bytes that can be written; extent_ at least
  struct Live {
    std::uint64_t size;
    Owner owner;
    std::uint64_t number;  // of Kind::Program
  };
  std::map<Address, Live> live_;                ///< by start
  std::vector<Address> freed_;                  ///< since take_changes(), of before
  std::set<Address> made_;                      ///< since then
  std::multimap<std::uint64_t, Address> free_;  ///< footprint -> start
};

}  // namespace raddle::exec
