// What the graph workloads with one thread per vertex share: the graph, rounds, launches.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/device_array.h"
#include "common/graph_choice.h"
#include "common/inputs.h"

namespace raddle::workloads {

/// How the entry (i, j), j <= i, of a symmetric matrix's stored triangle is read: column by column,
/// as a Matrix Market file lists them, it is the edge j -> i; row by row i -> j.
enum class Entries : std::uint8_t { ByColumn, ByRow };

/// Parameters `graph`, `vertices`, `edges`, `entries`, `iterations` and `block`.
class VertexWorkload : public HashedWorkload {
 public:
  void set_size(runtime::Size size) override;
  void visit(FieldVisitor& v) override;
  std::vector<std::string> violations() const override { return graph_choice_.violations(); }

 protected:
  /// `iterations_doc`: what a round is and how many there are at most.
  VertexWorkload(std::uint32_t iterations, std::string_view iterations_doc);

  /// Makes graph_ and adds it to the input's hash. Returns the generator for what else is drawn.
  Rng make_graph(std::uint64_t seed, std::string_view path);
  std::uint32_t vertices() const { return graph_.vertices(); }
  std::uint32_t iterations() const { return iterations_; }
  void set_iterations(std::uint32_t iterations) { iterations_ = iterations; }
  /// One thread per vertex.
  void launch(runtime::Device& device, runtime::KernelId kernel,
              const runtime::Arguments& arguments) const;
  /// Calls round(number, address of a word), which launches, until its kernels leave the word 0;
  /// at most iterations() times. Returns how often.
  template <class Round>
  std::uint32_t repeat(runtime::Device& device, Round round) const {
    DeviceArray<std::uint32_t> more(device, 1);
    for (std::uint32_t number = 0; number < iterations_; ++number) {
      more.upload({0});
      round(number, more.address());
      device.synchronize();
      if (more.download()[0] == 0) return number + 1;
    }
    return iterations_;
  }

  Graph graph_;

 private:
  GraphChoice graph_choice_;
  Entries entries_ = Entries::ByColumn;
  std::uint32_t iterations_, block_ = 256;
  std::string_view iterations_doc_;
};

}  // namespace raddle::workloads
