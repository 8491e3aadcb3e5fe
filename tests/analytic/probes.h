// Kernels that measure: pointer chases, streams, dependent chains.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/whole.h"

namespace raddle::verification {

inline constexpr const char* kPtxHeader = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// Neither parameters nor a reference.
class Probe : public runtime::Workload {
 public:
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }
};

/// One thread loads from base + path[0], whose content leads to path[1], and so on.
class Chase final : public Probe {
 public:
  Chase(std::vector<std::uint64_t> path, bool bypass) : path_(std::move(path)), bypass_(bypass) {}
  void run(runtime::Device& device, std::uint64_t) override {
    const Address base = device.allocate(*std::ranges::max_element(path_) + 8);
    std::string loads;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      const Address next = base + path_[(i + 1) % path_.size()];
      device.copy_to_device(base + path_[i], &next, sizeof next);
      loads += bypass_ ? "ld.volatile.global.u64 %d1, [%d1];\n" : "ld.global.u64 %d1, [%d1];\n";
    }
    const runtime::ModuleId module =
        device.load(kPtxHeader +
                        std::string(".visible .entry chase(.param .u64 from)\n{\n"
                                    ".reg .b64 %d<2>;\nld.param.u64 %d1, [from];\n") +
                        loads + "ret;\n}\n",
                    "chase.ptx");
    device.launch(device.kernel(module, "chase"), {1}, {1}, runtime::Arguments(base + path_[0]));
  }

 private:
  std::vector<std::uint64_t> path_;
  bool bypass_;
};

/// Block `writer` stores the whole path, which its L1 owns then; in a second launch block `reader`
/// follows `steps` loads of it. A block per SM, if blocks go to SMs in order.
class RemoteChase final : public Probe {
 public:
  RemoteChase(std::vector<std::uint64_t> path, std::size_t steps, unsigned writer, unsigned reader,
              unsigned blocks)
      : path_(std::move(path)), steps_(steps), writer_(writer), reader_(reader), blocks_(blocks) {}
  void run(runtime::Device& device, std::uint64_t) override {
    const Address base = device.allocate(*std::ranges::max_element(path_) + 8);
    std::string stores, loads;
    for (std::size_t i = 0; i < path_.size(); ++i)
      stores += fmt::format("add.u64 %d2, %d1, {};\nst.global.u64 [%d1+{}], %d2;\n",
                            path_[(i + 1) % path_.size()], path_[i]);
    for (std::size_t i = 0; i < steps_; ++i) loads += "ld.global.u64 %d1, [%d1];\n";
    const runtime::ModuleId module = device.load(
        kPtxHeader + entry("own", writer_, stores) + entry("chase", reader_, loads), "remote.ptx");
    device.launch(device.kernel(module, "own"), {blocks_}, {1}, runtime::Arguments(base));
    device.launch(device.kernel(module, "chase"), {blocks_}, {1},
                  runtime::Arguments(base + path_[0]));
  }

 private:
  static std::string entry(const char* name, unsigned block, const std::string& body) {
    return fmt::format(R"(.visible .entry {}(.param .u64 from)
{{
.reg .b64 %d<3>; .reg .b32 %r<2>; .reg .pred %p<2>;
ld.param.u64 %d1, [from]; mov.u32 %r1, %ctaid.x;
setp.ne.u32 %p1, %r1, {}; @%p1 bra over;
{}over:
ret;
}}
)",
                       name, block, body);
  }
  std::vector<std::uint64_t> path_;
  std::size_t steps_;
  unsigned writer_, reader_, blocks_;
};

/// Cycles per load of a path, between its first `few` loads and all of it. A ring is a path that
/// comes back to the same lines: `rounds` of it.
inline double chase(const test::RunSpec& on, const std::vector<std::uint64_t>& path,
                    std::size_t few, bool bypass, unsigned rounds = 1) {
  const auto cycles = [&](std::size_t length) {
    std::vector<std::uint64_t> steps;
    for (std::size_t i = 0; i < length; ++i) steps.push_back(path[i % path.size()]);
    Chase probe(std::move(steps), bypass);
    return static_cast<double>(test::run_on(probe, "chase", on).cycles);
  };
  const std::size_t maximum = path.size() * rounds;
  return (cycles(maximum) - cycles(few)) / static_cast<double>(maximum - few);
}

enum class Access : std::uint8_t { Read, Write, Copy };
inline constexpr std::string_view kAccessNames[] = {"read", "write", "copy"};

/// Every thread moves 16 bytes at a time: `pieces` of them, `step` bytes apart, again and again for
/// `rounds`. Reads bypass the L1 where asked to.
class Stream final : public Probe {
 public:
  Stream(Access access, std::uint32_t blocks, std::uint32_t transactions, std::uint32_t rounds,
         bool bypass)
      : access_(access),
        blocks_(blocks),
        transactions_(transactions),
        rounds_(rounds),
        bypass_(bypass) {}
  std::uint64_t bytes() const { return std::uint64_t{blocks_} * 256 * 16 * transactions_; }
  void run(runtime::Device& device, std::uint64_t) override {
    const std::uint64_t step = std::uint64_t{blocks_} * 256 * 16;
    const Address from = device.allocate(bytes()), to = device.allocate(bytes());
    const std::string load = std::string("ld.global") + (bypass_ ? ".cg" : "") +
                             ".v4.f32 {%f2, %f3, %f4, %f5}, [%d5];\n",
                      store = "st.global.v4.f32 [%d6], {%f2, %f3, %f4, %f5};\n";
    const std::string body = (access_ != Access::Write ? load : "") +
                             (access_ == Access::Read ? "add.f32 %f1, %f1, %f2;\n" : store);
    const runtime::ModuleId module = device.load(kPtxHeader + std::string(R"(
.visible .entry stream(.param .u64 from, .param .u64 to, .param .u32 pieces,
  .param .u32 rounds, .param .u64 step)
{
.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .pred %p<2>;
ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u32 %r1, [pieces];
ld.param.u32 %r5, [rounds]; ld.param.u64 %d3, [step];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r2, 256, %r3;
mul.wide.u32 %d4, %r4, 16; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4;
mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1;
round:
mov.u64 %d5, %d1; mov.u64 %d6, %d2; mov.u32 %r6, %r1;
again:
)") + body + R"(
add.u64 %d5, %d5, %d3; add.u64 %d6, %d6, %d3; sub.u32 %r6, %r6, 1;
setp.ne.u32 %p1, %r6, 0; @%p1 bra again;
sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra round;
setp.eq.f32 %p1, %f1, 0f3F800000; @%p1 st.global.f32 [%d2], %f1;
ret;
}
)",
                                                 "stream.ptx");
    device.launch(device.kernel(module, "stream"), {blocks_}, {256},
                  runtime::Arguments(from, to, transactions_, rounds_, step));
  }

 private:
  Access access_;
  std::uint32_t blocks_, transactions_, rounds_;
  bool bypass_;
};

/// Blocks of 256 threads that a machine holds at the same time, when nothing but threads limits
/// them.
inline std::uint32_t resident_blocks(const timing::MachineSpec& m) {
  return m.sm.count * std::min(m.sm.threads / 256, m.sm.blocks);
}

/// A body in PTX run by `threads` in one block, for its cycles.
inline Cycle cycles_of(const test::RunSpec& on, const std::string& body, unsigned threads) {
  test::PtxWorkload workload(test::ptx_kernel(body), "k", {1}, {threads}, 8192);
  return test::run_on(workload, "probe", on).cycles;
}
/// Cycles per repetition of an instruction, between 200 and 600 of them.
inline double cycles_per(const test::RunSpec& on, const std::string& before,
                         const std::string& instruction, unsigned threads) {
  const auto cycles = [&](unsigned n) {
    std::string body = before + '\n';
    for (unsigned i = 0; i < n; ++i) body += instruction + '\n';
    return static_cast<double>(cycles_of(on, body + "ret;", threads));
  };
  return (cycles(600) - cycles(200)) / 400;
}

inline std::vector<std::string> machines() {
  std::vector<std::string> out;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) out.emplace_back(gpu.name);
  return out;
}
inline timing::MachineSpec spec_of(const std::string& gpu) {
  return test::make_setup({gpu, {}, {}, {}}).machine;
}

}  // namespace raddle::verification
