// What every attention of ours is given, and how its result is checked.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attention/launch.h"
#include "common/half.h"

namespace raddle::workloads {

struct AttentionForm {
  Heads of;
  std::uint32_t batch = 1, sequence = 0;
  bool prefill = true;        ///< every token is a query; else the last one of each sequence
  bool causal = true;         ///< prefill: a query sees the tokens up to its own only
  bool half_weights = false;  ///< weights are rounded to half precision, the largest being 1

  std::size_t tokens() const { return std::size_t{batch} * sequence; }
  std::vector<std::string> violations() const;
};

/// Queries, keys and values, token by token; of `lengths` each sequence has so many.
class AttentionSequences {
 public:
  /// Random numbers from generators `path`/... of `seed`.
  void make(const AttentionForm& form, std::uint64_t seed, const std::string& path);
  const std::vector<Half>& query() const { return query_; }
  const std::vector<Half>& key() const { return key_; }
  const std::vector<Half>& value() const { return value_; }
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }

  /// Keys or values in pages, which lie in the order of `order`; what no token fills is zero.
  std::vector<Half> paged(const std::vector<Half>& rows, const std::vector<std::uint32_t>& order,
                          std::uint32_t page) const;
  /// "" or the first difference from double precision: all rows (a head of a query) of few, of
  /// many the first, the last and some that are drawn.
  std::string check(const std::vector<Half>& out);

 private:
  std::string wrong_row(const std::vector<Half>& out, std::size_t row) const;

  AttentionForm form_;
  std::uint64_t seed_ = 0;
  std::string path_;
  std::vector<Half> query_, key_, value_;
  std::vector<std::uint32_t> lengths_;
  std::vector<float> queries_, keys_, values_;
};

}  // namespace raddle::workloads
