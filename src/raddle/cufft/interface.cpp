// The functions that programs call. Handles are numbers; calls with one that leads nowhere return
// CUFFT_INVALID_PLAN.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "raddle/cufft/plan.h"

using namespace raddle::cufft;

namespace {

namespace cuda_library = raddle::cuda_library;

constexpr cuda_library::FailureStatuses<Status> kStatuses = {.success = kSuccess,
                                                             .no_device = kSetupFailed,
                                                             .wrong_machine = kSetupFailed,
                                                             .no_memory = kAllocFailed,
                                                             .execution = kExecFailed,
                                                             .internal_error = kInternalError};

/// Runs the body of a call; what it throws becomes its status.
template <class Body>
int guarded(const Body& body) {
  return cuda_library::guarded(kStatuses, body);
}

class Plans {
 public:
  int add(std::shared_ptr<Plan> plan) {
    const std::lock_guard lock(mutex_);
    plans_[next_] = std::move(plan);
    return next_++;
  }
  std::shared_ptr<Plan> at(int handle) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(handle);
    require(found != plans_.end(), kInvalidPlan);
    return found->second;
  }
  void remove(int handle) {
    const std::shared_ptr<Plan> plan = at(handle);  // which is freed without the lock
    const std::lock_guard lock(mutex_);
    plans_.erase(handle);
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<Plan>> plans_;
  int next_ = 1;
};

/// Never destroyed: at the program's end the runtime may be gone before.
Plans& plans() {
  static Plans& all = *new Plans;
  return all;
}

template <class Body>
int with_plan(int handle, Body body) {
  return guarded([&] { body(*plans().at(handle)); });
}

/// Sizes as numbers of 64 bits, while a call lasts.
class Wide {
 public:
  template <class Int>
  Wide(const Int* numbers, int count) : is_null_(numbers == nullptr) {
    if (!is_null_ && count >= 1 && count <= kMaxRank) numbers_.assign(numbers, numbers + count);
  }
  const long long* get() const { return is_null_ ? nullptr : numbers_.data(); }

 private:
  bool is_null_;
  std::vector<long long> numbers_;
};

/// What the functions make of their arguments: `request` goes on to a plan, or is measured.
template <class Use, class Int>
int many(int rank, const Int* n, const Int* in_embed, long long in_stride, long long in_dist,
         const Int* out_embed, long long out_stride, long long out_dist, int type, long long batch,
         Use use) {
  return guarded([&] {
    require(rank >= 1 && rank <= kMaxRank && n != nullptr);
    const Wide sizes(n, rank), in(in_embed, rank), out(out_embed, rank);
    use(Request{.rank = rank,
                .n = sizes.get(),
                .in_embed = in.get(),
                .out_embed = out.get(),
                .in_stride = in_stride,
                .in_dist = in_dist,
                .out_stride = out_stride,
                .out_dist = out_dist,
                .batch = batch,
                .type = type});
  });
}
template <class Use>
int simple(std::vector<int> n, int type, int batch, Use use) {
  return many<Use, int>(static_cast<int>(n.size()), n.data(), nullptr, 1, 0, nullptr, 1, 0, type,
                        batch, use);
}

auto to_plan(int handle, std::size_t* bytes) {
  return [=](const Request& request) {
    Plan& plan = *plans().at(handle);
    require(bytes != nullptr);
    plan.make(request);
    *bytes = plan.work_bytes();
  };
}
auto to_new_plan(int* handle) {
  return [=](const Request& request) {
    require(handle != nullptr);
    auto plan = std::make_shared<Plan>();
    plan->make(request);
    *handle = plans().add(std::move(plan));
  };
}
auto to_size(std::size_t* bytes) {
  return [=](const Request& request) {
    require(bytes != nullptr);
    *bytes = work_bytes_of(request);
  };
}
auto to_size_of(int handle, std::size_t* bytes) {
  return [=](const Request& request) {
    plans().at(handle);
    to_size(bytes)(request);
  };
}

int run(int handle, Type type, const void* in, void* out, int direction) {
  return with_plan(handle, [&](Plan& plan) {
    require(plan.is_made() && plan.type() == type, kInvalidPlan);
    constexpr int kForward = -1, kInverse = 1;
    require(direction == kForward || direction == kInverse);
    plan.run(in, out, direction == kInverse);
  });
}

/// cudaDataType of both ends and of the computation, as cufftType. Throws Refusal.
int type_of(int in, int out, int execution, const char* function) {
  enum { kF32, kF64, kF16, kComplexF32 = 4, kComplexF64, kComplexF16, kBF16 = 14, kComplexBF16 };
  struct Known {
    int in, out, execution, type;
  };
  constexpr Known kKnown[] = {
      {kComplexF32, kComplexF32, kComplexF32, kC2C}, {kF32, kComplexF32, kComplexF32, kR2C},
      {kComplexF32, kF32, kComplexF32, kC2R},        {kComplexF64, kComplexF64, kComplexF64, kZ2Z},
      {kF64, kComplexF64, kComplexF64, kD2Z},        {kComplexF64, kF64, kComplexF64, kZ2D}};
  for (const Known& one : kKnown)
    if (one.in == in && one.out == out && one.execution == execution) return one.type;
  for (const int type : {in, out, execution}) {
    if (type == kF16 || type == kComplexF16)
      throw Refusal{lacks(std::string(function) + " of half precision")};
    if (type == kBF16 || type == kComplexBF16)
      throw Refusal{lacks(std::string(function) + " of bfloat16")};
  }
  throw Refusal{kInvalidType};
}

constexpr int kMajor = 12, kMinor = 0, kPatch = 0;  // whose interface this is

}  // namespace

extern "C" {

int raddle_lacks(const char* function) { return lacks(function); }

int raddle_cufftCreate(int* handle) {
  return guarded([&] {
    require(handle != nullptr);
    *handle = plans().add(std::make_shared<Plan>());
  });
}
int raddle_cufftDestroy(int handle) {
  constexpr int kNoPlan = -1;  // CUFFT_PLAN_NULL, which may be destroyed
  if (handle == kNoPlan) return kSuccess;
  return guarded([&] { plans().remove(handle); });
}

// --- plans, and what they would take ---

#define SIMPLE(name, plan_type, plan, use)                                                      \
  int raddle_cufft##name##1d(plan_type plan, int nx, int type, int batch, std::size_t* bytes) { \
    return simple({nx}, type, batch, use(plan, bytes));                                         \
  }                                                                                             \
  int raddle_cufft##name##2d(plan_type plan, int nx, int ny, int type, std::size_t* bytes) {    \
    return simple({nx, ny}, type, 1, use(plan, bytes));                                         \
  }                                                                                             \
  int raddle_cufft##name##3d(plan_type plan, int nx, int ny, int nz, int type,                  \
                             std::size_t* bytes) {                                              \
    return simple({nx, ny, nz}, type, 1, use(plan, bytes));                                     \
  }
SIMPLE(MakePlan, int, plan, to_plan)
SIMPLE(GetSize, int, plan, to_size_of)

#define MANY(name, Int, use)                                                               \
  int raddle_cufft##name(int plan, int rank, Int* n, Int* inembed, Int istride, Int idist, \
                         Int* onembed, Int ostride, Int odist, int type, Int batch,        \
                         std::size_t* bytes) {                                             \
    return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,    \
                use(plan, bytes));                                                         \
  }
MANY(MakePlanMany, int, to_plan)
MANY(MakePlanMany64, long long, to_plan)
MANY(GetSizeMany, int, to_size_of)
MANY(GetSizeMany64, long long, to_size_of)

#define XT_MANY(name, use)                                                                        \
  int raddle_cufft##name(int plan, int rank, long long* n, long long* inembed, long long istride, \
                         long long idist, int input, long long* onembed, long long ostride,       \
                         long long odist, int output, long long batch, std::size_t* bytes,        \
                         int execution) {                                                         \
    int type = 0;                                                                                 \
    const int status = guarded([&] { type = type_of(input, output, execution, "cufft" #name); }); \
    if (status != kSuccess) return status;                                                        \
    return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,           \
                use(plan, bytes));                                                                \
  }
XT_MANY(XtMakePlanMany, to_plan)
XT_MANY(XtGetSizeMany, to_size_of)

int raddle_cufftPlan1d(int* plan, int nx, int type, int batch) {
  return simple({nx}, type, batch, to_new_plan(plan));
}
int raddle_cufftPlan2d(int* plan, int nx, int ny, int type) {
  return simple({nx, ny}, type, 1, to_new_plan(plan));
}
int raddle_cufftPlan3d(int* plan, int nx, int ny, int nz, int type) {
  return simple({nx, ny, nz}, type, 1, to_new_plan(plan));
}
int raddle_cufftPlanMany(int* plan, int rank, int* n, int* inembed, int istride, int idist,
                         int* onembed, int ostride, int odist, int type, int batch) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
              to_new_plan(plan));
}

int raddle_cufftEstimate1d(int nx, int type, int batch, std::size_t* bytes) {
  return simple({nx}, type, batch, to_size(bytes));
}
int raddle_cufftEstimate2d(int nx, int ny, int type, std::size_t* bytes) {
  return simple({nx, ny}, type, 1, to_size(bytes));
}
int raddle_cufftEstimate3d(int nx, int ny, int nz, int type, std::size_t* bytes) {
  return simple({nx, ny, nz}, type, 1, to_size(bytes));
}
int raddle_cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, int type, int batch, std::size_t* bytes) {
  return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
              to_size(bytes));
}

int raddle_cufftGetSize(int handle, std::size_t* bytes) {
  return with_plan(handle, [&](Plan& plan) {
    require(plan.is_made(), kInvalidPlan);
    require(bytes != nullptr);
    *bytes = plan.work_bytes();
  });
}

// --- how plans work ---

int raddle_cufftSetWorkArea(int handle, void* at) {
  return with_plan(handle, [&](Plan& plan) { plan.set_work_area(at); });
}
int raddle_cufftSetAutoAllocation(int handle, int is_on) {
  return with_plan(handle, [&](Plan& plan) { plan.set_auto_allocation(is_on != 0); });
}
int raddle_cufftSetStream(int handle, cuda_library::Stream stream) {
  return with_plan(handle, [&](Plan& plan) { plan.set_stream(stream); });
}
/// There is one way only: that of best performance.
int raddle_cufftXtSetWorkAreaPolicy(int handle, int policy, std::size_t*) {
  return with_plan(handle, [&](Plan&) {
    constexpr int kPerformance = 2;
    require(policy >= 0 && policy <= kPerformance);
    if (policy != kPerformance)
      throw Refusal{lacks("cufftXtSetWorkAreaPolicy other than CUFFT_WORKAREA_PERFORMANCE")};
  });
}

int raddle_cufftSetPlanPropertyInt64(int handle, int property, long long value) {
  return with_plan(handle, [&](Plan& plan) {
    require(!plan.is_made(), kInvalidPlan);
    require(property >= 1 && property <= Plan::kProperties);
    plan.properties[static_cast<std::size_t>(property - 1)] = value;
  });
}
int raddle_cufftGetPlanPropertyInt64(int handle, int property, long long* value) {
  return with_plan(handle, [&](Plan& plan) {
    require(property >= 1 && property <= Plan::kProperties && value != nullptr);
    *value = plan.properties[static_cast<std::size_t>(property - 1)];
  });
}
int raddle_cufftResetPlanProperty(int handle, int property) {
  return raddle_cufftSetPlanPropertyInt64(handle, property, 0);
}

// --- transforms ---

int raddle_cufftExecC2C(int plan, void* in, void* out, int direction) {
  return run(plan, kC2C, in, out, direction);
}
int raddle_cufftExecZ2Z(int plan, void* in, void* out, int direction) {
  return run(plan, kZ2Z, in, out, direction);
}
int raddle_cufftExecR2C(int plan, void* in, void* out) { return run(plan, kR2C, in, out, -1); }
int raddle_cufftExecD2Z(int plan, void* in, void* out) { return run(plan, kD2Z, in, out, -1); }
int raddle_cufftExecC2R(int plan, void* in, void* out) { return run(plan, kC2R, in, out, 1); }
int raddle_cufftExecZ2D(int plan, void* in, void* out) { return run(plan, kZ2D, in, out, 1); }
/// Of any type; only complex ones have a direction.
int raddle_cufftXtExec(int handle, void* in, void* out, int direction) {
  return with_plan(handle, [&](Plan& plan) {
    require(plan.is_made(), kInvalidPlan);
    require(!is_complex(plan.type()) || direction == -1 || direction == 1);
    plan.run(in, out, direction == 1);
  });
}

// --- about the library ---

int raddle_cufftGetVersion(int* version) {
  if (version == nullptr) return kInvalidValue;
  *version = kMajor * 1000 + kMinor * 100 + kPatch;
  return kSuccess;
}
int raddle_cufftGetProperty(int which, int* value) {
  constexpr int kParts[] = {kMajor, kMinor, kPatch};
  if (value == nullptr || which < 0 || which > 2) return kInvalidValue;
  *value = kParts[which];
  return kSuccess;
}

}  // extern "C"
