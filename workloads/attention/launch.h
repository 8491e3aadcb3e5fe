// Launches of attention's kernels.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "common/device_array.h"

namespace raddle::workloads {

struct Heads {
  std::uint32_t heads = 1, kv_heads = 1, head_dim = 64;

  std::uint32_t group() const { return heads / kv_heads; }
  std::uint32_t query_numbers() const { return heads * head_dim; }
  std::uint32_t kv_numbers() const { return kv_heads * head_dim; }
  float scale() const { return static_cast<float>(1 / std::sqrt(1.0 * head_dim)); }
};

/// Token by token; strides in numbers.
struct AttentionRows {
  Address queries, keys, values, out;
  std::uint32_t query_stride, kv_stride;
};

/// What makes the products.
enum class Units : std::uint8_t { Fp32, Tensor };
inline constexpr std::array<std::string_view, 2> kUnitNames = {"fp32", "tensor"};

inline void launch_prefill(runtime::Device& device, runtime::ModuleId module, const Heads& of,
                           Units units, const AttentionRows& rows, std::uint32_t batch,
                           std::uint32_t sequence, bool causal) {
  constexpr std::uint32_t kQueries = 32, kTensorQueries = 64;  // as in tiles.h and tensor.h
  constexpr std::uint32_t kThreads = 128;                      // as in both
  const bool tensor = units == Units::Tensor;
  const std::string name = tensor ? "attention_tensor_" : "attention_prefill_";
  device.launch(device.kernel(module, name + std::to_string(of.head_dim)),
                {blocks_for(sequence, tensor ? kTensorQueries : kQueries), of.heads, batch},
                {kThreads},
                runtime::Arguments(rows.queries, rows.keys, rows.values, rows.out,
                                   rows.query_stride, rows.kv_stride, of.query_numbers(), sequence,
                                   of.group(), std::uint32_t{causal}, of.scale()));
}

/// Keys and values of sequences in pages: [page][slot][kv head][number].
struct PagedCache {
  Address keys, values, pages, lengths;
  std::uint32_t pages_of_sequence, page_tokens;  ///< a power of two

  std::uint32_t page_shift() const {
    return static_cast<std::uint32_t>(std::countr_zero(page_tokens));
  }
};

/// A block has `split` tokens of a sequence; `splits` of them cover the longest.
struct DecodeParts {
  std::uint32_t split, splits;
};

/// One query of each of `batch` sequences. What the parts leave is in memory until the end.
class DecodeLaunch {
 public:
  DecodeLaunch(runtime::Device& device, const Heads& of, DecodeParts parts, std::uint32_t batch)
      : device_(device),
        of_(of),
        parts_(parts),
        batch_(batch),
        partial_(device, std::size_t{batch} * of.query_numbers() * parts.splits),
        states_(device, std::size_t{batch} * of.heads * parts.splits * 2) {}

  void launch(runtime::ModuleId module, Address queries, std::uint32_t query_stride,
              const PagedCache& cache, Address out) const {
    constexpr std::uint32_t kThreads = 128;  // as in paged.h
    const std::string name = "attention_decode_" + std::to_string(of_.head_dim);
    device_.launch(device_.kernel(module, name), {parts_.splits, of_.heads, batch_}, {kThreads},
                   runtime::Arguments(queries, query_stride, cache.keys, cache.values, cache.pages,
                                      cache.lengths, cache.pages_of_sequence, cache.page_shift(),
                                      of_.kv_heads, of_.group(), parts_.split, of_.scale(),
                                      partial_.address(), states_.address()));
    device_.launch(device_.kernel(module, "attention_combine"), {of_.heads, batch_}, {of_.head_dim},
                   runtime::Arguments(partial_.address(), states_.address(), cache.lengths, out,
                                      parts_.splits, parts_.split));
  }

 private:
  runtime::Device& device_;
  Heads of_;
  DecodeParts parts_;
  std::uint32_t batch_;
  DeviceArray<float> partial_, states_;
};

}  // namespace raddle::workloads
