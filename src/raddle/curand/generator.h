// What curandGenerator_t leads to, and what all generators share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "raddle/cuda_library/device.h"
#include "raddle/cuda_library/guarded.h"
#include "raddle/curand/kernels/arguments.h"

namespace raddle::curand {

using cuda_library::Device;
using cuda_library::Dim3;
using cuda_library::Stream;

/// curandStatus_t.
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201,
  kPreexistingFailure = 202,
  kInitializationFailed = 203,
  kArchMismatch = 204,
  kInternalError = 999,
};

using Refusal = cuda_library::Refusal<Status>;
inline void require(bool condition, Status otherwise) {
  if (!condition) throw Refusal{otherwise};
}

/// Notifies the user and lets the run fail. Returns kArchMismatch: cuRAND has no status of its own
/// for what a library lacks.
Status lacks(const std::string& what);

/// curandRngType_t.
enum Type : int {
  kPseudoDefault = 100,
  kXorwow = 101,
  kMrg32k3a = 121,
  kMtgp32 = 141,
  kMt19937 = 142,
  kPhilox = 161,
  kQuasiDefault = 200,
  kSobol32 = 201,
  kScrambledSobol32 = 202,
  kSobol64 = 203,
  kScrambledSobol64 = 204,
};

/// curandOrdering_t.
enum Ordering : int {
  kBest = 100,
  kDefault = 101,
  kSeeded = 102,
  kLegacy = 103,
  kDynamic = 104,
  kQuasiOrder = 201,
};

/// For a stream that does not capture, whatever others do.
void wait_for(Stream stream);

/// Where a generator computes: on the GPU in a stream, or on the host.
class Place {
 public:
  explicit Place(bool on_device);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool on_device() const { return device_ != nullptr; }
  /// One argument: a struct that the kernel takes by value.
  template <class Draw>
  void launch(const char* module, const std::string& kernel, const Draw& draw, Dim3 grid,
              unsigned threads, Stream stream) {
    Draw copied = draw;
    void* arguments[] = {&copied};
    device_->launch(module, kernel, grid, threads, arguments, stream);
  }
  /// The generator's stream, or one of its own while that captures: starting states are not part
  /// of a graph.
  Stream for_states();
  /// The GPU has work of its own stream for others: waits for it.
  void states_are_made(Stream used);
  int multiprocessors() const { return device_->multiprocessors(); }

  Stream stream = nullptr;

 private:
  std::unique_ptr<Device> device_;
  Stream own_ = nullptr;
};

/// Memory of a generator, where it computes. What is copied there is kept until it has arrived.
template <class T>
class Store {
 public:
  explicit Store(const Place& place) : on_device_(place.on_device()) {}
  ~Store() {
    if (at_ != nullptr) cuda_library::release(at_);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  bool is_empty() const { return count_ == 0; }
  T* data() { return on_device_ ? at_ : host_.data(); }
  /// At least so many; what was there is lost when it grows.
  void make_room(std::size_t count) {
    if (count <= count_) return;
    count_ = count;
    if (!on_device_) return host_.assign(count, T{});
    if (at_ != nullptr) cuda_library::release(at_);
    at_ = nullptr;
    at_ = static_cast<T*>(cuda_library::allocate(count * sizeof(T)));
  }
  void clear(Stream stream) {
    if (on_device_) cuda_library::clear(at_, count_ * sizeof(T), stream);
    else host_.assign(count_, T{});
  }
  /// From element `at` on.
  void fill(std::vector<T> from, Stream stream, std::size_t at = 0) {
    make_room(at + from.size());
    if (!on_device_) {
      std::copy(from.begin(), from.end(), host_.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    if (!on_its_way_.empty()) wait_for(last_);
    on_its_way_ = std::move(from);
    last_ = stream;
    cuda_library::copy(at_ + at, on_its_way_.data(), on_its_way_.size() * sizeof(T), stream);
  }

 private:
  bool on_device_;
  std::size_t count_ = 0;
  T* at_ = nullptr;
  std::vector<T> host_, on_its_way_;
  Stream last_ = nullptr;
};

class Generator {
 public:
  explicit Generator(bool on_device) : place(on_device) {}
  virtual ~Generator() = default;

  virtual void set_seed(std::uint64_t) { throw Refusal{kTypeError}; }
  virtual void set_offset(std::uint64_t) { throw Refusal{kTypeError}; }
  /// Throws Refusal kOutOfRange for an ordering that the generator does not have.
  virtual void set_ordering(int ordering) = 0;
  virtual void set_dimensions(unsigned) { throw Refusal{kTypeError}; }
  /// Makes all starting states that are not there yet.
  virtual void make_states() {}
  /// Numbers of this distribution at `to`: in device memory, or of the host's generators on the
  /// host. Throws Refusal kLengthNotMultiple for counts that are not allowed.
  virtual void draw(Distribution which, void* to, std::size_t count, const Shape& shape) = 0;
  /// Whether words are of 64 bits.
  virtual bool is_wide() const { return false; }
  /// How Poisson distributed numbers of this mean are made.
  virtual Distribution poisson_by(double mean) const = 0;
  /// With the table that this takes, where the generator computes.
  Shape poisson_shape(double mean, Distribution which);

  Place place;

 private:
  /// Of the last mean.
  Store<double> values_{place};
  Store<unsigned> others_{place};
  Shape poisson_{};
  Distribution poisson_which_ = kBits;
};

std::unique_ptr<Generator> make_xorwow(bool on_device);
std::unique_ptr<Generator> make_mrg32k3a(bool on_device);
std::unique_ptr<Generator> make_philox(bool on_device);
std::unique_ptr<Generator> make_mtgp32(bool on_device);
std::unique_ptr<Generator> make_mt19937(bool on_device);
std::unique_ptr<Generator> make_sobol(bool on_device, bool is_wide);

/// "uniform_double" of kUniformDouble: what follows the generator in a kernel's name.
const char* name_of(Distribution which);

/// Calls body.operator()<kWhich>(); of those that all generators have, or with kPoissonInverse.
template <class Body>
void with_distribution(Distribution which, const Body& body) {
  switch (which) {
    case kBits:
      return body.template operator()<kBits>();
    case kUniform:
      return body.template operator()<kUniform>();
    case kUniformDouble:
      return body.template operator()<kUniformDouble>();
    case kNormal:
      return body.template operator()<kNormal>();
    case kNormalDouble:
      return body.template operator()<kNormalDouble>();
    case kLogNormal:
      return body.template operator()<kLogNormal>();
    case kLogNormalDouble:
      return body.template operator()<kLogNormalDouble>();
    case kPoisson:
      return body.template operator()<kPoisson>();
    case kPoissonNormal:
      return body.template operator()<kPoissonNormal>();
    case kPoissonInverse:
      return body.template operator()<kPoissonInverse>();
  }
}

inline bool is_normal(Distribution which) {
  return which == kNormal || which == kNormalDouble || which == kLogNormal ||
         which == kLogNormalDouble;
}
/// Normally distributed numbers of pseudorandom generators come in pairs.
inline void require_pairs(Distribution which, std::size_t count) {
  require(!is_normal(which) || count % 2 == 0, kLengthNotMultiple);
}

/// Mean from which on Poisson distributed numbers are rounded from normally distributed ones.
inline constexpr double kMinNormalMean = 2000;
/// The last that generators of words invert sums of probabilities for.
inline constexpr double kMaxInverseMean = 8000;

inline unsigned blocks_for(std::uint64_t threads, unsigned each = kThreads) {
  return static_cast<unsigned>((threads + each - 1) / each);
}

}  // namespace raddle::curand
