// Small traces made by hand, and what becomes of them.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "raddle/accelsim/recording.h"
#include "support/errors.h"
#include "support/process.h"

namespace raddle::accelsim {

inline std::string header_text(unsigned warps = 1, unsigned blocks = 1, unsigned version = 80,
                               const std::string& more = "") {
  return "-kernel name = k\n-kernel id = 1\n-grid dim = (" + std::to_string(blocks) +
         ",1,1)\n-block dim = (" + std::to_string(32 * warps) +
         ",1,1)\n-shmem = 64\n-nregs = 32\n-binary version = " + std::to_string(version) +
         "\n-cuda stream id = 0\n-shmem base_addr = 0x00007f59dd000000\n"
         "-local mem base_addr = 0x00007f59db000000\n-nvbit version = 1.7.6\n"
         "-accelsim tracer version = 5\n-enable lineinfo = 0\n" +
         more + "\n#traces format = PC mask ...\n\n";
}

inline std::string warp_text(unsigned w, const std::vector<std::string>& lines) {
  std::string out = "\nwarp = " + std::to_string(w) + "\ninsts = " + std::to_string(lines.size());
  for (const std::string& line : lines) out += "\n" + line;
  return out + "\n";
}

inline std::string block_text(unsigned b, const std::string& warps) {
  return "\n#BEGIN_TB\n\nthread block = " + std::to_string(b) + ",0,0\n" + warps + "\n#END_TB\n";
}

/// A kernel of one warp.
inline std::string kernel_text(const std::vector<std::string>& lines, unsigned version = 80) {
  return header_text(1, 1, version) + block_text(0, warp_text(0, lines));
}

/// The same of tracer version 6 on Hopper; `cluster`: "x,y,z" of each block and its rank there.
inline std::string header_6(unsigned warps = 1, unsigned blocks = 1) {
  std::string text = header_text(warps, blocks, 90);
  return text.replace(text.find("tracer version = 5"), 18, "tracer version = 6");
}
inline std::string block_6(unsigned b, const std::string& warps, const std::string& cluster,
                           unsigned rank = 0) {
  return "\n#BEGIN_TB\n\nthread block = " + std::to_string(b) + ",0,0\ncluster id = " + cluster +
         "\ncluster cta = " + std::to_string(rank) +
         ",0,0\ncluster rank = " + std::to_string(rank) + "\n" + warps + "\n#END_TB\n";
}
/// One block of warps with these lines.
inline std::string kernel_6(const std::vector<std::vector<std::string>>& warps) {
  std::string all;
  for (unsigned w = 0; w < warps.size(); ++w) all += warp_text(w, warps[w]);
  return header_6(static_cast<unsigned>(warps.size())) + block_6(0, all, "0,0,0");
}

class TraceFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
    return (folder_.path() / name).string();
  }
  /// A list of one kernel with this text.
  std::string trace(const std::string& text) {
    file("kernel-1.traceg", text);
    return file("kernelslist.g", "kernel-1.traceg\n");
  }
  /// What reading all of it says.
  std::string error_of(const std::string& text) {
    const std::string list = trace(text);
    return test::input_error_of([&] {
      const TraceRecording recording(list);
      for (std::size_t i = 0; i < recording.launches(); ++i) recording.launch(i);
    });
  }
  struct Op {
    const trace::StaticInst* inst;
    std::string name;
    trace::Record record;
    std::vector<trace::Transaction> transactions;
  };
  /// The instructions of one warp, one by one.
  static std::vector<Op> ops(trace::KernelStream& stream, std::uint32_t block = 0,
                             unsigned warp = 0) {
    std::vector<Op> out;
    const trace::KernelCode& code = stream.code();
    trace::WarpCursor cursor = stream.open(block, warp);
    while (cursor.at != cursor.end) {
      const trace::Record r{cursor.at[0], cursor.at[1]};
      cursor.at += trace::kRecordWords;
      for (unsigned i = 0; i < r.count(); ++i) {
        const trace::StaticInst& inst = code.instructions.at(r.inst() + i);
        out.push_back({&inst, code.opcode_names.at(inst.opcode), r, {}});
        for (unsigned p = 0; trace::carries_transactions(inst.kind) && p < r.transactions(); ++p) {
          out.back().transactions.push_back({cursor.at[0], cursor.at[1], cursor.at[2]});
          cursor.at += trace::kTransactionWords;
        }
      }
    }
    return out;
  }
  /// Those of the one warp of a kernel made of these lines.
  std::vector<Op> imported(const std::vector<std::string>& lines, unsigned version = 80) {
    recording_ = std::make_unique<TraceRecording>(trace(kernel_text(lines, version)));
    stream_ = recording_->open(0);
    return ops(*stream_);
  }
  /// Those of the first warp of kernel_6().
  std::vector<Op> imported_6(const std::vector<std::vector<std::string>>& warps) {
    recording_ = std::make_unique<TraceRecording>(trace(kernel_6(warps)));
    stream_ = recording_->open(0);
    return ops(*stream_);
  }
  const nlohmann::ordered_json& import() const { return recording_->trailer().at("import"); }
  const std::filesystem::path& folder() const { return folder_.path(); }

  test::Folder folder_;
  std::unique_ptr<TraceRecording> recording_;
  std::unique_ptr<trace::KernelStream> stream_;
};

}  // namespace raddle::accelsim
