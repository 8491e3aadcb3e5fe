// Host code of memc: a filled key-value store, a batch of GET requests, their answers. See
// README.md.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/draw.h"
#include "common/inputs.h"
#include "common/lookup3.h"
#include "common/wiki.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kNow = 1'000'000;              // seconds
constexpr std::uint32_t kRequestFrame = 6;             // "get " and "\r\n"
constexpr double kMeanValue = 200, kValueShape = 0.8;  // bytes, log-normal
constexpr double kExpiredShare = 0.01;

// As struct Item and struct Result of the kernel.
struct Item {
  std::uint32_t next, lru_next, lru_previous, time, expires, value_bytes, references, key_bytes;
  std::uint32_t flags, slab_class, version_low, version_high;
};
static_assert(sizeof(Item) == 48);
constexpr std::uint32_t kResultWords = 4;

// memcached doubles its table when there are more than 1.5 items per bucket.
std::uint32_t bucket_count(std::uint32_t keys) { return std::bit_ceil((2 * keys + 2) / 3); }

// Items in memory as memcached's slabs keep them: chunks of some sizes, each a quarter larger than
// the one before; a page holds chunks of one size. Offset 0 is never an item.
class Arena {
 public:
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kPage, 0);

  std::uint32_t allocate(std::uint32_t size, std::uint32_t& slab_class) {
    std::uint32_t chunk = kMinChunk;
    for (slab_class = 0; chunk < size; ++slab_class) chunk = (chunk + chunk / 4 + 7) / 8 * 8;
    if (slab_class >= pages_.size()) pages_.resize(slab_class + 1);
    Page& page = pages_[slab_class];
    if (page.left < chunk) {
      page = {static_cast<std::uint32_t>(bytes.size()), kPage};
      bytes.resize(bytes.size() + kPage);
    }
    page.left -= chunk;
    return std::exchange(page.next, page.next + chunk);
  }
  template <class T>
  void write(std::uint32_t at, const T& value) {
    std::memcpy(&bytes[at], &value, sizeof value);
  }
  Item item(std::uint32_t at) const {
    Item item;
    std::memcpy(&item, &bytes[at], sizeof item);
    return item;
  }
  std::string_view key(std::uint32_t at) const {
    return {reinterpret_cast<const char*>(&bytes[at + sizeof(Item)]), item(at).key_bytes};
  }

 private:
  static constexpr std::uint32_t kPage = 64 << 10, kMinChunk = 96;
  struct Page {
    std::uint32_t next = 0, left = 0;
  };
  std::vector<Page> pages_;
};

class Memc final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    struct Values {
      std::uint32_t requests, keys;
    };
    constexpr Values kValues[] = {{64, 500}, {30'720, 50'000}, {262'144, 200'000}};
    const Values& v = kValues[static_cast<std::size_t>(size)];
    requests_ = v.requests;
    spec_.keys = v.keys;
  }

  void visit(FieldVisitor& v) override {
    v.field("requests", requests_, {1, 1u << 24}, "requests", "GET requests of the batch");
    v.field("keys", spec_.keys, {1, 1u << 22}, "keys", "keys stored");
    v.field("zipf", spec_.zipf, {0, 4}, "",
            "the r-th most popular key is asked for in proportion to r^-zipf");
    v.field("slot_bytes", slot_bytes_, {32, 256}, "B", "one request in the receive buffer");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "memc");
    KernelId get = device.kernel(module, "memc_get");
    DeviceArray<std::uint8_t> requests(device, buffer_), arena(device, arena_.bytes);
    DeviceArray<std::uint32_t> buckets(device, buckets_), results(device, requests_ * kResultWords);
    device.launch(
        get, {blocks_for(requests_, block_)}, {block_},
        Arguments(requests.address(), arena.address(), buckets.address(), results.address(),
                  requests_, slot_bytes_, static_cast<std::uint32_t>(buckets_.size() - 1), kNow));
    device.synchronize();
    arena_after_ = arena.download();
    result_ = results.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected(result_.size(), 0);
    std::vector<std::uint8_t> touched = arena_.bytes;
    for (std::uint32_t r = 0; r < requests_; ++r) {
      const std::string& key = trace_.key_of(trace_.requests[r]);
      std::uint32_t at = find(key);
      if (at == 0) continue;
      Item item = arena_.item(at);
      if (item.expires != 0 && item.expires <= kNow) continue;
      std::uint32_t* words = &expected[std::size_t{r} * kResultWords];
      words[0] = 1;
      words[1] = at;
      words[3] = item.value_bytes;
      words[2] = at + static_cast<std::uint32_t>(sizeof(Item) + key.size());
      std::memcpy(&touched[at + offsetof(Item, time)], &kNow, sizeof kNow);
    }
    std::string difference = first_difference("arena", touched, arena_after_);
    return difference.empty() ? first_difference("result", expected, result_) : difference;
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "memc/trace");
    spec_.requests = requests_;
    spec_.max_key = std::min(60u, slot_bytes_ - kRequestFrame);
    trace_ = make_wiki(spec_, rng);
    buckets_.assign(bucket_count(spec_.keys), 0);
    Rng values(seed, "memc/values");
    for (const std::string& key : trace_.keys) store(key, values);
    buffer_.assign(std::size_t{requests_} * slot_bytes_, 0);
    for (std::uint32_t r = 0; r < requests_; ++r) {
      std::string text = "get " + trace_.key_of(trace_.requests[r]) + "\r\n";
      std::copy(text.begin(), text.end(), &buffer_[std::size_t{r} * slot_bytes_]);
    }
    inputs_.add(buffer_, arena_.bytes, buckets_);
  }

  std::uint32_t& bucket_of(std::string_view key) {
    return buckets_[lookup3(key) & (buckets_.size() - 1)];
  }

  // At the head of its chain, where memcached puts a new item.
  void store(const std::string& key, Rng& rng) {
    Item item{};
    item.key_bytes = static_cast<std::uint32_t>(key.size());
    item.value_bytes = static_cast<std::uint32_t>(log_normal(kMeanValue, kValueShape, rng));
    item.time = rng.below(kNow);
    item.expires = rng.unit() < kExpiredShare ? 1 + rng.below(kNow) : 0;
    std::uint32_t& head = bucket_of(key);
    item.next = head;
    std::uint32_t bytes = static_cast<std::uint32_t>(sizeof item) + item.key_bytes;
    head = arena_.allocate(bytes + item.value_bytes, item.slab_class);
    arena_.write(head, item);
    std::copy(key.begin(), key.end(), &arena_.bytes[head + sizeof item]);
  }

  std::uint32_t find(std::string_view key) {
    std::uint32_t at = bucket_of(key);
    while (at != 0 && arena_.key(at) != key) at = arena_.item(at).next;
    return at;
  }

  WikiSpec spec_;
  std::uint32_t requests_ = 0, slot_bytes_ = 64, block_ = 128;
  WikiTrace trace_;
  Arena arena_;
  std::vector<std::uint8_t> buffer_, arena_after_;
  std::vector<std::uint32_t> buckets_, result_;
};

}  // namespace

void add_workload_memc(Workloads& w) {
  w.add<Memc>("memc", "GET requests of a key-value store: bytes of keys, hash chains");
}

}  // namespace raddle::runtime
