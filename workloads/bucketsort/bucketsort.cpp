// Host code of bucketsort: elements go to their buckets. See README.md.
#include <algorithm>
#include <array>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

// As in kernels.cu.
constexpr std::uint32_t kBuckets = 1024, kBucketBits = 10, kThreads = 32;
constexpr std::uint32_t kPerBlock = 4096;  ///< elements

class BucketSort final : public HashedWorkload {
 public:
  void set_size(Size size) override { by_size(size, count_, {10'000, 1 << 20, 1 << 22}); }

  void visit(FieldVisitor& v) override {
    v.field("n", count_, {1, 1u << 28}, "elements", "elements to sort");
  }

  void run(Device& device, std::uint64_t seed) override {
    elements_ = random_floats(seed, "bucketsort/elements", count_, 0, 1);
    inputs_.add(elements_);
    count_elements();

    KernelId kernel = device.kernel(load_module(device, "bucketsort"), "bucketsort");
    DeviceArray<float> elements(device, elements_), sorted(device, count_);
    DeviceArray<std::uint32_t> indices(device, indices_), before(device, before_);
    DeviceArray<std::uint32_t> starts(device, starts_);
    sorted.set_bytes(0xff);
    device.launch(kernel, {blocks()}, {kThreads},
                  Arguments(elements.address(), indices.address(), sorted.address(), count_,
                            before.address(), starts.address()));
    device.synchronize();
    sorted_ = sorted.download();
  }

  // Exact: bucket by bucket the elements of each block, as it comes to them, without any index.
  std::string check() override {
    std::vector<std::vector<float>> buckets(kBuckets);
    for (std::uint32_t block = 0; block < blocks(); ++block)
      for_elements_of(
          block, [&](std::size_t i) { buckets[bucket_of(elements_[i])].push_back(elements_[i]); });
    std::vector<float> expected;
    for (const std::vector<float>& bucket : buckets)
      expected.insert(expected.end(), bucket.begin(), bucket.end());
    return first_difference("sorted", expected, sorted_);
  }

 private:
  std::uint32_t blocks() const { return blocks_for(count_, kPerBlock); }
  static std::uint32_t bucket_of(float element) {
    return std::min(kBuckets - 1, static_cast<std::uint32_t>(element * kBuckets));
  }

  // In the order of the kernel's trips.
  template <class Visit>
  void for_elements_of(std::uint32_t block, Visit visit) const {
    const std::size_t step = std::size_t{blocks()} * kThreads;
    for (std::size_t trip = std::size_t{block} * kThreads; trip < count_; trip += step)
      for (std::size_t i = trip; i < std::min<std::size_t>(trip + kThreads, count_); ++i) visit(i);
  }

  // What earlier kernels would find: indices, each block's offsets in a bucket, the buckets'.
  void count_elements() {
    indices_.resize(count_);
    std::array<std::uint32_t, kBuckets> total{};
    for (std::uint32_t block = 0; block < blocks(); ++block) {
      std::array<std::uint32_t, kBuckets> own{};
      for_elements_of(block, [&](std::size_t i) {
        const std::uint32_t bucket = bucket_of(elements_[i]);
        indices_[i] = bucket | own[bucket]++ << kBucketBits;
      });
      before_.insert(before_.end(), total.begin(), total.end());
      for (std::uint32_t b = 0; b < kBuckets; ++b) total[b] += own[b];
    }
    std::uint32_t start = 0;
    for (std::uint32_t size : total) {
      starts_.push_back(start);
      start += size;
    }
  }

  std::uint32_t count_ = 0;
  std::vector<float> elements_, sorted_;
  std::vector<std::uint32_t> indices_, before_, starts_;
};

}  // namespace

void add_workload_bucketsort(Workloads& w) {
  w.add<BucketSort>("bucketsort", "elements to their buckets: coalesced loads, scattered stores");
}

}  // namespace raddle::runtime
