// Faults of the simulated program, reported with kernel, instruction, block, thread and address.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Memory : std::uint8_t { Global, Shared, Local, Const, Param, Nowhere };

struct Wanted {
  Memory memory;
  bool store, atomic;
};

Wanted wanted(const Record& record) {
  switch (record.op) {
    case O_ld_shared_32:
    case O_ld_shared:
      return {Memory::Shared, false, false};
    case O_st_shared_32:
    case O_st_shared:
      return {Memory::Shared, true, false};
    case O_ld_local:
      return {Memory::Local, false, false};
    case O_st_local:
      return {Memory::Local, true, false};
    case O_ld_const:
      return {Memory::Const, false, false};
    case O_ld_param:
      return {Memory::Param, false, false};
    case O_ld_generic:
      return {Memory::Nowhere, false, false};
    case O_st_generic:
      return {Memory::Nowhere, true, false};
    case O_atom: {
      const auto space = static_cast<ptx::Space>(record.aux >> 16 & 255);
      return {space == ptx::Space::Shared   ? Memory::Shared
              : space == ptx::Space::Global ? Memory::Global
                                            : Memory::Nowhere,
              true, true};
    }
    case O_st_global_32:
    case O_st_global_64:
    case O_st_global:
      return {Memory::Global, true, false};
    default:
      return {Memory::Global, false, false};
  }
}

u64 address_of(const Record& r, const char* frame, unsigned lane) {
  u64 address = 0;
  const unsigned width = (r.flags & kNarrowAddress) != 0 ? 4 : 8;
  std::memcpy(&address, frame + r.a + width * lane, width);
  address += static_cast<u64>(std::int64_t{r.imm});
  return width == 4 ? static_cast<u32>(address) : address;
}

/// Takes the window off a generic address.
Memory resolve(u64* address) {
  const auto within = [&](u64 window) { return *address - window < kWindowBytes; };
  if (*address >= DeviceMemory::kBase) return Memory::Global;
  if (within(kSharedWindow)) {
    *address -= kSharedWindow;
    return Memory::Shared;
  }
  if (within(kLocalWindow)) {
    *address -= kLocalWindow;
    return Memory::Local;
  }
  if (within(kParamWindow)) {
    *address -= kParamWindow;
    return Memory::Param;
  }
  return Memory::Nowhere;
}

std::string fault_text(const Context& context, const Record& ip, Memory memory, const Wanted& want,
                       bool outside, u64 address, u32 bytes, unsigned lane) {
  const Runner& runner = *static_cast<const Runner*>(context.owner);
  std::string about;
  switch (memory) {
    case Memory::Global:
    case Memory::Const:
      about = runner.memory().describe(address);
      break;
    case Memory::Shared:
      about = fmt::format("the block has {} bytes", context.shared_bytes);
      break;
    case Memory::Local:
      about = fmt::format("the thread has {} bytes", context.local_bytes);
      break;
    case Memory::Param:
      about = fmt::format("there are {} bytes of parameters", context.parameter_bytes);
      break;
    case Memory::Nowhere:
      about = "it lies in no memory";
      break;
  }
  static constexpr const char* kNames[] = {"global", "shared", "local",
                                           "const",  "param",  "generic"};
  const char* what = want.atomic ? "atomic" : want.store ? "store" : "load";
  return fmt::format("kernel {}: {} {}-byte {} {} {} address {:#x} ({}) at {}, {}",
                     runner.kernel().title, outside ? "out-of-bounds" : "misaligned", bytes, what,
                     want.store ? "to" : "from", kNames[static_cast<int>(memory)], address, about,
                     runner.location(ip.inst), runner.thread_text(*context.warp, lane));
}

bool is_outside(const Context& context, Memory memory, const Wanted& want, u64 address, u32 bytes) {
  const auto beyond = [&](u64 size) { return address > size || size - address < bytes; };
  switch (memory) {
    case Memory::Global:
    case Memory::Const:
      return !static_cast<const Runner*>(context.owner)->memory().valid(address, bytes);
    case Memory::Shared:
      return beyond(context.shared_bytes);
    case Memory::Local:
      return beyond(context.local_bytes);
    case Memory::Param:
      return want.store || beyond(context.parameter_bytes);
    case Memory::Nowhere:
      break;
  }
  return true;
}

/// Throws what is wrong with the first bad lane. True: all bad lanes stray in global memory, where
/// the access goes on. False: none is bad.
bool report_access(Context* context, const Record* ip, const char* frame, u32 mask) {
  const Runner& runner = *static_cast<const Runner*>(context->owner);
  const Wanted want = wanted(*ip);
  const u32 bytes = ((ip->flags >> kVectorShift & 3u) + 1) << (ip->flags & kElementMask);
  bool strayed = false;
  for (; mask != 0; mask &= mask - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    const u64 written = address_of(*ip, frame, lane);
    u64 address = written;
    const Memory memory = want.memory == Memory::Nowhere ? resolve(&address) : want.memory;
    // A GPU looks at the alignment first.
    const bool misaligned = memory != Memory::Nowhere && address % bytes != 0;
    const bool outside = !misaligned && is_outside(*context, memory, want, address, bytes);
    if (!outside && !misaligned) continue;
    const bool global = memory == Memory::Global || memory == Memory::Const;
    // Texts are made where they are told: a loop may stray millions of times.
    const Stray stray = global && !misaligned ? runner.strays(address, bytes) : Stray::Fault;
    if (stray != Stray::Again) {
      const std::string text =
          fault_text(*context, *ip, memory, want, outside, address, bytes, lane);
      if (stray == Stray::Fault) throw RunError(text);
      runner.warn_of_stray(text);
    }
    strayed = true;
  }
  return strayed;
}

[[noreturn]] void fault_nowhere(const Context* c, const Record* ip) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  throw RunError(fmt::format("kernel {}: memory fault at {}", runner.kernel().title,
                             runner.location(ip->inst)));
}

/// Whether the bytes lie in pages of a GPU that hold some of an allocation, or in the first, which
/// is the driver's where the host sees device addresses.
bool mapped(const DeviceMemory& memory, Address address, unsigned bytes) {
  constexpr u64 kPageBytes = u64{2} << 20, kLinesOfPage = kPageBytes / 128;
  if (address < DeviceMemory::kBase) return false;
  const u64 from = address - DeviceMemory::kBase;
  for (u64 page = from / kPageBytes; page <= (from + bytes - 1) / kPageBytes; ++page) {
    const u64 lines = std::min((page + 1) * kLinesOfPage, memory.extent() / 128);
    bool any = page == 0 && memory.extent() > kPageBytes;
    for (u64 line = page * kLinesOfPage; line < lines && !any; ++line)
      any = memory.valid_bytes()[line] != 0;
    if (!any) return false;
  }
  return true;
}
}  // namespace

void stray_or_fault(Context* c, const Record* ip, char* frame, u32 mask) {
  if (!report_access(c, ip, frame, mask)) fault_nowhere(c, ip);
}

void memory_fault(Context* c, const Record* ip, char* frame, u32 mask) {
  report_access(c, ip, frame, mask);
  fault_nowhere(c, ip);
}

Stray Runner::strays(Address address, unsigned bytes) const {
  if (options_.out_of_bounds == OutOfBounds::Fault || !mapped(memory_, address, bytes))
    return Stray::Fault;
  const u64 earlier = objects_.strays[kernel_.name]++;
  const bool is_reported = options_.warn && options_.out_of_bounds == OutOfBounds::Page;
  return earlier == 0 && is_reported ? Stray::First : Stray::Again;
}

void Runner::warn_of_stray(const std::string& fault) const {
  options_.warn(fault + "; a GPU goes on there, and so does this run (a page of 2 MiB is mapped)");
}

void trap(Context* c, const Record* ip, u32 mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  throw RunError(
      fmt::format("kernel {}: trap at {}, {}", runner.kernel().title, runner.location(ip->inst),
                  runner.thread_text(*c->warp, static_cast<unsigned>(__builtin_ctz(mask)))));
}

}  // namespace raddle::exec
