// What programs ask about their kernels, and how many blocks of them fit.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/round_up.h"
#include "raddle/cudart/functions.h"
#include "raddle/lowering/lowering.h"

using namespace raddle;
using namespace raddle::cudart;

namespace raddle::cudart {

namespace {
constexpr int kDefaultSharedBytes = 48 * 1024;

/// A machine has all attributes that bound shared memory.
int known_attribute(Context& c, int number) {
  const std::optional<int> value = attribute(c.seen(), number);
  RADDLE_ASSERT(value.has_value());
  return *value;
}

int static_shared(const trace::KernelCode& code) {
  return static_cast<int>(code.static_shared_bytes);
}
}  // namespace

const trace::KernelCode& needs_of(Context& c, Kernel& kernel) {
  if (!kernel.needs) {
    const trace::KernelCode& ptx = *exec::code_of(c.device().code(c.loaded(kernel)));
    trace::KernelCode needs = lowering::lower(ptx, c.seen().isa).code;
    needs.instructions.clear();
    kernel.needs = std::move(needs);
  }
  return *kernel.needs;
}

int max_dynamic_shared(Context& c, Kernel& kernel) {
  if (kernel.max_dynamic_shared_bytes >= 0) return kernel.max_dynamic_shared_bytes;
  const int limit = std::min(kDefaultSharedBytes, known_attribute(c, 8));
  return std::max(limit - static_shared(needs_of(c, kernel)), 0);
}

timing::Residency residency_of(Context& c, Kernel& kernel, Dim3 block, std::size_t dynamic_shared) {
  const auto shared =
      static_cast<std::uint32_t>(std::min<std::size_t>(dynamic_shared, 0xffffffffu));
  return timing::residency(c.seen().machine.sm, needs_of(c, kernel), {{1, 1, 1}, block, shared});
}

namespace {

unsigned resident_blocks(Context& c, Kernel& kernel, Dim3 block, std::size_t dynamic_shared) {
  return block.count() == 0 ? 0 : residency_of(c, kernel, block, dynamic_shared).blocks;
}

/// The kernel's definition; linked modules may declare it as well.
std::vector<const ptx::Function*> sources_of(Context& c, Kernel& kernel) {
  c.loaded(kernel);
  RADDLE_ASSERT(kernel.module->id.has_value());
  std::vector<const ptx::Function*> out;
  for (const ptx::Function& f : c.device().module(*kernel.module->id).functions)
    if (f.name == kernel.name) out.push_back(&f);
  return out;
}

int max_threads(Context& c, Kernel& kernel) {
  const trace::KernelCode& code = needs_of(c, kernel);
  const timing::SmSpec& sm = c.seen().machine.sm;
  std::uint64_t maximum = sm.max_threads_per_block;
  for (const ptx::Function* f : sources_of(c, kernel)) {
    if (f->required_threads) maximum = std::min(maximum, f->required_threads->count());
    if (f->max_threads) maximum = std::min(maximum, f->max_threads->count());
  }
  while (maximum > 32 &&
         timing::residency(sm, code, {{1, 1, 1}, {static_cast<std::uint32_t>(maximum), 1, 1}, 0})
                 .blocks == 0)
    maximum -= 32;
  return static_cast<int>(maximum);
}

}  // namespace

std::uint64_t required_cluster(Context& c, Kernel& kernel) {
  for (const ptx::Function* f : sources_of(c, kernel))
    if (f->required_cluster) return f->required_cluster->count();
  return 0;
}

std::uint64_t allowed_cluster(const Kernel& kernel) {
  constexpr std::uint64_t kPortable = 8, kLargest = 16;
  return kernel.large_clusters ? kLargest : kPortable;
}

void check_cache_config(int config) {
  constexpr int kLast = 3;  // no preference, shared memory, L1, equal
  if (config < 0 || config > kLast) throw Failure{kInvalidValue};
}

void check_bank_config(int config) {
  constexpr int kLast = 2;  // as the device has it, four bytes, eight bytes
  if (config < 0 || config > kLast) throw Failure{kInvalidValue};
}

void check_clusters(Context& c, Error code) {
  constexpr unsigned kFirst = 90;
  if (c.seen().device.compute_capability < kFirst)
    throw Failure{code, "clusters need compute capability 9.0"};
}

namespace {

/// How many blocks of the configuration the machine holds at once.
std::uint64_t blocks_at_once(Context& c, Kernel& kernel, const HostLaunchConfiguration& k) {
  return std::uint64_t{resident_blocks(c, kernel, k.block, k.dynamic_shared_bytes)} *
         c.seen().machine.sm.count;
}

/// Which SMs may hold the blocks of one cluster is not modelled: all may.
int active_clusters(Context& c, Kernel& kernel, const HostLaunchConfiguration& k) {
  check_clusters(c, kNotSupported);
  std::uint64_t size = 0;
  for (const LaunchAttribute& attribute : listed(k.attributes, k.attribute_count))
    if (attribute.id == kAttributeCluster) {
      const auto& cluster = attribute.value.cluster;
      size = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    }
  const std::uint64_t required = required_cluster(c, kernel);
  if (size == 0) size = required;
  if (size == 0 || size > allowed_cluster(kernel) || (required != 0 && size != required))
    throw Failure{kInvalidClusterSize};
  return static_cast<int>(blocks_at_once(c, kernel, k) / size);
}

int largest_cluster(Context& c, Kernel& kernel, const HostLaunchConfiguration& k) {
  check_clusters(c, kNotSupported);
  if (const std::uint64_t required = required_cluster(c, kernel); required != 0)
    return static_cast<int>(required);
  return static_cast<int>(std::min(allowed_cluster(kernel), blocks_at_once(c, kernel, k)));
}

/// 75 of ".target sm_75".
int ptx_version(const ptx::Module& module, int otherwise) {
  const std::size_t digits = module.target.find_first_of("0123456789");
  return digits == std::string::npos ? otherwise : std::atoi(module.target.c_str() + digits);
}

/// What the program has declared __constant__, as it lies in the bank: variable behind variable.
std::size_t constant_bytes(const ptx::Module& module) {
  std::size_t bytes = 0;
  for (const ptx::Variable& v : module.variables) {
    const bool of_compiler = v.name.starts_with("$") || v.name.starts_with("__cudart_");
    if (v.space == ptx::Space::Const && !of_compiler) bytes = round_up(bytes, v.align) + v.size;
  }
  return bytes;
}

void write_attributes(Context& c, Kernel& kernel, FunctionAttributes& to) {
  const trace::KernelCode& code = needs_of(c, kernel);
  const int capability = static_cast<int>(c.seen().device.compute_capability);
  to = {};
  to.shared_bytes = code.static_shared_bytes;
  to.constant_bytes = constant_bytes(c.device().module(*kernel.module->id));
  to.local_bytes = code.local_bytes_per_thread;
  to.max_threads_per_block = max_threads(c, kernel);
  to.registers = static_cast<int>(code.registers_per_thread);
  // CUB picks its tuning by the PTX's own version and knows only those it was compiled for, which
  // may be above the machine's: we run them.
  to.ptx_version = ptx_version(c.device().module(*kernel.module->id), capability);
  to.binary_version = capability;
  to.max_dynamic_shared_bytes = max_dynamic_shared(c, kernel);
  to.preferred_carveout = kernel.carveout;
}

/// Takes what a program asks of a kernel. Throws Failure.
void set_attribute(Context& c, Kernel& kernel, int attribute_number, int value) {
  switch (attribute_number) {
    case 8: {
      const int maximum = known_attribute(c, 97) - static_shared(needs_of(c, kernel));
      if (value < 0 || value > maximum) throw Failure{kInvalidValue};
      kernel.max_dynamic_shared_bytes = value;
      return;
    }
    case 9:
      if (value < -1 || value > 100) throw Failure{kInvalidValue};
      kernel.carveout = value;
      return;
    case 14:
      if (value < 0 || value > 1) throw Failure{kInvalidValue};
      kernel.large_clusters = value == 1;
      return;
    case 10:  // cluster: must be set, width, height, depth, scheduling
    case 11:
    case 12:
    case 13:
    case 15:
      if (value > 1) c.refuse_unsupported("cudaFuncSetAttribute: the shape of a kernel's clusters");
      return;
    default:
      throw Failure{kInvalidValue};
  }
}

}  // namespace

}  // namespace raddle::cudart

extern "C" {

int raddle_cudaFuncGetAttributes_11(FunctionAttributes* to, const void* function) {
  return call("cudaFuncGetAttributes", [&](Context& c) {
    if (to == nullptr) throw Failure{kInvalidValue};
    write_attributes(c, c.kernel(function), *to);
    return kSuccess;
  });
}

int raddle_cudaFuncGetAttributes_12(FunctionAttributes* to, const void* function) {
  return call("cudaFuncGetAttributes", [&](Context& c) {
    if (to == nullptr) throw Failure{kInvalidValue};
    write_attributes(c, c.kernel(function), *to);
    std::memset(to + 1, 0, kFunctionAttributesTail);
    return kSuccess;
  });
}

int raddle_cudaFuncSetAttribute(const void* function, int number, int value) {
  return call("cudaFuncSetAttribute", [&](Context& c) {
    set_attribute(c, c.kernel(function), number, value);
    return kSuccess;
  });
}

int raddle_cudaFuncSetCacheConfig(const void* function, int config) {
  return call("cudaFuncSetCacheConfig", [&](Context& c) {
    c.kernel(function);
    check_cache_config(config);
    return kSuccess;
  });
}

int raddle_cudaFuncSetSharedMemConfig(const void* function, int config) {
  return call("cudaFuncSetSharedMemConfig", [&](Context& c) {
    c.kernel(function);
    check_bank_config(config);
    return kSuccess;
  });
}

int raddle_cudaFuncGetName(const char** name, const void* function) {
  return call("cudaFuncGetName", [&](Context& c) {
    if (name == nullptr) throw Failure{kInvalidValue};
    *name = c.kernel(function).name.c_str();
    return kSuccess;
  });
}

int raddle_cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                std::size_t* bytes) {
  return call("cudaFuncGetParamInfo", [&](Context& c) {
    const auto& items = exec::parameters_of(c.device().code(c.loaded(c.kernel(function)))).items;
    if (index >= items.size() || offset == nullptr) throw Failure{kInvalidValue};
    *offset = items[index].offset;
    if (bytes != nullptr) *bytes = items[index].size;
    return kSuccess;
  });
}

int raddle_cudaGetFuncBySymbol(Kernel** function, const void* stub) {
  return call("cudaGetFuncBySymbol", [&](Context& c) {
    if (stub == nullptr) throw Failure{kInvalidValue};
    required(function) = &c.kernel(stub);
    return kSuccess;
  });
}

int raddle_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                  int block_size,
                                                                  std::size_t dynamic_shared,
                                                                  unsigned flags) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context& c) {
    if (blocks == nullptr || block_size <= 0 || flags > kLastOccupancyFlag)
      throw Failure{kInvalidValue};
    const Dim3 block{static_cast<std::uint32_t>(block_size), 1, 1};
    *blocks = static_cast<int>(resident_blocks(c, c.kernel(function), block, dynamic_shared));
    return kSuccess;
  });
}

int raddle_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                         int block_size,
                                                         std::size_t dynamic_shared) {
  return raddle_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                       dynamic_shared, 0);
}

int raddle_cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                          const HostLaunchConfiguration* configuration) {
  return call("cudaOccupancyMaxActiveClusters", [&](Context& c) {
    if (clusters == nullptr || configuration == nullptr) throw Failure{kInvalidValue};
    *clusters = active_clusters(c, c.kernel(function), *configuration);
    return kSuccess;
  });
}

int raddle_cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                const HostLaunchConfiguration* configuration) {
  return call("cudaOccupancyMaxPotentialClusterSize", [&](Context& c) {
    if (blocks == nullptr || configuration == nullptr) throw Failure{kInvalidValue};
    *blocks = largest_cluster(c, c.kernel(function), *configuration);
    return kSuccess;
  });
}

int raddle_cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                     int blocks, int block_size) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Context& c) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) throw Failure{kInvalidValue};
    Kernel& kernel = c.kernel(function);
    const Dim3 block{static_cast<std::uint32_t>(block_size), 1, 1};
    // The most that still leaves room for so many blocks.
    std::size_t low = 0, high = c.seen().machine.sm.shared_kib * 1024;
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (resident_blocks(c, kernel, block, middle) >= static_cast<unsigned>(blocks)) low = middle;
      else high = middle - 1;
    }
    *bytes = low;
    return kSuccess;
  });
}

}  // extern "C"
