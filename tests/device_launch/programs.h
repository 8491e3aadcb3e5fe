// The kernels of tests/data/device_launch, run by host code given as a function.
#pragma once
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "raddle_paths.h"
#include "support/process.h"
#include "support/whole.h"

namespace raddle::test {

inline std::string device_launch_ptx() {
  return read_file(std::filesystem::path(RADDLE_SOURCE_DIR) /
                   "tests/data/device_launch/device_launch.ptx");
}

class Program final : public runtime::Workload {
 public:
  using Host = std::function<void(runtime::Device&, runtime::ModuleId)>;
  explicit Program(Host host, std::string ptx = device_launch_ptx())
      : host_(std::move(host)), ptx_(std::move(ptx)) {}
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  void run(runtime::Device& device, std::uint64_t) override {
    host_(device, device.load(ptx_, "device_launch.ptx"));
  }
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }

 private:
  Host host_;
  std::string ptx_;
};

/// One launch of kernel(out, numbers...) on `words` zeroed words.
struct OneLaunch {
  std::string kernel;
  Dim3 grid = {1}, block = {1};
  std::vector<std::uint32_t> numbers = {};
  std::size_t words = 256;
  StreamId stream = runtime::kDefaultStream;
  std::string ptx = device_launch_ptx();
  std::uint64_t max_pending = 1u << 20;
};

struct Outcome1 {
  std::vector<int> words;
  sim::Result result;
};

/// Of every run: conservation laws hold.
inline RunSpec audited(RunSpec spec = {}) {
  spec.options.audit = !spec.options.functional;
  return spec;
}

inline Program::Host host_of(const OneLaunch& one, std::vector<int>& words) {
  return [&one, &words](runtime::Device& device, runtime::ModuleId module) {
    const Address buffer = device.upload(std::vector<int>(one.words));
    runtime::Arguments arguments(buffer);
    for (const std::uint32_t n : one.numbers) arguments.add(n);
    device.limit_pending_launches(one.max_pending);
    if (one.stream != runtime::kDefaultStream) device.create_stream();
    device.launch(device.kernel(module, one.kernel), one.grid, one.block, arguments, 0, one.stream);
    words = device.download<int>(buffer, one.words);
  };
}

inline Outcome1 launch_one(const OneLaunch& one, const RunSpec& spec = {}) {
  Outcome1 out;
  Program program(host_of(one, out.words), one.ptx);
  out.result = run_on(program, "device_launch", audited(spec));
  return out;
}

inline RunSpec functional() {
  RunSpec spec;
  spec.options.functional = true;
  return spec;
}

/// The kernels of a result that are called so, in order of launch.
inline std::vector<const sim::KernelResult*> called(const sim::Result& result,
                                                    const std::string& part) {
  std::vector<const sim::KernelResult*> out;
  for (const sim::KernelResult& k : result.kernels)
    if (k.name.find(part) != std::string::npos) out.push_back(&k);
  return out;
}

}  // namespace raddle::test
