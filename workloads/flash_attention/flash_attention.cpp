// Host code of flash_attention. See README.md.
#include "attention/sequences.h"
#include "common/inputs.h"
#include "flash_attention/launch.h"
#include "gemm_mma/launch.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class FlashAttention final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    form_.half_weights = true;
    by_size(size, form_.of.heads, {2, 16, 32});
    by_size(size, form_.of.kv_heads, {1, 4, 8});
    by_size(size, form_.of.head_dim, {64, 128, 128});
    by_size(size, form_.sequence, {70, 1024, 4096});
  }

  void visit(FieldVisitor& v) override {
    v.field("causal", form_.causal, "a query sees the tokens up to its own only");
    v.field("batch", form_.batch, {1, 1024}, "sequences", "sequences");
    v.field("heads", form_.of.heads, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", form_.of.kv_heads, {1, 256}, "heads", "heads of keys and values");
    v.field("head_dim", form_.of.head_dim, {64, 128}, "numbers", "length of a head, 64 or 128");
    v.field("sequence", form_.sequence, {1, 1u << 17}, "tokens", "length of each sequence");
  }

  std::vector<std::string> violations() const override { return form_.violations(); }
  std::uint32_t min_capability() const override { return kMmaCapability; }

  void run(Device& device, std::uint64_t seed) override {
    in_.make(form_, seed, "flash_attention");
    inputs_.add(in_.query(), in_.key(), in_.value());
    const ModuleId module = load_module(device, "flash_attention");
    const DeviceArray<Half> query(device, in_.query()), key(device, in_.key());
    const DeviceArray<Half> value(device, in_.value()), out(device, query.size());
    const Heads& of = form_.of;
    launch_flash(device, module, of,
                 {query.address(), key.address(), value.address(), out.address(),
                  of.query_numbers(), of.kv_numbers()},
                 form_.batch, form_.sequence, form_.causal);
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override { return in_.check(out_); }

 private:
  AttentionForm form_;
  AttentionSequences in_;
  std::vector<Half> out_;
};

}  // namespace

void add_workload_flash_attention(Workloads& w) {
  w.add<FlashAttention>("flash_attention",
                        "attention by tensor units, scores in registers; of machines since 8.0");
}

}  // namespace raddle::runtime
