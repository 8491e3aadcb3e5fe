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
    const bool misaligned = address % bytes != 0;
    const auto beyond = [&](u64 size) { return address > size || size - address < bytes; };
    bool outside = true;
    std::string about;
    switch (memory) {
      case Memory::Global:
      case Memory::Const:
        outside = !runner.memory().valid(address, bytes);
        about = runner.memory().describe(address);
        break;
      case Memory::Shared:
        outside = beyond(context->shared_bytes);
        about = fmt::format("the block has {} bytes", context->shared_bytes);
        break;
      case Memory::Local:
        outside = beyond(context->local_bytes);
        about = fmt::format("the thread has {} bytes", context->local_bytes);
        break;
      case Memory::Param:
        outside = want.store || beyond(context->parameter_bytes);
        about = fmt::format("there are {} bytes of parameters", context->parameter_bytes);
        break;
      case Memory::Nowhere:
        about = "it lies in no memory";
        break;
    }
    if (!outside && !misaligned) continue;
    static constexpr const char* kNames[] = {"global", "shared", "local",
                                             "const",  "param",  "generic"};
    const char* what = want.atomic ? "atomic" : want.store ? "store" : "load";
    const std::string text =
        fmt::format("kernel {}: {} {}-byte {} {} {} address {:#x} ({}) at {}, {}",
                    runner.kernel().title, outside ? "out-of-bounds" : "misaligned", bytes, what,
                    want.store ? "to" : "from", kNames[static_cast<int>(memory)], address, about,
                    runner.location(ip->inst), runner.thread_text(*context->warp, lane));
    const bool global = memory == Memory::Global || memory == Memory::Const;
    if (!global || misaligned || !runner.strays(address, bytes, text)) throw RunError(text);
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

bool Runner::strays(Address address, unsigned bytes, const std::string& text) const {
  if (options_.out_of_bounds == OutOfBounds::Fault || !mapped(memory_, address, bytes))
    return false;
  const u64 earlier = objects_.strays[kernel_.name]++;
  if (earlier == 0 && options_.warn && options_.out_of_bounds == OutOfBounds::Page)
    options_.warn(text + "; a GPU goes on there, and so does this run (a page of 2 MiB is mapped)");
  return true;
}

void trap(Context* c, const Record* ip, u32 mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  throw RunError(
      fmt::format("kernel {}: trap at {}, {}", runner.kernel().title, runner.location(ip->inst),
                  runner.thread_text(*c->warp, static_cast<unsigned>(__builtin_ctz(mask)))));
}

}  // namespace raddle::exec
