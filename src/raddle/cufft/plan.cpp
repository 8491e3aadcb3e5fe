#include "raddle/cufft/plan.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "raddle/cufft/factors.h"
#include "raddle/cufft/images.h"

namespace raddle::cufft {

namespace {

/// Kernels count the elements of an array in 31 bits; a convolution has up to four times as many.
constexpr long long kMaxLength = 1ll << 30, kMaxConvolved = 1ll << 28;

/// Plans share the kernels that are loaded, as long as there is one.
std::shared_ptr<cuda_library::Device> shared_device() {
  static std::mutex mutex;
  static std::weak_ptr<cuda_library::Device>& known = *new std::weak_ptr<cuda_library::Device>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<cuda_library::Device> device = known.lock();
  if (device == nullptr) known = device = std::make_shared<cuda_library::Device>(image);
  return device;
}

/// `inner`: elements of the innermost dimension.
Layout side_by_side(const Request& request, long long inner) {
  Layout out{};
  long long next = 1;
  for (int d = request.rank - 1; d >= 0; --d) {
    out.strides[d] = next;
    next *= d == request.rank - 1 ? inner : request.n[d];
  }
  out.batch_stride = next;
  return out;
}

Layout embedded(int rank, const long long* embed, long long stride, long long dist) {
  Layout out{};
  long long next = stride;
  for (int d = rank - 1; d >= 0; --d) {
    out.strides[d] = next;
    next *= embed[d];
  }
  out.batch_stride = dist;
  return out;
}

bool is_type(int type) {
  return std::ranges::any_of(std::initializer_list<int>{kC2C, kR2C, kC2R, kZ2Z, kD2Z, kZ2D},
                             [&](int one) { return one == type; });
}

void check(const Request& request) {
  require(is_type(request.type), kInvalidType);
  require(request.rank >= 1 && request.rank <= kMaxRank && request.n != nullptr);
  require(request.batch >= 1 && request.batch <= kMaxLength, kInvalidSize);
  for (int d = 0; d < request.rank; ++d) {
    require(request.n[d] >= 1 && request.n[d] <= kMaxLength, kInvalidSize);
    require(is_smooth(request.n[d]) || request.n[d] <= kMaxConvolved, kInvalidSize);
  }
  if (request.in_embed == nullptr || request.out_embed == nullptr) return;
  require(request.in_stride >= 1 && request.out_stride >= 1);
  require(request.batch == 1 || (request.in_dist >= 1 && request.out_dist >= 1));
  for (int d = 1; d < request.rank; ++d)
    require(request.in_embed[d] >= 1 && request.out_embed[d] >= 1);
}

Shape shape_of(const Request& request, bool in_place) {
  Shape out{.rank = request.rank,
            .n = {},
            .batch = request.batch,
            .type = static_cast<Type>(request.type),
            .in = {},
            .out = {}};
  std::copy_n(request.n, request.rank, out.n);
  if (request.in_embed != nullptr && request.out_embed != nullptr) {
    out.in = embedded(request.rank, request.in_embed, request.in_stride, request.in_dist);
    out.out = embedded(request.rank, request.out_embed, request.out_stride, request.out_dist);
    return out;
  }
  const long long n = request.n[request.rank - 1], half = n / 2 + 1;
  if (is_complex(out.type)) {
    out.in = out.out = side_by_side(request, n);
  } else {
    const Layout real = side_by_side(request, in_place ? 2 * half : n);
    const Layout complex = side_by_side(request, half);
    out.in = is_forward_real(out.type) ? real : complex;
    out.out = is_forward_real(out.type) ? complex : real;
  }
  return out;
}

}  // namespace

std::size_t work_bytes_of(const Request& request) {
  check(request);
  Tables none(is_double(static_cast<Type>(request.type)), false);
  std::size_t bytes = 0;
  for (const bool in_place : {false, true})
    for (const bool pairs : {false, true})
      bytes = std::max(bytes, make_program(shape_of(request, in_place), pairs, none).work_bytes);
  return bytes;
}

Plan::Plan() : device_(shared_device()) {}

Plan::~Plan() {
  if (own_work_ != nullptr) cuda_library::release(own_work_);
}

void Plan::make(const Request& request) {
  require(!is_made(), kInvalidPlan);
  const std::size_t bytes = work_bytes_of(request);
  const auto type = static_cast<Type>(request.type);
  auto tables = std::make_unique<Tables>(is_double(type), true);
  for (const bool in_place : {false, true})
    for (const bool pairs : {false, true})
      programs_[in_place][pairs] = make_program(shape_of(request, in_place), pairs, *tables);
  if (allocates_ && bytes > 0 && work_ == nullptr)
    work_ = own_work_ = cuda_library::allocate(bytes);
  type_ = type;
  work_bytes_ = bytes;
  tables_ = std::move(tables);
}

void Plan::set_work_area(void* at) {
  if (own_work_ != nullptr) cuda_library::release(own_work_);
  own_work_ = nullptr;
  work_ = at;
}

void Plan::run(const void* in, void* out, bool inverse) {
  require(is_made(), kInvalidPlan);
  require(in != nullptr && out != nullptr);
  const void* const real = is_forward_real(type_) ? in : out;
  const std::size_t two = is_double(type_) ? 2 * sizeof(double) : 2 * sizeof(float);
  const bool pairs = reinterpret_cast<std::uintptr_t>(real) % two == 0;
  const Program& program = programs_[in == out][pairs];
  require(program.work_bytes == 0 || work_ != nullptr, kNoWorkspace);
  for (const Step& step : program.steps) launch(step, in, out, inverse);
}

void Plan::launch(const Step& step, const void* in, void* out, bool inverse) {
  const auto at = [&](const Location& location) -> const void* {
    if (location.buffer == Buffer::kWork) return static_cast<char*>(work_) + location.offset;
    return location.buffer == Buffer::kIn ? in : out;
  };
  const auto swaps = [&](Swap swap) {
    return swap == Swap::kAlways || (swap == Swap::kIfInverse && inverse) ? 1 : 0;
  };
  Pass pass = step.pass;
  pass.in = at(step.in);
  pass.out = const_cast<void*>(at(step.out));
  pass.swap_in = swaps(step.swap_in);
  pass.swap_out = swaps(step.swap_out);
  // Old machines have no more blocks in a dimension.
  constexpr unsigned kMaxGrid = 65535;
  const unsigned rows = (step.blocks - 1) / kMaxGrid + 1;
  const cuda_library::Dim3 grid{(step.blocks - 1) / rows + 1, rows, 1};
  void* arguments[] = {&pass};
  device_->launch(step.module.c_str(), step.kernel, grid, step.threads, arguments, stream_);
}

}  // namespace raddle::cufft
