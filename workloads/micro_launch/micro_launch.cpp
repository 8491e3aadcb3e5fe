// Host code of micro_launch: a kernel that does nothing. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class MicroLaunch final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    launches_ = size == Size::Tiny ? 2 : 8;
    blocks_ = size == Size::Tiny ? 8 : size == Size::Small ? 1024 : 65536;
  }

  void visit(FieldVisitor& v) override {
    v.field("blocks", blocks_, {1, 1u << 20}, "blocks", "of the grid");
    v.field("threads", threads_, {1, 1024}, "threads", "of a block");
    v.field("launches", launches_, {1, 1u << 12}, "launches",
            "one after another, of which the last marks");
  }

  void run(Device& device, std::uint64_t seed) override {
    const std::size_t threads = std::size_t{blocks_} * threads_;
    mark_ = static_cast<std::uint32_t>(Rng(seed, "micro_launch/mark").next()) | 1;
    inputs_.add(std::vector<std::uint32_t>{mark_});
    const KernelId kernel = device.kernel(load_module(device, "micro_launch"), "micro_launch");
    DeviceArray<std::uint32_t> marked(device, std::vector<std::uint32_t>(threads));
    for (std::uint32_t i = 0; i < launches_; ++i)
      device.launch(kernel, {blocks_}, {threads_},
                    Arguments(marked.address(), i + 1 == launches_ ? mark_ : 0u));
    marked_ = marked.download();
  }

  std::string check() override {
    return first_difference("marked", std::vector<std::uint32_t>(marked_.size(), mark_), marked_);
  }

 private:
  std::uint32_t blocks_ = 0, threads_ = 32, launches_ = 0, mark_ = 0;
  std::vector<std::uint32_t> marked_;
};

}  // namespace

void add_workload_micro_launch(Workloads& w) {
  w.add<MicroLaunch>("micro_launch", "kernels that do nothing: what a launch and a block cost");
}

}  // namespace raddle::runtime
