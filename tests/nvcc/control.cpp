// Virtual functions, function pointers, recursion, jump tables, printf, assert, malloc: programs
// made by nvcc against what the same C++ computes here.
#include <cstdio>
#include <numeric>

#include "nvcc_rig.h"

namespace raddle::exec::test::control_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class ControlFlow : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) start({});
  }
  void start(const MachineOptions& options) {
    gpu = std::make_unique<Gpu>("control", GetParam(), options);
  }
  std::unique_ptr<Gpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(Nvcc, ControlFlow, testing::ValuesIn(kBuilds), build_name);

// --- calls ---------------------------------------------------------------------------------------
TEST_P(ControlFlow, VirtualFunctionsOfObjectsOnTheHeap) {
  constexpr int n = 100;
  const Address shapes = gpu->zeros(8 * n), out = gpu->zeros(4 * n);
  const u64 before = gpu->memory.used();
  gpu->run("make_shapes", {2, 1, 1}, {64, 1, 1}, shapes, n);
  EXPECT_GT(gpu->memory.used(), before);
  gpu->run("measure_shapes", {2, 1, 1}, {64, 1, 1}, shapes, out, n);
  const auto got = gpu->download<float>(out, n);
  for (int i = 0; i < n; ++i) {
    const auto x = static_cast<float>(i);
    const float area = i % 3 == 0 ? x * x : i % 3 == 1 ? 2 * x : 1.5f * x;
    EXPECT_FLOAT_EQ(got[i], area + (i % 3 == 0 ? 2 * area : 20 + area)) << i;
  }
  gpu->run("free_shapes", {2, 1, 1}, {64, 1, 1}, shapes, n);
  EXPECT_EQ(gpu->memory.used(), before);
}
TEST_P(ControlFlow, FunctionPointersInTablesAndInitialisers) {
  constexpr int n = 70;
  const Address out = gpu->zeros(4 * n);
  gpu->run("call_table", {3, 1, 1}, {32, 1, 1}, out, n);
  const auto got = gpu->download<int>(out, n);
  for (int i = 0; i < n; ++i) {
    const int first[4] = {i + 5, i - 5, i * 5, std::max(i, 5)};
    const int second = i / 2 % 2 == 0 ? i * 3 : i + 3;
    const int third = i % 2 == 0 ? std::max(7, i) + 'l' : 9 + i + 'a';
    EXPECT_EQ(got[i], first[i % 4] + 1000 * second - 1 + third) << i;
  }
}
TEST_P(ControlFlow, AFunctionPointerOutlivesItsKernel) {
  const Address pointer = gpu->zeros(8), out = gpu->zeros(4 * 32);
  gpu->run("store_pointer", {1, 1, 1}, {1, 1, 1}, pointer, 2);
  gpu->run("call_pointer", {1, 1, 1}, {32, 1, 1}, pointer, out);
  const auto got = gpu->download<int>(out, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], 4 * i);
}
TEST_P(ControlFlow, ACallOfNoFunctionIsTold) {
  const Address out = gpu->zeros(128);
  const Address pointer = gpu->upload(std::vector<u64>{0});
  const std::string what = run_error([&] {
    gpu->run("call_pointer", {1, 1, 1}, {32, 1, 1}, pointer, out);
  });
  EXPECT_NE(what.find("call of address 0x0, which is no function"), std::string::npos) << what;
}

// --- recursion -----------------------------------------------------------------------------------
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
TEST_P(ControlFlow, RecursionThatDivergesInDepth) {
  const Address out = gpu->zeros(8 * 64);
  gpu->run("recurse", {1, 1, 1}, {64, 1, 1}, out);
  const auto got = gpu->download<int>(out, 128);
  for (u32 i = 0; i < 64; ++i) {
    EXPECT_EQ(got[2 * i], fibonacci(static_cast<int>(i % 12)));
    EXPECT_EQ(got[2 * i + 1], static_cast<int>(ackermann(i % 3, i % 5)));
  }
}
TEST_P(ControlFlow, RecursionWithLocalArrays) {
  constexpr int each = 21, threads = 96;
  std::vector<int> values(each * threads);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i * 7919 % 1009) - 500;
  const Address at = gpu->upload(values);
  gpu->run("sort_each", {2, 1, 1}, {48, 1, 1}, at, each);
  for (int t = 0; t < threads; ++t)
    std::sort(values.begin() + t * each, values.begin() + (t + 1) * each);
  EXPECT_EQ(gpu->download<int>(at, values.size()), values);
}
int spread(int n) {
  if (n <= 0) return 1;
  const int below = spread(n - 2);
  u32 sum = 0;
  for (int i = 0; i < n; ++i) sum = 3 * sum + static_cast<u32>((n - 1 - i) * (n - 1 - i) + n);
  return static_cast<int>(sum) + 7 * below;
}
TEST_P(ControlFlow, StackAllocatedAtRunTime) {
  const Address out = gpu->zeros(4 * 64);
  gpu->run("allocate_stack", {1, 1, 1}, {64, 1, 1}, out);
  const auto got = gpu->download<int>(out, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], spread(i % 9)) << i;
}
TEST_P(ControlFlow, ALargerStackAllowsDeeperRecursion) {
  constexpr u32 kDepth = 20000;
  const Address out = gpu->zeros(4);
  const auto deep = [&] { gpu->run("deep", {1, 1, 1}, {1, 1, 1}, out, kDepth); };
  EXPECT_NE(run_error(deep).find("call stack overflow ("), std::string::npos);
  gpu->machine.set_stack_bytes(2u << 20);
  deep();
  u32 want = 1;
  for (u32 n = 1; n <= kDepth; ++n) want = n + want * 3;
  EXPECT_EQ(gpu->download<u32>(out, 1)[0], want);
}
TEST_P(ControlFlow, RecursionWithoutEndIsTold) {
  const Address out = gpu->zeros(4);
  const std::string what = run_error([&] { gpu->run("fall", {1, 1, 1}, {1, 1, 1}, out); });
  EXPECT_NE(what.find("kernel fall: "), std::string::npos) << what;
  EXPECT_NE(what.find("call stack overflow ("), std::string::npos) << what;
}
TEST_P(ControlFlow, JumpTables) {
  std::vector<std::uint8_t> code(61);
  for (std::size_t i = 0; i < code.size(); ++i) code[i] = static_cast<std::uint8_t>(i * 7 % 11);
  const int length = static_cast<int>(code.size());
  const Address out = gpu->zeros(4 * 128);
  gpu->run("machine", {2, 1, 1}, {64, 1, 1}, gpu->upload(code), length, out);
  const auto got = gpu->download<int>(out, 128);
  for (int i = 0; i < 128; ++i) {
    u32 value = static_cast<u32>(i), other = 1;
    for (int at = 0; at < length; ++at) switch (code[static_cast<std::size_t>((at + i) % length)]) {
        case 0:
          value += other;
          break;
        case 1:
          value -= 3;
          break;
        case 2:
          other = value ^ other;
          break;
        case 3:
          value *= 5;
          break;
        case 4:
          other += 7;
          break;
        case 5:
          value = other - value;
          break;
        case 6:
          at += (value & 1) != 0 ? 1 : 0;
          break;
        case 7:
          value = static_cast<u32>(__builtin_popcount(value)) + other;
          break;
        case 8:
          other = static_cast<u32>(static_cast<int>(value) >> 2);
          break;
        default:
          value = ~value;
      }
    EXPECT_EQ(static_cast<u32>(got[i]), value * 31 + other) << i;
  }
}

// --- text ----------------------------------------------------------------------------------------
template <class... Ts>
std::string text(const char* format, Ts... values) {
  char buffer[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::snprintf(buffer, sizeof buffer, format, values...);
#pragma GCC diagnostic pop
  return buffer;
}
TEST_P(ControlFlow, PrintfLikeTheHosts) {
  gpu->run("print", {1, 1, 1}, {1, 1, 1}, gpu->upload(std::vector<char>{'w', 'o', 'r', 'd', 0}));
  std::string want = "plain\n";
  want += text("%d %i %u %o %x %X %c %%|\n", -5, 42, 4000000000u, 64, 0xbeef, 0xBEEF, 'z');
  want += text("[%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%*d]\n", 12, 12, 12, 12, 12, 7, 6, 99);
  want += text("%ld %lld %llu %lx %hd %hhd\n", -1234567890123L, -7LL, 18446744073709551615ULL, 255L,
               static_cast<short>(70000), static_cast<char>(300));
  want += text("%f %.2f %8.3f %e %.1e %g %G %a\n", 3.25, 2.718281828, -1.5, 12345.678, 0.00012,
               1e-7, 1e20, 1.0);
  want += text("%s %10s|%-10s|%.2s\n", "word", "right", "left", "cut");
  want += text("%d %f %s %d\n", 1, 2.0, "mixed", 3);
  want += "no arguments\n";
  EXPECT_EQ(gpu->printed, want);
}
TEST_P(ControlFlow, PrintfReturnsItsNumberOfArguments) {
  const Address out = gpu->zeros(8);
  gpu->run("print_returns", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(gpu->download<int>(out, 2), (std::vector<int>{1, 0}));
}
TEST_P(ControlFlow, AssertNamesTheThread) {
  std::vector<int> values(64, 3);
  const Address at = gpu->upload(values);
  gpu->run("check", {1, 1, 1}, {64, 1, 1}, at, 4);
  values[37] = 4;
  std::memcpy(gpu->memory.host(at), values.data(), 256);
  const std::string what = run_error([&] { gpu->run("check", {1, 1, 1}, {64, 1, 1}, at, 4); });
  EXPECT_NE(what.find("assertion failed: values[threadIdx.x] < limit"), std::string::npos) << what;
  EXPECT_NE(what.find("control.cu:"), std::string::npos) << what;
  EXPECT_NE(what.find("thread (37,0,0)"), std::string::npos) << what;
}

// --- heap ----------------------------------------------------------------------------------------
TEST_P(ControlFlow, ListsOnTheHeapOutliveTheirKernel) {
  constexpr int threads = 96, n = 7;
  const Address heads = gpu->zeros(8 * threads), out = gpu->zeros(4 * threads);
  const u64 before = gpu->memory.used();
  gpu->run("build_lists", {3, 1, 1}, {32, 1, 1}, heads, n);
  gpu->run("sum_lists", {3, 1, 1}, {32, 1, 1}, heads, out);
  const auto got = gpu->download<int>(out, threads);
  for (int i = 0; i < threads; ++i) {
    int sum = 0;
    for (int k = i % n; k >= 0; --k) sum = 3 * sum + i + k;
    EXPECT_EQ(got[i], sum) << i;
  }
  EXPECT_EQ(gpu->memory.used(), before);
}
TEST_P(ControlFlow, AFullHeapGivesNull) {
  MachineOptions options;
  options.heap_bytes = 1000;
  start(options);
  const Address out = gpu->zeros(4);
  gpu->run("exhaust", {1, 1, 1}, {1, 1, 1}, out, u64{96});
  EXPECT_EQ(gpu->download<int>(out, 1)[0], 10);
  gpu->machine.set_heap_bytes(2000);
  gpu->run("exhaust", {1, 1, 1}, {1, 1, 1}, out, u64{96});
  EXPECT_EQ(gpu->download<int>(out, 1)[0], 10);
}
TEST_P(ControlFlow, MisuseOfTheHeapIsTold) {
  const std::string twice = run_error([&] { gpu->run("free_twice", {1, 1, 1}, {1, 1, 1}); });
  EXPECT_NE(twice.find("which malloc has not given out or which is free already"),
            std::string::npos)
      << twice;
  const std::string beyond = run_error([&] { gpu->run("beyond_malloc", {1, 1, 1}, {1, 1, 1}); });
  EXPECT_NE(beyond.find("0 bytes past the end of the 16-byte allocation"), std::string::npos)
      << beyond;
}
TEST_P(ControlFlow, ABlockSharesWhatOneThreadAllocates) {
  const Address out = gpu->zeros(4 * 256);
  gpu->run("block_scratch", {4, 1, 1}, {64, 1, 1}, out);
  const auto got = gpu->download<int>(out, 256);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(got[i], 2 * (63 - i % 64));
}

}  // namespace
}  // namespace raddle::exec::test::control_test
