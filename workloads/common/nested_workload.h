// What the graph programs of LaPerm share: the input, the parameters of parents and children,
// launches, lists that grow on the device.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/child_launches.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "common/nested_graphs.h"

namespace raddle::workloads {

/// Vertices of a graph of LaPerm in a size.
std::uint32_t nested_vertices(NestedGraph kind, runtime::Size size);
/// The generator's path under the seed: the programs have the same graphs.
inline constexpr std::string_view kNestedGraphPath = "nested/graph";

/// Which edges of a row that has a child are its child's: whole child blocks of them, or all.
enum class RowSplit : std::uint8_t { Blocks, Row };
inline constexpr std::array<std::string_view, 2> kRowSplitNames = {"blocks", "row"};

/// Parameters `graph`, `vertices`, `threshold` and `child_block`, which the graph decides unless
/// they are given, `split`, and those of ParentLaunches.
class NestedWorkload : public HashedWorkload {
 public:
  /// Launches of kernels that the public program lets pend, in place of CUDA's 2,048; of more
  /// vertices the host asks for one each.
  std::uint32_t pending_launches() const { return pending_launches_; }
  void set_size(runtime::Size size) override;
  void visit(FieldVisitor& v) override;
  std::vector<std::string> violations() const override;

 protected:
  /// `block`: threads per block of parents; `pending_launches`: for
  /// cudaLimitDevRuntimePendingLaunchCount.
  NestedWorkload(std::uint32_t block, std::uint32_t pending_launches)
      : full_block_(block), pending_launches_(pending_launches) {}

  /// Makes graph_ and adds it to the input's hash.
  void make_graph(std::uint64_t seed);
  /// The vertex with most edges, the first such: in every one of the graphs it reaches nearly all.
  std::uint32_t source() const;
  /// `name`, its form for rows that are not divided, or its flat form. Of the nested forms the
  /// device is told how many launches may pend.
  runtime::KernelId parent_kernel(runtime::Device& device, runtime::ModuleId module,
                                  std::string_view name) const;
  /// One thread per item, or the persistent grid.
  void launch(runtime::Device& device, runtime::KernelId kernel, std::uint64_t items,
              const runtime::Arguments& arguments) const;
  /// Of a parent kernel: its nested form takes threshold and child block as well.
  void launch_parent(runtime::Device& device, runtime::KernelId kernel, std::uint64_t items,
                     runtime::Arguments arguments) const;
  std::uint32_t vertices() const;
  std::uint32_t child_block() const;
  std::uint32_t threshold() const;

  Graph graph_;

 private:
  const std::uint32_t full_block_, pending_launches_;
  NestedGraph kind_ = NestedGraph::Citation;
  runtime::Size size_ = runtime::Size::Tiny;
  std::uint32_t vertices_ = 0, threshold_ = 0, child_block_ = 0;
  RowSplit split_ = RowSplit::Blocks;
  ParentLaunches parents_;
};

/// In which order kernels go through a list that kernels have filled: as they filled it, or
/// ascending, each word as often as before.
enum class ListOrder : std::uint8_t { Found, Sorted };
inline constexpr std::array<std::string_view, 2> kListOrderNames = {"found", "sorted"};
inline constexpr std::string_view kListOrderDoc =
    "order of the vertices of a frontier: found: as kernels have listed them; sorted: ascending; "
    "the host sorts, which takes no simulated time";

/// A list that kernels fill, and its length beside it.
class DeviceList {
 public:
  DeviceList(runtime::Device& device, std::size_t capacity, std::string_view name)
      : words_(device, capacity), size_(device, 1), name_(name) {
    // Kernels count its words in 32 bits.
    RADDLE_ASSERT(capacity <= std::numeric_limits<std::uint32_t>::max());
  }
  Address words() const { return words_.address(); }
  Address size_word() const { return size_.address(); }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(words_.size()); }
  void clear() { size_.upload({0}); }
  /// By the host, its first `words` words; takes no simulated time, as copies do not.
  void sort(runtime::Device& device, std::uint32_t words);
  /// After the device is idle. Throws RunError when there was no room for all.
  std::uint32_t size() const;
  /// The list has one word.
  void start_with(runtime::Device& device, std::uint32_t word) {
    device.copy_to_device(words_.address(), &word, sizeof word);
  }

 private:
  DeviceArray<std::uint32_t> words_, size_;
  std::string_view name_;
};

}  // namespace raddle::workloads
