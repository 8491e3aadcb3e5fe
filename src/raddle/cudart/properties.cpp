#include "raddle/cudart/properties.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::cudart {

namespace {

// Limits that CUDA gives every device that our machines stand for (CUDA C++ programming guide,
// technical specifications per compute capability).
constexpr int kWarp = 32, kMaxGridX = 0x7fffffff, kMaxGridYz = 65535, kConstantBytes = 65536;
constexpr int kMaxTexture1d = 131072, kMaxTexture2d = 131072, kMaxTexture2dHeight = 65536,
              kMaxTexture3d = 16384, kMaxLayers = 2048, kMaxLinear1d = 268435456,
              kMaxLayered = 32768, kMaxGather = 32768, kMaxCubeLayers = 2046;

int shared_per_block(const sim::SeenByProgram& s) {
  return static_cast<int>(std::min(s.machine.sm.shared_kib, 48u) * 1024);
}
int shared_per_block_optin(const sim::SeenByProgram& s) {
  const timing::SmSpec& sm = s.machine.sm;
  const std::uint32_t all = sm.shared_kib * 1024;
  return static_cast<int>(all - std::min(all, sm.shared_reserved_bytes));
}
int l2_bytes(const sim::SeenByProgram& s) {
  return static_cast<int>(s.machine.l2.slices * s.machine.l2.size_kib * 1024);
}
int bus_bits(const sim::SeenByProgram& s) {
  return static_cast<int>(s.machine.dram.channels * s.machine.dram.bus_bytes_per_cycle * 8 / 2);
}

}  // namespace

namespace {

struct Fixed {
  int number, value;
};
// Attributes that every one of our machines has alike; those left out are 0.
constexpr Fixed kFixed[] = {
    {2, 1024},  // block x, y, z
    {3, 1024},
    {4, 64},
    {5, kMaxGridX},
    {6, kMaxGridYz},
    {7, kMaxGridYz},
    {9, kConstantBytes},
    {10, kWarp},
    {11, 0x7fffffff},  // pitch
    {14, 512},         // texture alignment
    {15, 1},           // copies overlap with kernels
    {19, 1},           // maps host memory
    {21, kMaxTexture1d},
    {22, kMaxTexture2d},
    {23, kMaxTexture2dHeight},
    {24, kMaxTexture3d},
    {25, kMaxTexture3d},
    {26, kMaxTexture3d},
    {27, kMaxLayered},
    {28, kMaxLayered},
    {29, kMaxLayers},
    {30, 512},  // surface alignment
    {31, 1},    // concurrent kernels
    {40, 2},    // copy engines
    {41, 1},    // unified addresses
    {42, kMaxLayered},
    {43, kMaxLayers},
    {45, kMaxGather},
    {46, kMaxGather},
    {51, 32},  // texture pitch alignment
    {52, kMaxLayered},
    {53, kMaxLayered},
    {54, kMaxCubeLayers},
    {55, kMaxLayered},
    {56, kMaxTexture2d},
    {57, kMaxTexture2dHeight},
    {58, kMaxTexture3d},
    {59, kMaxTexture3d},
    {60, kMaxTexture3d},
    {61, kMaxLayered},
    {62, kMaxLayers},
    {63, kMaxLayered},
    {64, kMaxLayered},
    {65, kMaxLayers},
    {66, kMaxLayered},
    {67, kMaxLayered},
    {68, kMaxCubeLayers},
    {69, kMaxLinear1d},
    {70, kMaxTexture2d},
    {71, 65000},
    {72, 2097120},
    {73, kMaxLayered},
    {74, kMaxLayered},
    {77, kMaxLayered},
    {78, 1},   // stream priorities
    {83, 1},   // managed memory
    {87, 2},   // single to double precision
    {89, 1},   // the host may touch managed memory while kernels run
    {90, 1},   // kernels can be preempted
    {95, 1},   // cooperative launch
    {99, 1},   // cudaHostRegister
    {115, 1},  // memory pools
};
constexpr int kLastAttribute = 147;

int of_machine(const sim::SeenByProgram& seen, int number) {
  const timing::SmSpec& sm = seen.machine.sm;
  const int capability = static_cast<int>(seen.device.compute_capability);
  const bool ampere = capability >= 80;
  switch (number) {
    case 1:
      return static_cast<int>(sm.max_threads_per_block);
    case 8:
      return shared_per_block(seen);
    case 12:
    case 82:
      return static_cast<int>(sm.registers);
    case 13:
      return static_cast<int>(seen.machine.core_clock_mhz * 1000);
    case 16:
      return static_cast<int>(sm.count);
    case 36:
      return static_cast<int>(seen.machine.dram.clock_mhz * 1000);
    case 37:
      return bus_bits(seen);
    case 38:
      return l2_bytes(seen);
    case 39:
      return static_cast<int>(sm.threads);
    case 75:
      return capability / 10;
    case 76:
      return capability % 10;
    case 79:
    case 80:
      return sm.l1d.present() ? 1 : 0;
    case 81:
      return static_cast<int>(sm.shared_kib * 1024);
    case 97:
      return shared_per_block_optin(seen);
    case 106:
      return static_cast<int>(sm.blocks);
    case 108:  // persisting L2
      return ampere ? l2_bytes(seen) * 3 / 4 : 0;
    case 109:
      return ampere ? 128 << 20 : 0;
    case 111:  // shared memory that is the system's
      return static_cast<int>(sm.shared_reserved_bytes);
    default:
      return 0;
  }
}

}  // namespace

std::optional<int> attribute(const sim::SeenByProgram& s, int number) {
  if (number < 1 || number > kLastAttribute) return std::nullopt;
  for (const Fixed& f : kFixed)
    if (f.number == number) return f.value;
  return of_machine(s, number);
}

namespace {

// One member of cudaDeviceProp. Its value is that of attributes, in order, or special.
struct Member {
  enum class Type : std::uint8_t { Int, Size, Bytes } type;
  int first, last;  ///< versions that have it
  std::vector<int> attributes = {};
  std::string_view special = {};
  unsigned bytes = 0;
};

/// Never destroyed: exit handlers of programs ask for properties, too.
const std::vector<Member>& members() {
  using enum Member::Type;
  static const std::vector<Member>& kMembers = *new std::vector<Member>{
      {Bytes, 11, 13, {}, "name", 256},
      {Bytes, 11, 13, {}, "uuid", 16},
      {Bytes, 11, 13, {}, "luid", 8},
      {Int, 11, 13, {0}},  // luidDeviceNodeMask
      {Size, 11, 13, {}, "totalGlobalMem"},
      {Size, 11, 13, {8}},
      {Int, 11, 13, {12, 10}},
      {Size, 11, 13, {11}},
      {Int, 11, 13, {1, 2, 3, 4, 5, 6, 7}},
      {Int, 11, 12, {13}},  // clockRate
      {Size, 11, 13, {9}},
      {Int, 11, 13, {75, 76}},
      {Size, 11, 13, {14}},
      {Size, 11, 13, {51}},
      {Int, 11, 12, {15}},  // deviceOverlap
      {Int, 11, 13, {16}},
      {Int, 11, 12, {17}},  // kernelExecTimeoutEnabled
      {Int, 11, 13, {18, 19}},
      {Int, 11, 12, {20}},  // computeMode
      {Int, 11, 13, {21, 77}},
      {Int, 11, 12, {69}},  // maxTexture1DLinear
      {Int, 11, 13, {22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52}},
      {Int, 11, 13, {42, 43, 27, 28, 29, 53, 54}},
      {Int, 11, 13, {55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68}},
      {Size, 11, 13, {30}},
      {Int, 11, 13, {31, 32, 33, 34, 50, 35, 40, 41}},
      {Int, 11, 12, {36}},  // memoryClockRate
      {Int, 11, 13, {37, 38, 108, 39, 78, 79, 80}},
      {Size, 11, 13, {81}},
      {Int, 11, 13, {82, 83, 84, 85, 86}},
      {Int, 11, 12, {87}},  // singleToDoublePrecisionPerfRatio
      {Int, 11, 13, {88, 89, 90, 91, 95}},
      {Int, 11, 12, {96}},  // cooperativeMultiDeviceLaunch
      {Size, 11, 13, {97}},
      {Int, 11, 13, {100, 101, 106, 109}},
      {Size, 11, 13, {111}},
      {Int, 12, 13, {99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120}},
      {Int, 12, 13, {0}},                                  // unifiedFunctionPointers
      {Int, 13, 13, {130, 131, 133, 134, 139, 140, 143}},  // NUMA, MPS, PCI
      {Bytes, 12, 12, {}, "reserved", (2 + 1 + 60) * 4},
      {Bytes, 13, 13, {}, "reserved", 56 * 4},
  };
  return kMembers;
}

/// Puts members behind one another as a C compiler does.
class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}
  template <class T>
  void put(T value) {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (to_ != nullptr) std::memcpy(to_ + at_, &value, sizeof value);
    at_ += sizeof(T);
  }
  void put_text(std::string_view text, std::size_t bytes) {
    if (to_ != nullptr) {
      std::memset(to_ + at_, 0, bytes);
      std::memcpy(to_ + at_, text.data(), std::min(text.size(), bytes - 1));
    }
    at_ += bytes;
  }
  std::size_t bytes() const { return (at_ + 7) / 8 * 8; }

 private:
  std::byte* to_;
  std::size_t at_ = 0;
};

/// `seen` may be null when only the size is asked for.
std::size_t lay_out(const sim::SeenByProgram* seen, int version, std::byte* to) {
  Writer writer(to);
  for (const Member& m : members()) {
    if (version < m.first || version > m.last) continue;
    const auto value = [&](int number) {
      return seen != nullptr ? attribute(*seen, number).value_or(0) : 0;
    };
    if (m.type == Member::Type::Bytes) {
      std::string text;
      if (seen != nullptr && m.special == "name") text = "Raddle " + seen->machine.name;
      if (seen != nullptr && m.special == "uuid") text = "Raddle simulated";
      writer.put_text(text, m.bytes);
    } else if (!m.special.empty()) {
      writer.put(seen != nullptr ? std::size_t{seen->device.memory_gib} << 30 : 0);
    } else {
      for (const int number : m.attributes) {
        if (m.type == Member::Type::Int) writer.put(value(number));
        else writer.put(static_cast<std::size_t>(value(number)));
      }
    }
  }
  return writer.bytes();
}

}  // namespace

void write_properties(const sim::SeenByProgram& seen, int version, void* to) {
  lay_out(&seen, version, static_cast<std::byte*>(to));
}

std::size_t properties_bytes(int version) { return lay_out(nullptr, version, nullptr); }

}  // namespace raddle::cudart
