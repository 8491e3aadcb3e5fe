// The functions that programs call.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "raddle/curand/directions.h"
#include "raddle/curand/generator.h"
#include "raddle/curand/poisson.h"

using namespace raddle::curand;

extern "C" int cudaPeekAtLastError();

namespace {

constexpr int kMajor = 10, kMinor = 4, kPatch = 0;  // whose interface this is

constexpr raddle::cuda_library::FailureStatuses<Status> kStatuses = {
    .success = kSuccess,
    .no_device = kInitializationFailed,
    .wrong_machine = kArchMismatch,
    .no_memory = kAllocationFailed,
    .execution = kLaunchFailure,
    .internal_error = kInternalError};

/// Runs the body of a call; what it throws becomes its status.
template <class Body>
Status guarded(const Body& body) {
  return raddle::cuda_library::guarded(kStatuses, body);
}
Status call(Generator* generator, const std::function<void(Generator&)>& body) {
  if (generator == nullptr) return kNotInitialized;
  return guarded([&] { body(*generator); });
}

std::unique_ptr<Generator> make(int type, bool on_device) {
  switch (type) {
    case kPseudoDefault:
    case kXorwow:
      return make_xorwow(on_device);
    case kMrg32k3a:
      return make_mrg32k3a(on_device);
    case kMtgp32:
      return make_mtgp32(on_device);
    case kMt19937:
      return make_mt19937(on_device);
    case kPhilox:
      return make_philox(on_device);
    case kQuasiDefault:
    case kSobol32:
      return make_sobol(on_device, false);
    case kSobol64:
      return make_sobol(on_device, true);
    case kScrambledSobol32:
    case kScrambledSobol64:
      throw Refusal{lacks("a scrambled Sobol' generator")};
    default:
      throw Refusal{kTypeError};
  }
}
int create(Generator** to, int type, bool on_device) {
  if (to == nullptr) return kNotInitialized;
  return guarded([&] { *to = make(type, on_device).release(); });
}

/// Numbers of 64 bits have functions of their own.
void draw(Generator& generator, Distribution which, void* to, std::size_t count,
          const Shape& shape = {}) {
  if (generator.place.on_device()) require(cudaPeekAtLastError() == 0, kPreexistingFailure);
  generator.draw(which, to, count, shape);
}
int draw_normal(Generator* from, Distribution which, void* to, std::size_t count, double mean,
                double deviation) {
  return call(from, [&](Generator& generator) {
    draw(generator, which, to, count,
         {.mean = mean, .deviation = deviation, .value = {}, .other = {}, .length = 0, .shift = 0});
  });
}

/// What lies in device memory of a discrete distribution: kernels that include NVIDIA's header read
/// it so.
struct Histogram {
  double *value, *host_value;
  unsigned *other, *host_other;
  unsigned is_on_host;
};
struct ShiftedHistogram {
  Histogram *histogram, *host_histogram;
  unsigned shift, length, is_on_host;
};
struct DiscreteDistribution {
  DiscreteDistribution* self;
  ShiftedHistogram *table, *host_table;
  double deviation, mean;
  int method;
  unsigned is_on_host;
};
constexpr int kTableMethod = 5, kNormalMethod = 7;  // curandMethod_t
constexpr double kMaxPoissonMean = 400000;

}  // namespace

extern "C" {

int raddle_lacks(const char* function) { return lacks(function); }

int raddle_curandCreateGenerator(Generator** to, int type) { return create(to, type, true); }
int raddle_curandCreateGeneratorHost(Generator** to, int type) { return create(to, type, false); }
int raddle_curandDestroyGenerator(Generator* generator) {
  if (generator == nullptr) return kNotInitialized;
  delete generator;
  return kSuccess;
}

int raddle_curandGetVersion(int* to) {
  if (to == nullptr) return kOutOfRange;
  *to = kMajor * 1000 + kMinor * 100 + kPatch;
  return kSuccess;
}
int raddle_curandGetProperty(int which, int* to) {
  constexpr int kProperties[] = {kMajor, kMinor, kPatch};
  if (to == nullptr || which < 0 || which > 2) return kOutOfRange;
  *to = kProperties[which];
  return kSuccess;
}

int raddle_curandSetStream(Generator* generator, Stream stream) {
  return call(generator, [&](Generator& g) { g.place.stream = stream; });
}
int raddle_curandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long seed) {
  return call(generator, [&](Generator& g) { g.set_seed(seed); });
}
int raddle_curandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return call(generator, [&](Generator& g) { g.set_offset(offset); });
}
int raddle_curandSetGeneratorOrdering(Generator* generator, int ordering) {
  return call(generator, [&](Generator& g) { g.set_ordering(ordering); });
}
int raddle_curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned dimensions) {
  return call(generator, [&](Generator& g) { g.set_dimensions(dimensions); });
}
int raddle_curandGenerateSeeds(Generator* generator) {
  return call(generator, [&](Generator& g) { g.make_states(); });
}

int raddle_curandGenerate(Generator* generator, unsigned* to, std::size_t count) {
  return call(generator, [&](Generator& g) {
    require(!g.is_wide(), kTypeError);
    draw(g, kBits, to, count);
  });
}
int raddle_curandGenerateLongLong(Generator* generator, unsigned long long* to, std::size_t count) {
  return call(generator, [&](Generator& g) {
    require(g.is_wide(), kTypeError);
    draw(g, kBits, to, count);
  });
}
int raddle_curandGenerateUniform(Generator* generator, float* to, std::size_t count) {
  return call(generator, [&](Generator& g) { draw(g, kUniform, to, count); });
}
int raddle_curandGenerateUniformDouble(Generator* generator, double* to, std::size_t count) {
  return call(generator, [&](Generator& g) { draw(g, kUniformDouble, to, count); });
}
int raddle_curandGenerateNormal(Generator* generator, float* to, std::size_t count, float mean,
                                float deviation) {
  return draw_normal(generator, kNormal, to, count, mean, deviation);
}
int raddle_curandGenerateNormalDouble(Generator* generator, double* to, std::size_t count,
                                      double mean, double deviation) {
  return draw_normal(generator, kNormalDouble, to, count, mean, deviation);
}
int raddle_curandGenerateLogNormal(Generator* generator, float* to, std::size_t count, float mean,
                                   float deviation) {
  return draw_normal(generator, kLogNormal, to, count, mean, deviation);
}
int raddle_curandGenerateLogNormalDouble(Generator* generator, double* to, std::size_t count,
                                         double mean, double deviation) {
  return draw_normal(generator, kLogNormalDouble, to, count, mean, deviation);
}

int raddle_curandGeneratePoisson(Generator* generator, unsigned* to, std::size_t count,
                                 double mean) {
  return call(generator, [&](Generator& g) {
    require(mean > 0 && mean <= kMaxPoissonMean, kOutOfRange);
    const Distribution which = g.poisson_by(mean);
    draw(g, which, to, count, g.poisson_shape(mean, which));
  });
}

/// One allocation in device memory: the structs first, then the table.
int raddle_curandCreatePoissonDistribution(double mean, DiscreteDistribution** to) {
  if (to == nullptr) return kNotInitialized;
  if (!(mean > 0 && mean <= kMaxPoissonMean)) return kOutOfRange;
  return guarded([&] {
    struct Whole {
      DiscreteDistribution distribution;
      ShiftedHistogram table;
      Histogram histogram;
    } whole{};
    const bool has_table = mean < kMinNormalMean;
    const AliasTable table = has_table ? alias_table(mean) : AliasTable{};
    const std::size_t values = table.value.size() * sizeof(double);
    const std::size_t others = table.other.size() * sizeof(unsigned);
    char* const at =
        static_cast<char*>(raddle::cuda_library::allocate(sizeof whole + values + others));
    whole.distribution.self = reinterpret_cast<DiscreteDistribution*>(at);
    whole.distribution.mean = mean;
    whole.distribution.deviation = std::sqrt(mean);
    whole.distribution.method = has_table ? kTableMethod : kNormalMethod;
    if (has_table) {
      whole.distribution.table = reinterpret_cast<ShiftedHistogram*>(at + offsetof(Whole, table));
      whole.table.histogram = reinterpret_cast<Histogram*>(at + offsetof(Whole, histogram));
      whole.table.shift = table.shift;
      whole.table.length = static_cast<unsigned>(table.value.size());
      whole.histogram.value = reinterpret_cast<double*>(at + sizeof whole);
      whole.histogram.other = reinterpret_cast<unsigned*>(at + sizeof whole + values);
    }
    const auto copy = [](void* there, const void* here, std::size_t bytes) {
      if (bytes != 0) raddle::cuda_library::copy(there, here, bytes, nullptr);
    };
    copy(at, &whole, sizeof whole);
    copy(at + sizeof whole, table.value.data(), values);
    copy(at + sizeof whole + values, table.other.data(), others);
    raddle::cuda_library::wait(nullptr);
    *to = whole.distribution.self;
  });
}
int raddle_curandDestroyDistribution(DiscreteDistribution* distribution) {
  if (distribution == nullptr) return kNotInitialized;
  raddle::cuda_library::release(distribution);
  return kSuccess;
}

/// Sets of direction vectors: curandDirectionVectorSet_t.
int raddle_curandGetDirectionVectors32(const std::uint32_t** to, int set) {
  constexpr int kPlain = 101, kScrambled = 102;
  if (set == kScrambled) return lacks("scrambled direction vectors");
  if (to == nullptr || set != kPlain) return kOutOfRange;
  return guarded([&] { *to = direction_vectors<std::uint32_t>(); });
}
int raddle_curandGetDirectionVectors64(const std::uint64_t** to, int set) {
  constexpr int kPlain = 103, kScrambled = 104;
  if (set == kScrambled) return lacks("scrambled direction vectors");
  if (to == nullptr || set != kPlain) return kOutOfRange;
  return guarded([&] { *to = direction_vectors<std::uint64_t>(); });
}

}  // extern "C"
