// Host code of gc: marks by levels until a list stays empty, then compacts. See README.md.
#include <algorithm>
#include <utility>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/heap.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

using Word = std::uint64_t;
constexpr std::uint32_t kGroup = 4;  // words; as in the kernels

class Gc final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    struct Values {
      std::uint32_t objects, heap_kib;
    };
    constexpr Values kValues[] = {{512, 64}, {65'536, 7'168}, {300'000, 32'768}};
    const Values& v = kValues[static_cast<std::size_t>(size)];
    spec_.objects = v.objects;
    heap_kib_ = v.heap_kib;
  }

  void visit(FieldVisitor& v) override {
    v.field("objects", spec_.objects, {1, 1u << 24}, "objects", "in the heap, living and dead");
    v.field("heap_kib", heap_kib_, {1, 1u << 21}, "KiB", "size of the heap");
    v.field("live_share", spec_.live_share, {0, 1}, "", "share of the structures that live");
    v.field("near_share", spec_.near_share, {0, 1}, "",
            "share of the references beside those of the structures that stay nearby");
    v.field("block", block_, {32, 1024}, "threads", "threads per block, a multiple of 32");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (block_ % 32 != 0) all.push_back("block must be a multiple of 32");
    std::uint64_t minimum = (min_heap_words(spec_.objects) * sizeof(Word) + 1023) / 1024;
    if (heap_kib_ < minimum)
      all.push_back("heap_kib must be at least " + std::to_string(minimum) + " for " +
                    std::to_string(spec_.objects) + " objects");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "gc");
    DeviceArray<Word> heap(device, heap_.words), to(device, heap_.words.size());
    DeviceArray<std::uint32_t> objects(device, heap_.objects), marks(device, marked_roots());
    mark(device, module, heap.address(), marks.address());

    auto count = static_cast<std::uint32_t>(heap_.objects.size());
    std::uint32_t blocks = blocks_for(count, block_);
    Dim3 grid{blocks}, block{block_};
    DeviceArray<std::uint32_t> place(device, count), block_words(device, blocks), words(device, 1);
    DeviceArray<std::uint32_t> forward(device, heap_.words.size() / kGroup + 1);
    to.set_bytes(0);
    device.launch(device.kernel(module, "gc_place"), grid, block,
                  Arguments(heap.address(), marks.address(), objects.address(), count,
                            place.address(), block_words.address()));
    device.launch(device.kernel(module, "gc_scan"), {1}, block,
                  Arguments(block_words.address(), blocks, words.address()));
    device.launch(device.kernel(module, "gc_forward"), grid, block,
                  Arguments(objects.address(), count, place.address(), block_words.address(),
                            forward.address()));
    device.launch(device.kernel(module, "gc_slide"), grid, block,
                  Arguments(heap.address(), marks.address(), objects.address(), count,
                            forward.address(), to.address()));
    device.synchronize();
    words_ = words.download()[0];
    // As 32-bit words, so that a difference is told in those.
    to_ = device.download<std::uint32_t>(to.address(), 2 * heap_.words.size());
  }

  std::string check() override {
    std::vector<bool> lives = living(heap_);
    std::vector<std::uint32_t> place(heap_.words.size(), 0);
    std::uint32_t words = 0;
    for (std::size_t o = 0; o < heap_.objects.size(); ++o) {
      std::uint32_t at = heap_.objects[o];
      if (!lives[o]) continue;
      place[at] = words;
      words += words_of(heap_.words[at]);
    }
    if (words != words_) return difference_text("words", 0, words, words_);
    std::vector<std::uint32_t> expected(2 * heap_.words.size(), 0);
    for (std::size_t o = 0; o < heap_.objects.size(); ++o) {
      std::uint32_t at = heap_.objects[o];
      for (std::uint32_t f = 0; lives[o] && f < words_of(heap_.words[at]); ++f) {
        Word word = heap_.words[at + f];
        if (f != 0 && is_reference(word)) word = Word{place[target_of(word)]} * 8;
        expected[2 * std::size_t{place[at] + f}] = static_cast<std::uint32_t>(word);
        expected[2 * std::size_t{place[at] + f} + 1] = static_cast<std::uint32_t>(word >> 32);
      }
    }
    return first_difference("heap", expected, to_);
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "gc/heap");
    spec_.words = heap_kib_ * 128;
    heap_ = make_heap(spec_, rng);
    inputs_.add(heap_.words, heap_.objects, heap_.roots);
  }

  std::vector<std::uint32_t> marked_roots() const {
    std::vector<std::uint32_t> marks(heap_.words.size() / kGroup / 32 + 1, 0);
    for (std::uint32_t root : heap_.roots) marks[root / kGroup / 32] |= 1u << root / kGroup % 32;
    return marks;
  }

  void mark(Device& device, ModuleId module, Address heap, Address marks) {
    KernelId kernel = device.kernel(module, "gc_mark");
    std::vector<std::uint32_t> first = heap_.roots;
    first.resize(heap_.objects.size());
    DeviceArray<std::uint32_t> a(device, first), b(device, first.size()), found(device, 1);
    Address work = a.address(), next = b.address();
    // Every object gets on a list once, so there are no more lists than objects.
    auto count = static_cast<std::uint32_t>(heap_.roots.size());
    for (std::size_t level = 0; count != 0 && level < first.size(); ++level) {
      found.upload({0});
      device.launch(kernel, {blocks_for(count, block_)}, {block_},
                    Arguments(heap, marks, work, count, next, found.address()));
      device.synchronize();
      count = std::min(found.download()[0], static_cast<std::uint32_t>(first.size()));
      std::swap(work, next);
    }
  }

  HeapSpec spec_;
  std::uint32_t heap_kib_ = 0, block_ = 256, words_ = 0;
  Heap heap_;
  std::vector<std::uint32_t> to_;
};

}  // namespace

void add_workload_gc(Workloads& w) {
  w.add<Gc>("gc", "mark-compact garbage collector: linked objects, marking and sliding");
}

}  // namespace raddle::runtime
