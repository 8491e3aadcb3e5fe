// Whole simulations for tests: a workload or a PTX text on a named machine.
#pragma once
#include <string>
#include <vector>

#include "raddle/config/tree.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/setup/gpus.h"

namespace raddle::test {

struct RunSpec {
  std::string gpu = "gtx480";
  std::vector<std::string> set = {};     ///< "path=value"
  std::vector<std::string> policy = {};  ///< "level=name"
  sim::Options options = {};
};

inline sim::Setup make_setup(const RunSpec& spec) {
  config::Tree tree = sim::load_gpu(spec.gpu);
  for (const std::string& text : spec.set) tree.set_option(text, text);
  for (const std::string& text : spec.policy) tree.set_policy(text, text);
  return sim::read_setup(tree, policy::all_policies());
}

inline sim::Result run_on(runtime::Workload& workload, const std::string& name,
                          const RunSpec& spec = {}) {
  std::vector<sim::Setup> setups;
  setups.push_back(make_setup(spec));
  return std::move(sim::simulate(workload, {name, {}}, setups, spec.options).front());
}

inline sim::Result run(const std::string& workload, const RunSpec& spec = {},
                       runtime::Size size = runtime::Size::Tiny) {
  auto made = runtime::all_workloads().make(workload);
  made->set_size(size);
  return run_on(*made, workload, spec);
}

/// Those that every machine has the instructions of; the others: tests/property/newer_machines.cpp.
inline std::vector<std::string> workloads_of_all_machines() {
  const runtime::Workloads all = runtime::all_workloads();
  std::vector<std::string> names = all.names();
  std::erase_if(names,
                [&](const std::string& name) { return all.make(name)->min_capability() != 0; });
  return names;
}

/// Launches that kernels have made.
inline std::size_t launches_of_kernels(const sim::Result& result) {
  std::size_t launches = 0;
  for (const sim::KernelResult& kernel : result.kernels) launches += kernel.parent.has_value();
  return launches;
}

inline std::string state_hash(const sim::Result& result) {
  return sim::to_json(result)["state_hash"].get<std::string>();
}

/// A kernel given as text, launched once; buffers are zeroed words, read back afterwards.
class PtxWorkload final : public runtime::Workload {
 public:
  PtxWorkload(std::string text, std::string kernel, Dim3 grid, Dim3 block,
              std::uint64_t buffer_words)
      : text_(std::move(text)),
        kernel_(std::move(kernel)),
        grid_(grid),
        block_(block),
        words(buffer_words) {}
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  void run(runtime::Device& device, std::uint64_t) override {
    const runtime::ModuleId module = device.load(text_, kernel_ + ".ptx");
    const Address buffer = device.upload(words);
    device.launch(device.kernel(module, kernel_), grid_, block_, runtime::Arguments(buffer));
    words = device.download<std::uint32_t>(buffer, words.size());
  }
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }

 private:
  std::string text_, kernel_;
  Dim3 grid_, block_;

 public:
  std::vector<std::uint32_t> words;  ///< before the run: the input; after it: the result
};

/// Header of a PTX text with one kernel `k(.param .u64 buffer)` around `body`.
inline std::string ptx_kernel(const std::string& body) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{\n"
         ".reg .b32 %r<64>;\n.reg .b64 %d<64>;\n.reg .pred %p<8>;\n.reg .f32 %f<64>;\nld.param.u64 "
         "%d0, [buffer];\n" +
         body + "\n}\n";
}

}  // namespace raddle::test
