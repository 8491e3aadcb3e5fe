// target: sm_90a
// Attention of whole sequences as FlashAttention-3 computes it. See README.md.
#include "flash_wgmma/weights.h"

/// Swizzles begin at a multiple of 1,024.
extern __shared__ __align__(1024) unsigned char dynamic_shared[];

namespace flash3 {

template <class Of>
static __device__ __forceinline__ void attend(const Work& work) {
  __shared__ __align__(16) unsigned long long words[Objects::kCount];
  const Objects objects{shared_address(words)};
  const SharedAddress memory = shared_address(dynamic_shared);
  objects.prepare(Of::kGroups);
  const unsigned group = threadIdx.x / 128;
  if (group == 0) {
    give_registers<Of::kProducerRegisters>();
    if (threadIdx.x == 0) Producer<Of>(work, memory, objects).run();
  } else {
    take_registers<Of::kConsumerRegisters>();
    Consumer<Of>(work, memory, objects, group - 1).run();
  }
}

}  // namespace flash3

// Grid: any; block b takes the tiles b, b + blocks, ...
#define FLASH(name, ...)                                                                           \
  extern "C" __global__ void __launch_bounds__(flash3::Form<__VA_ARGS__>::kThreads)                \
      flash_wgmma_##name(const TensorMap* maps, unsigned sequence, unsigned heads, unsigned group, \
                         unsigned tiles, unsigned section, float scale) {                          \
    flash3::attend<flash3::Form<__VA_ARGS__>>({maps, maps + 1, maps + 2, maps + 3, sequence,       \
                                               heads, group, tiles, section,                       \
                                               scale * 1.4426950408889634f});                      \
  }
FLASH(64, 64, 192, 192, false, false)
FLASH(64_causal, 64, 192, 128, true, true)
FLASH(128, 128, 128, 176, false, true)
FLASH(128_causal, 128, 128, 128, true, true)
