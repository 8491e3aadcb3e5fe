// Host code of paged_decode. See README.md.
#include <bit>

#include "attention/sequences.h"
#include "common/draw.h"
#include "common/inputs.h"
#include "gemm_mma/launch.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kWarps = 4, kThreads = 128, kKeys = 16,
                        kMaxHeads = 16;  // as in kernels.cu
constexpr std::uint32_t kStages = 2, kTensors = 2;

class PagedDecode final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    form_.prefill = false;
    form_.half_weights = true;
    by_size(size, form_.of.heads, {4, 32, 32});
    by_size(size, form_.of.kv_heads, {2, 8, 8});
    by_size(size, form_.of.head_dim, {64, 128, 128});
    by_size(size, form_.batch, {2, 8, 32});
    by_size(size, form_.sequence, {100, 1024, 4096});
    by_size(size, split_, {64, 256, 512});
  }

  void visit(FieldVisitor& v) override {
    v.field("batch", form_.batch, {1, 1024}, "sequences", "sequences");
    v.field("heads", form_.of.heads, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", form_.of.kv_heads, {1, 256}, "heads", "heads of keys and values");
    v.field("head_dim", form_.of.head_dim, {64, 128}, "numbers", "length of a head, 64 or 128");
    v.field("sequence", form_.sequence, {1, 1u << 17}, "tokens",
            "length of the longest sequence, others have half of it or more");
    v.field("page", page_, {kKeys, 1024}, "tokens", "tokens of a page, a power of two");
    v.field("split", split_, {64, 1u << 17}, "tokens", "tokens of a block, a multiple of 64");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all = form_.violations();
    if (form_.of.heads > kMaxHeads * form_.of.kv_heads)
      all.push_back(
          "heads must not exceed 16 * kv_heads = " + std::to_string(kMaxHeads * form_.of.kv_heads) +
          ", is " + std::to_string(form_.of.heads));
    if (!std::has_single_bit(page_))
      all.push_back("page must be a power of two, is " + std::to_string(page_));
    if (split_ % (kWarps * kKeys) != 0)
      all.push_back("split must be a multiple of 64, is " + std::to_string(split_));
    return all;
  }
  std::uint32_t min_capability() const override { return kMmaCapability; }

  void run(Device& device, std::uint64_t seed) override {
    in_.make(form_, seed, "paged_decode");
    const Heads& of = form_.of;
    const std::uint32_t of_sequence = blocks_for(form_.sequence, page_);
    Rng rng(seed, "paged_decode/pages");
    const std::vector<std::uint32_t> order = permutation(form_.batch * of_sequence, rng);
    inputs_.add(in_.query(), in_.key(), in_.value(), in_.lengths(), order);
    const ModuleId module = load_module(device, "paged_decode");
    const DeviceArray<Half> query(device, in_.query()), out(device, query.size());
    const DeviceArray<Half> key(device, in_.paged(in_.key(), order, page_));
    const DeviceArray<Half> value(device, in_.paged(in_.value(), order, page_));
    const DeviceArray<std::uint32_t> pages(device, order), lengths(device, in_.lengths());
    const std::uint32_t splits = blocks_for(form_.sequence, split_);
    const DeviceArray<float> partial(device, query.size() * splits);
    const DeviceArray<float> states(device, std::size_t{2} * form_.batch * of.heads * splits);
    const PagedCache cache{key.address(),     value.address(), pages.address(),
                           lengths.address(), of_sequence,     page_};
    device.launch(device.kernel(module, "paged_decode_" + std::to_string(of.head_dim)),
                  {splits, of.kv_heads, form_.batch}, {kThreads},
                  Arguments(query.address(), cache.keys, cache.values, cache.pages, cache.lengths,
                            cache.pages_of_sequence, cache.page_shift(), of.kv_heads, of.group(),
                            split_, of.scale(), partial.address(), states.address()),
                  kWarps * kStages * kTensors * kKeys * of.head_dim * 2);
    device.launch(device.kernel(module, "paged_combine"), {of.heads, form_.batch}, {of.head_dim},
                  Arguments(partial.address(), states.address(), cache.lengths, out.address(),
                            splits, split_));
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override { return in_.check(out_); }

 private:
  AttentionForm form_;
  std::uint32_t page_ = 16, split_ = 256;
  AttentionSequences in_;
  std::vector<Half> out_;
};

}  // namespace

void add_workload_paged_decode(Workloads& w) {
  w.add<PagedDecode>("paged_decode",
                     "a query to keys in pages by tensor units, split; of machines since 8.0");
}

}  // namespace raddle::runtime
