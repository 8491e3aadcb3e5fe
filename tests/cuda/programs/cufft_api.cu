// What is around the transforms of cuFFT: handles, what wrong arguments give, sizes of work areas,
// work areas of the program, streams, transforms that are captured into a graph.
#include "cufft.h"

void handles() {
  status(cufftCreate(nullptr), CUFFT_INVALID_VALUE, "create into nothing");
  status(cufftDestroy(12345), CUFFT_INVALID_PLAN, "destroy nothing");
  good(cufftDestroy(CUFFT_PLAN_NULL), "destroy no plan");
  int version = 0, major = 0;
  good(cufftGetVersion(&version), "version");
  good(cufftGetProperty(MAJOR_VERSION, &major), "property");
  check(version / 1000 == 12 && major == 12, "version of the interface");
  status(cufftGetProperty(MAJOR_VERSION, nullptr), CUFFT_INVALID_VALUE, "property into nothing");
  cufftHandle plan, other;
  good(cufftCreate(&plan), "create");
  good(cufftCreate(&other), "create");
  check(plan != other, "handles differ");
  good(cufftDestroy(other), "destroy");
  status(cufftDestroy(other), CUFFT_INVALID_PLAN, "destroy twice");
  long long value = 0;
  good(cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 4),
       "set property");
  good(cufftGetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, &value),
       "get property");
  check(value == 4, "property as set");
  good(cufftResetPlanProperty(plan, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS), "reset");
  status(cufftSetPlanPropertyInt64(plan, static_cast<cufftProperty>(9), 4), CUFFT_INVALID_VALUE,
         "no such property");
  good(cufftXtSetWorkAreaPolicy(plan, CUFFT_WORKAREA_PERFORMANCE, nullptr), "policy");
  // Nothing can be asked of a plan that is not made.
  std::size_t bytes = 0;
  float2* const some = reinterpret_cast<float2*>(256);
  status(cufftGetSize(plan, &bytes), CUFFT_INVALID_PLAN, "size of a plan that is not made");
  status(cufftExecC2C(plan, some, some, CUFFT_FORWARD), CUFFT_INVALID_PLAN, "not made");
  good(cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &bytes), "make");
  status(cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &bytes), CUFFT_INVALID_PLAN, "make again");
  good(cufftDestroy(plan), "destroy");
  status(cufftSetStream(plan, nullptr), CUFFT_INVALID_PLAN, "stream of no plan");
  status(cufftSetWorkArea(plan, nullptr), CUFFT_INVALID_PLAN, "work area of no plan");
  status(cufftSetAutoAllocation(plan, 1), CUFFT_INVALID_PLAN, "allocation of no plan");
}

void wrong_arguments() {
  cufftHandle plan;
  const auto wrong = [](cufftResult got, cufftResult want, const char* what) {
    status(got, want, what);
  };
  wrong(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE, "plan into nothing");
  wrong(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE, "no elements");
  wrong(cufftPlan1d(&plan, 8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE, "no batch");
  wrong(cufftPlan2d(&plan, 8, -1, CUFFT_C2C), CUFFT_INVALID_SIZE, "size below 0");
  wrong(cufftPlan3d(&plan, 8, 8, 0, CUFFT_C2C), CUFFT_INVALID_SIZE, "no elements");
  wrong(cufftPlan1d(&plan, 8, static_cast<cufftType>(5), 1), CUFFT_INVALID_TYPE, "no type");
  int n[4] = {8, 8, 8, 8};
  wrong(cufftPlanMany(&plan, 0, n, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1), CUFFT_INVALID_VALUE,
        "rank 0");
  wrong(cufftPlanMany(&plan, 4, n, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1), CUFFT_INVALID_VALUE,
        "rank 4");
  wrong(cufftPlanMany(&plan, 1, nullptr, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1),
        CUFFT_INVALID_VALUE, "no sizes");
  wrong(cufftPlanMany(&plan, 1, n, n, 0, 8, n, 1, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE,
        "stride 0");
  good(cufftCreate(&plan), "create");
  wrong(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr), CUFFT_INVALID_VALUE, "size to nowhere");
  std::size_t bytes;
  wrong(cufftMakePlan1d(777, 8, CUFFT_C2C, 1, &bytes), CUFFT_INVALID_PLAN, "no plan");
  wrong(cufftGetSize1d(777, 8, CUFFT_C2C, 1, &bytes), CUFFT_INVALID_PLAN, "size of no plan");
  long long wide[1] = {8};
  wrong(cufftXtMakePlanMany(plan, 1, wide, nullptr, 1, 1, CUDA_C_32F, nullptr, 1, 1, CUDA_C_64F, 1,
                            &bytes, CUDA_C_32F),
        CUFFT_INVALID_TYPE, "types that do not fit");
  good(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes), "make, after all");
  Guarded<float2> a(8);
  wrong(cufftExecC2C(plan, nullptr, a.data(), CUFFT_FORWARD), CUFFT_INVALID_VALUE, "no input");
  wrong(cufftExecC2C(plan, a.data(), nullptr, CUFFT_FORWARD), CUFFT_INVALID_VALUE, "no output");
  wrong(cufftExecC2C(plan, a.data(), a.data(), 0), CUFFT_INVALID_VALUE, "no direction");
  wrong(cufftExecR2C(plan, &a.data()->x, a.data()), CUFFT_INVALID_PLAN, "plan of another type");
  wrong(cufftXtExec(plan, a.data(), a.data(), 5), CUFFT_INVALID_VALUE, "no direction");
  wrong(cufftExecC2C(777, a.data(), a.data(), CUFFT_FORWARD), CUFFT_INVALID_PLAN, "no plan");
  good(cufftDestroy(plan), "destroy");
}

/// Every way to ask says the same.
void sizes() {
  cufftHandle plan;
  good(cufftCreate(&plan), "create");
  std::size_t a = 1, b = 2, c = 3, d = 4, e = 5;
  int n[2] = {300, 4096};
  long long wide[2] = {300, 4096};
  good(cufftEstimate2d(300, 4096, CUFFT_R2C, &a), "estimate");
  good(cufftGetSize2d(plan, 300, 4096, CUFFT_R2C, &b), "size");
  good(cufftGetSizeMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1, &c), "size");
  good(cufftXtGetSizeMany(plan, 2, wide, nullptr, 1, 0, CUDA_R_32F, nullptr, 1, 0, CUDA_C_32F, 1,
                          &d, CUDA_C_32F),
       "size");
  good(cufftMakePlanMany64(plan, 2, wide, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1, &e), "make");
  check(a == b && b == c && c == d && d == e, "sizes that agree");
  std::size_t own = 0;
  good(cufftGetSize(plan, &own), "size");
  check(own == e, "size of the plan");
  good(cufftDestroy(plan), "destroy");
  good(cufftEstimate1d(1024, CUFFT_C2C, 100, &a), "estimate");
  check(a == 0, "one block needs no work area");
  good(cufftEstimate1d(1 << 20, CUFFT_Z2Z, 2, &a), "estimate");
  check(a == (std::size_t(2) << 20) * sizeof(double2), "several passes need one of the size");
  good(cufftEstimate3d(4, 4, 4, CUFFT_Z2D, &a), "estimate");
  check(a >= 4 * 4 * 3 * sizeof(double2), "more dimensions need one for real numbers");
  good(cufftEstimateMany(1, n + 1, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &a), "estimate");
}

constexpr int kLong = 8192;  // that needs a work area

std::vector<float2> some_numbers(int n) {
  Random random;
  std::vector<float2> out(n);
  for (float2& one : out)
    one = {static_cast<float>(random.number()), static_cast<float>(random.number())};
  return out;
}
bool near(const std::vector<float2>& got, const std::vector<float2>& want, float scale) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference +=
        std::pow(got[i].x - scale * want[i].x, 2) + std::pow(got[i].y - scale * want[i].y, 2);
    norm += std::pow(scale * want[i].x, 2) + std::pow(scale * want[i].y, 2);
  }
  return std::sqrt(difference / norm) < 1e-5;
}

void work_areas() {
  const std::vector<float2> host = some_numbers(kLong);
  Guarded<float2> a(kLong);
  a.up(host);
  cufftHandle plan;
  std::size_t bytes = 0;
  good(cufftCreate(&plan), "create");
  good(cufftSetAutoAllocation(plan, 0), "no allocation");
  good(cufftMakePlan1d(plan, kLong, CUFFT_C2C, 1, &bytes), "make");
  check(bytes > 0, "needs a work area");
  status(cufftExecC2C(plan, a.data(), a.data(), CUFFT_FORWARD), CUFFT_NO_WORKSPACE, "no work area");
  Guarded<char> area(bytes);
  good(cufftSetWorkArea(plan, area.data()), "work area");
  good(cufftExecC2C(plan, a.data(), a.data(), CUFFT_FORWARD), "there");
  good(cufftExecC2C(plan, a.data(), a.data(), CUFFT_INVERSE), "and back");
  check(near(a.down("work area"), host, kLong), "with a work area of the program");
  area.down("work area");  // nothing behind it is written
  good(cufftDestroy(plan), "destroy");
}

/// There and back in a stream that captures: each launch of the graph multiplies with n.
void captured() {
  const std::vector<float2> host = some_numbers(kLong);
  Guarded<float2> a(kLong);
  a.up(host);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cufftHandle plan;
  good(cufftPlan1d(&plan, kLong, CUFFT_C2C, 1), "plan");
  good(cufftSetStream(plan, stream), "stream");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  good(cufftExecC2C(plan, a.data(), a.data(), CUFFT_FORWARD), "captured");
  good(cufftExecC2C(plan, a.data(), a.data(), CUFFT_INVERSE), "captured");
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  check(nodes == 4, "two passes each in the graph, not " + std::to_string(nodes));
  check(near(a.down("captured"), host, 1), "nothing is done while it is captured");
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  check(near(a.down("captured"), host, float(kLong) * kLong), "captured transforms");
  good(cufftDestroy(plan), "destroy");
}

/// Plans in two streams that do not wait for each other.
void streams() {
  constexpr int kSide = 64;
  const std::vector<float2> host = some_numbers(kSide * kSide);
  Guarded<float2> a(kSide * kSide), b(kSide * kSide);
  cufftHandle plans[2];
  Guarded<float2>* const arrays[2] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    arrays[i]->up(host);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    good(cufftPlan2d(&plans[i], kSide, kSide, CUFFT_C2C), "plan");
    good(cufftSetStream(plans[i], stream), "stream");
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i)
    good(cufftXtExec(plans[i], arrays[i]->data(), arrays[i]->data(), CUFFT_INVERSE), "execute");
  cudaDeviceSynchronize();
  check(near(a.down("stream"), b.down("stream"), 1), "the same in both streams");
  for (const cufftHandle plan : plans) good(cufftDestroy(plan), "destroy");
}

/// The ways to make a plan that the other programs do not take.
void makers() {
  cufftHandle plan;
  good(cufftPlan3d(&plan, 4, 6, 8, CUFFT_D2Z), "plan");
  good(cufftDestroy(plan), "destroy");
  std::size_t bytes;
  for (int rank = 1; rank <= 3; ++rank) {
    good(cufftCreate(&plan), "create");
    int n[3] = {4, 6, 8};
    const cufftResult made =
        rank == 1   ? cufftMakePlanMany(plan, 2, n, n, 1, 24, n, 1, 24, CUFFT_Z2Z, 2, &bytes)
        : rank == 2 ? cufftMakePlan2d(plan, 4, 6, CUFFT_Z2Z, &bytes)
                    : cufftMakePlan3d(plan, 4, 6, 8, CUFFT_Z2Z, &bytes);
    good(made, "make");
    good(cufftDestroy(plan), "destroy");
  }
  good(cufftCreate(&plan), "create");
  long long n[1] = {8};
  good(cufftXtMakePlanMany(plan, 1, n, nullptr, 1, 1, CUDA_R_64F, nullptr, 1, 1, CUDA_C_64F, 1,
                           &bytes, CUDA_C_64F),
       "make");
  std::vector<double> ones(8, 1);
  Guarded<double> in(8);
  Guarded<double2> out(5);
  in.up(ones);
  good(cufftXtExec(plan, in.data(), out.data(), CUFFT_FORWARD), "execute");
  const std::vector<double2> got = out.down("makers");
  for (int k = 0; k < 5; ++k) check(got[k].x == (k == 0 ? 8 : 0) && got[k].y == 0, "sum of ones");
  good(cufftDestroy(plan), "destroy");
}

/// Imaginary parts of elements 0 and n / 2 do not count: numbers that are real have none.
void imaginary_ends() {
  for (const int n : {8, 9, 34, 8192}) {
    std::vector<float2> spectrum(n / 2 + 1, float2{0, 0});
    spectrum.front() = {1, 5};
    if (n % 2 == 0) spectrum.back() = {1, -3};
    Guarded<float2> in(n / 2 + 1);
    Guarded<float> out(n);
    in.up(spectrum);
    cufftHandle plan;
    good(cufftPlan1d(&plan, n, CUFFT_C2R, 1), "plan");
    good(cufftExecC2R(plan, in.data(), out.data()), "execute");
    const std::vector<float> got = out.down("imaginary ends");
    for (int i = 0; i < n; ++i) {
      const float want = n % 2 != 0 ? 1 : i % 2 == 0 ? 2 : 0;
      check(std::abs(got[i] - want) < 1e-5f, "imaginary ends of " + std::to_string(n));
    }
    good(cufftDestroy(plan), "destroy");
  }
}

int main(int argc, char**) {
  handles();
  wrong_arguments();
  sizes();
  const Keeper keeper;
  work_areas();
  captured();
  streams();
  makers();
  imaginary_ends();
  if (argc > 1) {  // what we do not have
    int device = 0;
    long long n[1] = {8};
    std::size_t bytes;
    status(cufftXtSetGPUs(keeper.plan, 1, &device), CUFFT_NOT_SUPPORTED, "several devices");
    status(cufftXtMakePlanMany(keeper.plan, 1, n, nullptr, 1, 1, CUDA_C_16F, nullptr, 1, 1,
                               CUDA_C_16F, 1, &bytes, CUDA_C_16F),
           CUFFT_NOT_SUPPORTED, "half precision");
  }
  return finish();
}
