// Host code of micro_memory: pointers followed and arrays streamed. See README.md.
#include <array>
#include <utility>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Test : std::uint8_t {
  ChaseL1,
  ChaseL2,
  ChaseShared32,
  ChaseShared64,
  StreamL1F32,
  StreamL1F64,
  StreamL1F32x2,
  StreamL1F32x4,
  StreamL2F32,
  StreamL2F64,
  StreamL2F32x4,
  StreamMemory,
  ReadMemory,
  WriteMemory,
  CopyMemory,
  Atomic,
};
constexpr std::array<std::string_view, 16> kTests = {
    "chase_l1",      "chase_l2",      "chase_shared_32", "chase_shared_64",
    "stream_l1_f32", "stream_l1_f64", "stream_l1_f32x2", "stream_l1_f32x4",
    "stream_l2_f32", "stream_l2_f64", "stream_l2_f32x4", "stream_memory",
    "read_memory",   "write_memory",  "copy_memory",     "atomic"};
constexpr std::uint32_t kUnrolled = 32, kSharedBytes = 32 * 1024, kFloats = 16384;  // kernels.cu
constexpr std::size_t kElement = 4;  // floats of an access to memory
constexpr float kWritten = 3;

/// How a stream's kernel goes through its array, in elements: in iteration i thread t of the grid
/// (`whole_grid`) or block begins at t * thread + i * iteration, wrapped at `wrap` if any, and
/// reads `loads` elements `apart`, each into an accumulator of its own.
struct Stream {
  std::uint32_t thread, iteration, loads, apart, wrap;
  bool whole_grid;
};
Stream stream_of(Test test) {
  switch (test) {
    case Test::StreamL1F32:
      return {1, 128, 4, 32, kFloats, false};
    case Test::StreamL1F64:
      return {1, 64, 2, 32, kFloats / 2, false};
    case Test::StreamL1F32x2:
      return {2, 64, 2, 1, kFloats, false};
    case Test::StreamL1F32x4:
      return {4, 128, 4, 1, kFloats, false};
    case Test::StreamL2F32x4:
      return {4, 128, 4, 1, 0, true};
    default:
      return {1, 32, 1, 1, 0, true};  // StreamL2F32, StreamL2F64
  }
}

class MicroMemory final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    threads_ = size == Size::Tiny ? 32 : 1024;
    steps_ = size == Size::Tiny ? 2 : size == Size::Small ? 8 : 64;
  }

  void visit(FieldVisitor& v) override {
    v.choice("test", test_, kTests,
             "chase: each load's address is the result of the one before; stream: loads of a width "
             "that do not wait for each other");
    v.field("threads", threads_, {1, 1024}, "threads", "of a block");
    v.field("blocks", blocks_, {1, 1u << 16}, "blocks", "of the grid");
    v.field("words", words_, {1, 1u << 28}, "words of 8 bytes",
            "of the array that chases go through (atomic: of 4 bytes, added to)");
    v.field("written", written_,
            "chase_l1, chase_l2: the kernel makes the array; else the host does");
    v.field("stride", stride_, {1, 1u << 20}, "words",
            "from one word of a chase to the next, of 8 bytes (chase_shared_32: 4; atomic: from "
            "the word of one thread to that of the next)");
    v.field("steps", steps_, {1, 1u << 20}, "steps",
            "32 iterations of the loop each; those of memory: elements of a thread");
  }

  std::vector<std::string> violations() const override {
    if (words_ >= threads_ || test_ == Test::Atomic) return {};
    return {"words must not be below threads (words is " + std::to_string(words_) +
            ", threads is " + std::to_string(threads_) + ")"};
  }

  void run(Device& device, std::uint64_t seed) override {
    kernel_ = device.kernel(load_module(device, "micro_memory"),
                            "micro_" + std::string(kTests[static_cast<std::size_t>(test_)]));
    switch (test_) {
      case Test::ChaseL1:
      case Test::ChaseL2:
        return chase(device);
      case Test::ChaseShared32:
        return chase_shared(device, last_32_);
      case Test::ChaseShared64:
        return chase_shared(device, last_);
      case Test::StreamL1F64:
      case Test::StreamL2F64:
        return stream(device, seed, from_64_, sums_64_);
      case Test::StreamMemory:
        return stream_memory(device, seed);
      case Test::ReadMemory:
      case Test::WriteMemory:
      case Test::CopyMemory:
        return one_way(device, seed);
      case Test::Atomic:
        return atomic(device);
      default:
        return stream(device, seed, from_, sums_);
    }
  }

  // Exact: whole numbers, additions in the kernel's order.
  std::string check() override {
    switch (test_) {
      case Test::ChaseL1:
      case Test::ChaseL2:
        return reached(words_, steps_ * std::uint64_t{kUnrolled} + 1, last_);
      case Test::ChaseShared32:
        return reached_shared(last_32_);
      case Test::ChaseShared64:
        return reached_shared(last_);
      case Test::StreamL1F64:
      case Test::StreamL2F64:
        return summed(from_64_, sums_64_);
      case Test::StreamMemory:
        return added();
      case Test::ReadMemory:
        return read();
      case Test::WriteMemory:
        return first_difference("c", std::vector<float>(from_.size(), kWritten), sums_);
      case Test::CopyMemory:
        return first_difference("c", from_, sums_);
      case Test::Atomic:
        return counted();
      default:
        return summed(from_, sums_);
    }
  }

 private:
  std::size_t grid_threads() const { return std::size_t{threads_} * blocks_; }

  void chase(Device& device) {
    DeviceArray<std::uint64_t> next(device, words_), last(device, threads_);
    inputs_.add(std::vector<std::uint32_t>{words_, stride_});
    if (!written_) {
      std::vector<std::uint64_t> places(words_);
      for (std::size_t i = 0; i < words_; ++i)
        places[i] = next.address() + 8 * ((i + stride_) % words_);
      next.upload(places);
    }
    Arguments arguments(next.address());
    arguments.add(last.address());
    arguments.add(words_);
    arguments.add(stride_);
    arguments.add(std::uint32_t{written_});
    arguments.add(steps_);
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    last_ = last.download();
    for (std::uint64_t& at : last_) at = (at - next.address()) / 8;
  }

  template <class T>
  void chase_shared(Device& device, std::vector<T>& reached) {
    DeviceArray<T> last(device, threads_);
    Arguments arguments(last.address());
    arguments.add(stride_);
    arguments.add(steps_);
    inputs_.add(std::vector<std::uint32_t>{stride_});
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    reached = last.download();
  }

  /// Where each thread is after so many moves from its own place.
  template <class T>
  std::string reached(std::uint64_t words, std::uint64_t moves, const std::vector<T>& last) const {
    std::vector<T> expected(threads_);
    for (std::size_t t = 0; t < expected.size(); ++t)
      expected[t] = static_cast<T>((t + moves % words * stride_) % words);
    return first_difference("last", expected, last);
  }
  template <class T>
  std::string reached_shared(const std::vector<T>& last) const {
    return reached(kSharedBytes / sizeof(T), steps_ * std::uint64_t{kUnrolled}, last);
  }

  template <class T>
  std::vector<T> whole_numbers(std::uint64_t seed, std::size_t count) {
    Rng rng(seed, "micro_memory/from");
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(rng.below(4));
    inputs_.add(values);
    return values;
  }

  template <class T>
  void stream(Device& device, std::uint64_t seed, std::vector<T>& from, std::vector<T>& sums) {
    const Stream s = stream_of(test_);
    const std::size_t threads = s.whole_grid ? grid_threads() : threads_;
    const std::size_t reach = std::size_t{s.loads} * s.apart;
    from = whole_numbers<T>(
        seed, (s.wrap != 0 ? s.wrap
                           : threads * s.thread + std::size_t{steps_} * kUnrolled * s.iteration) +
                  reach);
    DeviceArray<T> array(device, from), out(device, threads);
    Arguments arguments(array.address());
    arguments.add(out.address());
    arguments.add(steps_);
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    sums = out.download();
  }

  template <class T>
  std::string summed(const std::vector<T>& from, const std::vector<T>& sums) const {
    const Stream s = stream_of(test_);
    std::vector<T> expected(sums.size());
    for (std::size_t t = 0; t < expected.size(); ++t)
      for (std::uint32_t i = 0; i < steps_ * kUnrolled; ++i) {
        std::size_t at = t * s.thread + std::size_t{i} * s.iteration;
        if (s.wrap != 0) at %= s.wrap;
        for (std::uint32_t k = 0; k < s.loads; ++k) expected[t] += from[at + k * s.apart];
      }
    return first_difference("sums", expected, sums);
  }

  void stream_memory(Device& device, std::uint64_t seed) {
    const std::size_t floats = grid_threads() * steps_ * kElement;
    from_ = whole_numbers<float>(seed, floats);
    DeviceArray<float> a(device, from_), b(device, from_), c(device, floats), d(device, from_),
        e(device, from_), f(device, from_);
    Arguments arguments(a.address());
    for (const auto* array : {&b, &c, &d, &e, &f}) arguments.add(array->address());
    arguments.add(static_cast<std::uint32_t>(floats / kElement));
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    sums_ = c.download();
  }
  std::string added() const {
    std::vector<float> expected = from_;
    for (float& each : expected) each *= 5;
    return first_difference("c", expected, sums_);
  }

  void one_way(Device& device, std::uint64_t seed) {
    const std::size_t floats = grid_threads() * steps_ * kElement;
    from_ = whole_numbers<float>(seed, floats);
    DeviceArray<float> a(device, from_),
        c(device, test_ == Test::ReadMemory ? grid_threads() * kElement : floats);
    Arguments arguments;
    if (test_ != Test::WriteMemory) arguments.add(a.address());
    arguments.add(c.address());
    if (test_ == Test::WriteMemory) arguments.add(kWritten);
    arguments.add(static_cast<std::uint32_t>(floats / kElement));
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    sums_ = c.download();
  }
  std::string read() const {
    std::vector<float> expected(sums_.size());
    for (std::size_t i = 0; i < from_.size(); ++i) expected[i % expected.size()] += from_[i];
    return first_difference("sums", expected, sums_);
  }

  void atomic(Device& device) {
    inputs_.add(std::vector<std::uint32_t>{words_, stride_});
    DeviceArray<std::uint32_t> counters(device, std::vector<std::uint32_t>(words_));
    Arguments arguments(counters.address());
    arguments.add(words_);
    arguments.add(stride_);
    arguments.add(steps_);
    device.launch(kernel_, {blocks_}, {threads_}, arguments);
    last_32_ = counters.download();
  }
  std::string counted() const {
    std::vector<std::uint32_t> expected(words_);
    for (std::uint64_t t = 0; t < grid_threads(); ++t)
      expected[t * stride_ % words_] += steps_ * kUnrolled;
    return first_difference("counters", expected, last_32_);
  }

  Test test_ = Test::StreamL1F32;
  std::uint32_t threads_ = 0, blocks_ = 1, words_ = 4096, stride_ = 1, steps_ = 0;
  bool written_ = true;
  KernelId kernel_{};
  std::vector<std::uint64_t> last_;
  std::vector<std::uint32_t> last_32_;
  std::vector<float> from_, sums_;
  std::vector<double> from_64_, sums_64_;
};

}  // namespace

void add_workload_micro_memory(Workloads& w) {
  w.add<MicroMemory>("micro_memory",
                     "pointers followed and arrays streamed: latency and bandwidth of a level");
}

}  // namespace raddle::runtime
