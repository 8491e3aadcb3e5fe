// Writes an Accel-Sim trace of a recording of ours, as if its instructions were machine code: for
// round trips. Addresses are made so that the same lines, banks and lanes come out.
#pragma once
#include <bit>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "raddle/trace/recording.h"
#include "support/accelsim_lines.h"

namespace raddle::test {

class AccelsimWriter {
 public:
  /// kernelslist.g and a file for each launch; `streams`: launches keep their streams.
  AccelsimWriter(const trace::Recording& recording, std::filesystem::path folder)
      : folder_(std::move(folder)) {
    std::ofstream list(folder_ / "kernelslist.g");
    list << "MemcpyHtoD,0x1000000000,4096\n\n";
    for (std::size_t i = 0; i < recording.launches(); ++i) {
      const trace::LaunchHeader launch = recording.launch(i);
      const auto stream = recording.open(i);
      const std::string name = "kernel-" + std::to_string(i + 1) + ".traceg";
      // Everything between launches is "wait until idle" in the workloads used.
      list << (launch.operations.empty() ? "" : "MemcpyHtoD,0x1000000000,4\n") << name << "\n";
      std::ofstream out(folder_ / name);
      write(out, launch, *stream);
    }
  }
  std::string list() const { return (folder_ / "kernelslist.g").string(); }

 private:
  static std::string dim(Dim3 d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  }

  void write(std::ostream& out, const trace::LaunchHeader& launch, trace::KernelStream& stream) {
    const trace::KernelCode& code = stream.code();
    const trace::LaunchShape& shape = stream.shape();
    out << "-kernel name = " << launch.name << "\n-kernel id = " << launch.sequence + 1
        << "\n-grid dim = " << dim(shape.grid) << "\n-block dim = " << dim(shape.block)
        << "\n-shmem = " << code.static_shared_bytes + shape.dynamic_shared_bytes
        << "\n-nregs = " << code.registers_per_thread << "\n-binary version = 70"
        << "\n-cuda stream id = " << (launch.stream == 0 ? 0 : launch.stream + 100)
        << "\n-shmem base_addr = 0x00007f59dd000000\n-local mem base_addr = 0x00007f59db000000"
        << "\n-nvbit version = 1.7\n-accelsim tracer version = 4\n-enable lineinfo = 1\n\n"
        << "#traces format = [line_num] PC mask ...\n";
    for (std::uint32_t b = 0; b < shape.grid.count(); ++b) {
      const std::uint32_t x = b % shape.grid.x, y = b / shape.grid.x % shape.grid.y,
                          z = b / shape.grid.x / shape.grid.y;
      out << "\n#BEGIN_TB\n\nthread block = " << x << "," << y << "," << z << "\n";
      for (unsigned w = 0; w < shape.warps_per_block(); ++w) {
        std::string lines;
        std::uint64_t count = 0;
        trace::WarpCursor cursor = stream.open(b, w);
        do {
          while (cursor.at != cursor.end) cursor.at += record(cursor.at, code, lines, count);
        } while (stream.refill(cursor));
        out << "\nwarp = " << w << "\ninsts = " << count << "\n" << lines;
      }
      out << "\n#END_TB\n";
      stream.close(b);
    }
  }

  /// Returns the record's words.
  static unsigned record(const std::uint32_t* at, const trace::KernelCode& code, std::string& lines,
                         std::uint64_t& count) {
    const trace::Record r{at[0], at[1]};
    const bool transactions = trace::carries_transactions(code.instructions[r.inst()].kind);
    for (unsigned i = 0; i < r.count(); ++i, ++count)
      lines += accelsim_line(code, r.inst() + i, r, at + trace::kRecordWords) + "\n";
    return trace::kRecordWords + (transactions ? trace::kTransactionWords * r.transactions() : 0);
  }

  std::filesystem::path folder_;
};

}  // namespace raddle::test
