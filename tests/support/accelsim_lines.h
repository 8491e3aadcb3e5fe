// One line of an Accel-Sim trace for one instruction of a recorded stream.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "raddle/trace/stream.h"

namespace raddle::test {

using LaneAddresses = std::array<std::uint64_t, kLanes>;

inline unsigned lowest_lane(LaneMask m) { return static_cast<unsigned>(std::countr_zero(m)); }

/// The machine instruction that stands for it; throws when there is none of its class.
inline std::string opcode_for(const trace::StaticInst& inst) {
  using trace::OpClass;
  using trace::OpKind;
  const std::string width = inst.bytes == 16  ? ".128"
                            : inst.bytes == 8 ? ".64"
                            : inst.bytes == 2 ? ".U16"
                            : inst.bytes == 1 ? ".U8"
                                              : "";
  const std::string strong = inst.bypass_l1 ? ".STRONG.GPU" : "";
  switch (inst.kind) {
    case OpKind::Branch:
      return "BRA";
    case OpKind::Barrier:
      return "BAR.SYNC";
    case OpKind::Fence:
      return inst.bytes == trace::kBlockScope    ? "MEMBAR.SC.CTA"
             : inst.bytes == trace::kReleaseOnly ? "MEMBAR.SC.GPU"
                                                 : "CCTL.IVALL";  // waits as well
    case OpKind::Exit:
      return "EXIT";
    case OpKind::LoadGlobal:
      return "LDG" + width + strong;
    case OpKind::StoreGlobal:
      return "STG" + width + strong;
    case OpKind::AtomicGlobal:
      return "ATOMG.ADD" + width + strong;
    case OpKind::ReduceGlobal:
      return "RED.ADD" + width + strong;
    case OpKind::LoadLocal:
      return "LDL" + width;
    case OpKind::StoreLocal:
      return "STL" + width;
    case OpKind::LoadShared:
      return "LDS" + width;
    case OpKind::StoreShared:
      return "STS" + width;
    case OpKind::AtomicShared:
      return "ATOMS.ADD" + width;
    case OpKind::LoadConst:
      return "LDC" + width;
    case OpKind::Sleep:
      return "NANOSLEEP";
    case OpKind::LaunchStream:
    case OpKind::LaunchBuffer:
    case OpKind::Launch:
    case OpKind::BarrierObject:
      throw std::invalid_argument("device-side launches and barrier objects have none");
    case OpKind::Alu:
      break;
  }
  switch (inst.op_class) {
    case OpClass::Move:
      return "MOV";
    case OpClass::Int:
      return "IADD3";
    case OpClass::IntMul:
      return "IMAD";
    case OpClass::Convert:
      return "I2F.U32";
    case OpClass::Fp16:
      return "HADD2";
    case OpClass::Fp32:
      return "FADD";
    case OpClass::Sfu:
      return "MUFU.RCP";
    case OpClass::Shuffle:
      return "SHFL.IDX";
    case OpClass::Control:
      return "NOP";
    default:
      throw std::runtime_error("no machine instruction of this class");
  }
}

/// Lanes of a piece take its units of words in turn, so that all of them are touched.
inline void spread(const std::uint32_t* transaction, unsigned bytes, LaneAddresses& at) {
  const unsigned unit = std::max(1u, bytes / 4);
  std::vector<unsigned> starts;
  for (std::uint32_t m = transaction[1]; m != 0; m &= m - 1)
    if (lowest_lane(m) % unit == 0) starts.push_back(lowest_lane(m));
  std::size_t next = 0;
  for (LaneMask m = transaction[2]; m != 0; m &= m - 1) {
    at[lowest_lane(m)] = std::uint64_t{transaction[0]} * trace::kLineBytes + 4 * starts[next];
    if (next + 1 < starts.size()) ++next;
  }
  if (next + 1 != starts.size()) throw std::runtime_error("a piece with more words than lanes");
}

/// Addresses in shared memory of which `passes` passes come: rows of one bank as long as passes are
/// left, for each part of the warp that is served at once.
inline void spread_banks(LaneMask mask, unsigned passes, unsigned bytes, LaneAddresses& at) {
  const unsigned group = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  auto lanes_from = [&](unsigned from) {
    return group == kLanes ? mask : mask & ((1u << group) - 1) << from;
  };
  unsigned extra = passes;  // beyond the one that each part takes
  for (unsigned from = 0; from < kLanes; from += group) extra -= lanes_from(from) != 0 ? 1 : 0;
  for (unsigned from = 0; from < kLanes; from += group) {
    const auto lanes = static_cast<unsigned>(std::popcount(lanes_from(from)));
    const unsigned rows = lanes == 0 ? 0 : std::min(extra, lanes - 1);
    unsigned row = 0;
    for (LaneMask m = lanes_from(from); m != 0; m &= m - 1) {
      at[lowest_lane(m)] = std::uint64_t{row} * 128;
      if (row < rows) {
        ++row;
        --extra;
      }
    }
  }
}

/// The same of atomics: so many lanes in one bank, no more in any other.
inline void spread_atomics(LaneMask mask, unsigned passes, unsigned bytes, LaneAddresses& at) {
  unsigned n = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    at[lowest_lane(m)] = std::uint64_t{n++ / passes} * std::max(bytes, 4u);
}

inline void spread_constants(LaneMask mask, unsigned count, LaneAddresses& at) {
  unsigned n = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    at[lowest_lane(m)] = 4 * n;
    if (n + 1 < count) ++n;
  }
}

/// In the shortest of the three modes.
inline std::string address_text(const LaneAddresses& at, LaneMask mask, unsigned variety) {
  std::ostringstream out;
  if (mask == 0) return "1 0x0 0 ";
  const unsigned first = lowest_lane(mask);
  const LaneMask run = mask >> first;
  const auto difference = [&](unsigned lane, unsigned before) {
    return static_cast<std::int64_t>(at[lane]) - static_cast<std::int64_t>(at[before]);
  };
  bool strided = (run & (run + 1)) == 0 && run != 1;
  for (unsigned lane = first + 2; strided && (mask >> lane & 1) != 0 && lane < kLanes; ++lane)
    strided = difference(lane, lane - 1) == difference(first + 1, first);
  if (strided) {
    out << "1 0x" << std::hex << at[first] << std::dec << " " << difference(first + 1, first)
        << " ";
    return out.str();
  }
  out << (variety % 2 == 0 ? "0" : "2") << " 0x" << std::hex << at[first];
  unsigned before = first;
  for (LaneMask m = mask & (mask - 1); m != 0; m &= m - 1) {
    const unsigned lane = lowest_lane(m);
    if (variety % 2 == 0) out << " 0x" << std::hex << at[lane];
    else out << " " << std::dec << difference(lane, before);
    before = lane;
  }
  out << " ";
  return out.str();
}

inline std::string accelsim_line(const trace::KernelCode& code, std::uint32_t index,
                                 const trace::Record& record, const std::uint32_t* payload) {
  using trace::OpKind;
  const trace::StaticInst& inst = code.instructions[index];
  std::ostringstream out;
  const bool barrier = inst.kind == OpKind::Barrier;
  if (barrier && (record.mask & ~0x30u) != 0) throw std::runtime_error("a barrier of some warps");
  const LaneMask mask = !barrier ? record.mask : (record.mask >> 4 & 3) == 2 ? 0 : kFullMask;
  out << inst.line << " " << std::hex;
  out.width(4);
  out.fill('0');
  out << index * 16 << " ";
  out.width(8);
  out << mask << std::dec << " " << inst.writes.size();
  for (const unsigned reg : inst.writes) out << " R" << reg;
  out << " " << opcode_for(inst) << " " << inst.reads.size();
  for (const unsigned reg : inst.reads) out << " R" << reg;
  LaneAddresses at{};
  bool memory = true;
  if (trace::carries_transactions(inst.kind)) {
    const bool local = inst.kind == OpKind::LoadLocal || inst.kind == OpKind::StoreLocal;
    if (local) throw std::runtime_error("local memory is not written");
    for (unsigned i = 0; i < record.transactions(); ++i) spread(payload + 3 * i, inst.bytes, at);
  } else if (inst.kind == OpKind::LoadShared || inst.kind == OpKind::StoreShared ||
             inst.kind == OpKind::AtomicShared) {
    const bool atomic = inst.kind == OpKind::AtomicShared;
    if (mask != 0)
      (atomic ? spread_atomics : spread_banks)(mask, record.transactions(), inst.bytes, at);
  } else if (inst.kind == OpKind::LoadConst) {
    spread_constants(mask, record.transactions(), at);
  } else {
    memory = false;
  }
  if (memory)
    out << " " << std::max<unsigned>(inst.bytes, 1) << " " << address_text(at, mask, index);
  else out << " 0 ";
  out << (inst.kind == OpKind::Sleep ? 1u << record.transactions() : 0u) << " ";
  return out.str();
}

}  // namespace raddle::test
