// Writes an Accel-Sim trace of tracer version 6 of a recorded kernel with products of warpgroups,
// bulk copies and barrier objects, as if its instructions were Hopper's machine code.
#pragma once
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "raddle/trace/recording.h"
#include "support/accelsim_lines.h"

namespace raddle::test {

class HopperWriter {
 public:
  HopperWriter(const trace::LaunchHeader& launch, trace::KernelStream& stream)
      : code_(stream.code()) {
    // The end of a group of products is part of the product before it, and has no address.
    std::uint64_t pc = 0;
    for (const trace::StaticInst& inst : code_.instructions) {
      pcs_.push_back(pc);
      if (!is_end_of_products(inst)) pc += 16;
    }
    const trace::LaunchShape& shape = stream.shape();
    out_ << "-kernel name = " << launch.name << "\n-grid dim = " << dim(shape.grid)
         << "\n-block dim = " << dim(shape.block)
         << "\n-shmem = " << code_.static_shared_bytes + shape.dynamic_shared_bytes
         << "\n-nregs = " << code_.registers_per_thread
         << "\n-binary version = 90\n-shmem base_addr = 0x00007f59dd000000\n-accelsim tracer "
            "version "
            "= 6\n-enable lineinfo = 1\n\n#traces format = [line_num] PC mask ...\n";
    for (std::uint32_t b = 0; b < shape.grid.count(); ++b) {
      out_ << "\n#BEGIN_TB\n\nthread block = " << b << ",0,0\ncluster id = " << b
           << ",0,0\ncluster cta = 0,0,0\ncluster rank = 0\n";
      for (unsigned w = 0; w < shape.warps_per_block(); ++w) warp(b, w, stream);
      out_ << "\n#END_TB\n";
      stream.close(b);
    }
  }
  std::string text() const { return out_.str(); }

 private:
  struct Op {
    std::uint32_t inst = 0;
    trace::Record record{};
    std::vector<std::uint32_t> payload;
  };
  static std::string dim(Dim3 d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  }
  static bool is_control(const trace::StaticInst& inst) {
    return inst.kind == trace::OpKind::Barrier && inst.op_class == trace::OpClass::Control;
  }
  static bool is_end_of_products(const trace::StaticInst& inst) {
    return is_control(inst) && inst.bytes == trace::kEndsProducts;
  }
  const trace::StaticInst& at(const Op& op) const { return code_.instructions[op.inst]; }

  void warp(std::uint32_t block, unsigned index, trace::KernelStream& stream) {
    std::vector<Op> ops;
    trace::WarpCursor cursor = stream.open(block, index);
    do {
      while (cursor.at != cursor.end) {
        const trace::Record r{cursor.at[0], cursor.at[1]};
        cursor.at += trace::kRecordWords;
        const bool pieces = trace::carries_transactions(code_.instructions[r.inst()].kind);
        const unsigned words = pieces ? trace::kTransactionWords * r.transactions() : 0;
        for (unsigned i = 0; i < r.count(); ++i)
          ops.push_back({r.inst() + i, r, {cursor.at, cursor.at + words}});
        cursor.at += words;
      }
    } while (stream.refill(cursor));
    std::string lines;
    unsigned count = 0;
    for (std::size_t i = 0; i < ops.size(); ++count) lines += line(ops, i) + "\n";
    out_ << "\nwarp = " << index << "\ninsts = " << count << "\n" << lines;
  }

  std::string front(const Op& op, LaneMask mask, const std::string& opcode) const {
    std::ostringstream out;
    const trace::StaticInst& inst = at(op);
    char text[64];
    std::snprintf(text, sizeof text, "%u %04x %08x ", inst.line,
                  static_cast<unsigned>(pcs_[op.inst]), mask);
    out << text << inst.writes.size();
    for (const unsigned reg : inst.writes) out << " R" << reg;
    out << " " << opcode << " " << inst.reads.size();
    for (const unsigned reg : inst.reads) out << " R" << reg;
    return out.str();
  }

  /// The line of what stands at `i`, which goes behind all that belongs to it.
  std::string line(const std::vector<Op>& ops, std::size_t& i) const {
    const Op& op = ops[i++];
    const trace::StaticInst& inst = at(op);
    if (inst.copy != trace::CopyKind::None) return copy(ops, i);
    if (inst.kind == trace::OpKind::BarrierObject) return object(ops, i - 1);
    if (is_control(inst)) {
      const unsigned left = inst.bytes >> trace::kGroupsLeft;
      return front(op, kFullMask, "WARPGROUP.DEPBAR.LE") + " 0 " + std::to_string(left) + " NoVal";
    }
    if (inst.op_class == trace::OpClass::Tensor) {
      const bool ends = i != ops.size() && is_end_of_products(at(ops[i]));
      if (ends) ++i;
      const unsigned columns = (inst.bytes & trace::kPartsMask) / 4;
      char text[160];
      std::snprintf(text, sizeof text, "%u %04x ffffffff 1 R%u HGMMA.64x%ux16.F32 2 UR4 R%u %d 0 0",
                    inst.line, static_cast<unsigned>(pcs_[op.inst]), inst.writes.at(0), columns,
                    inst.writes.at(0), ends ? 1 : 0);
      return std::string(text) + " NoVal";
    }
    if (inst.kind == trace::OpKind::Fence && (inst.bytes & 0xff) >= trace::kEndsGroup) {
      const unsigned what = inst.bytes & 0xff, left = inst.bytes >> trace::kGroupsLeft;
      const char* opcode = what == trace::kEndsGroup       ? "LDGDEPBAR"
                           : what == trace::kEndsBulkGroup ? "UTMACMDFLUSH"
                                                           : "DEPBAR.LE";
      return front(op, kFullMask, opcode) + " 0 " + std::to_string(left) + " NoVal";
    }
    std::string plain = accelsim_line(code_, op.inst, op.record, op.payload.data());
    char pc[8];
    std::snprintf(pc, sizeof pc, "%04x", static_cast<unsigned>(pcs_[op.inst]));
    return plain.replace(plain.find(' ') + 1, 4, pc) + "NoVal";
  }

  std::string copy(const std::vector<Op>& ops, std::size_t& i) const {
    const Op& op = ops[i - 1];
    const bool loads = at(op).kind == trace::OpKind::LoadGlobal;
    std::ostringstream addresses;
    unsigned count = 0;
    const auto take = [&](const Op& part) {
      for (std::size_t p = 0; p < part.payload.size(); p += trace::kTransactionWords) {
        if (part.payload[p + 1] != ~0u) throw std::runtime_error("a copy of parts of lines");
        addresses << " 0x" << std::hex << std::uint64_t{part.payload[p]} * trace::kLineBytes;
        ++count;
      }
    };
    take(op);
    for (; i != ops.size() && ops[i].inst == op.inst; ++i) take(ops[i]);
    std::uint64_t object = 0;
    if (loads) object = 8 * trace::ObjectChange::of(ops.at(i++).payload.data()).object;
    std::ostringstream out;
    out << front(op, op.record.mask, loads ? "UBLKCP.S.G" : "UBLKCP.G.S") << " 128 0x" << std::hex
        << object << std::dec << " 0 " << count * 128 << " 0 3 " << count << addresses.str()
        << " 0 NoVal";
    return out.str();
  }

  std::string object(const std::vector<Op>& ops, std::size_t i) const {
    const Op& op = ops[i];
    const trace::StaticInst& inst = at(op);
    const auto action = static_cast<trace::ObjectAction>(inst.bytes);
    const bool waits = action == trace::ObjectAction::Wait;
    // A test that has failed names no object: that of the next one.
    std::size_t named = i;
    while (ops.at(named).payload.empty() || at(ops[named]).bytes != inst.bytes) ++named;
    const auto change = trace::ObjectChange::of(ops[named].payload.data());
    const auto lanes = static_cast<unsigned>(std::popcount(op.record.mask));
    std::string opcode = "SYNCS.ARRIVE.TRANS64.A1T0";
    std::uint64_t value = 0;
    if (action == trace::ObjectAction::Init) {
      opcode = "SYNCS.EXCH.64";
      value = std::uint64_t{0x100000 - change.arrivals} << 1;
    } else if (waits) {
      opcode = "SYNCS.PHASECHK.TRANS64.TRYWAIT";
      value = change.value % 2 == 0 ? 0x80000000u : 0;  // so many phases are over then
    } else if (change.value != 0) {
      opcode = change.arrivals == 0 ? "SYNCS.ARRIVE.TRANS64.A0TR" : "SYNCS.ARRIVE.TRANS64";
      value = change.value / lanes;
    }
    std::ostringstream out;
    out << front(op, op.record.mask, opcode) << " 8 1 0x" << std::hex << change.object * 8
        << " 0 0 0 Val";
    for (std::size_t r = 0; r < inst.writes.size() + inst.reads.size(); ++r) out << " 1 " << value;
    return out.str();
  }

  const trace::KernelCode& code_;
  std::vector<std::uint64_t> pcs_;
  std::ostringstream out_;
};

}  // namespace raddle::test
