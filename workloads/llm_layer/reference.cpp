// The reference of llm_layer.
#include <algorithm>
#include <cmath>
#include <map>

#include "common/attended.h"
#include "llm_layer/layer.h"

namespace raddle::workloads {

namespace {

using Row = std::vector<float>;
using Rows = std::vector<Row>;

float rounded(double value) { return to_float(to_half(value)); }

// Each row times outputs `first` to `first` + `count` of a matrix.
Rows products(const Rows& rows, const std::vector<Half>& weights, std::size_t first,
              std::size_t count) {
  const std::size_t inputs = rows.at(0).size();
  Rows out(rows.size(), Row(count));
  Row weight(inputs);
  for (std::size_t output = 0; output < count; ++output) {
    const Half* const from = &weights[(first + output) * inputs];
    for (std::size_t i = 0; i < inputs; ++i) weight[i] = to_float(from[i]);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += double{rows[row][i]} * weight[i];
      out[row][output] = rounded(sum);
    }
  }
  return out;
}

Row normed(const Row& row, const std::vector<Half>& weight) {
  double sum = 0;
  for (const float number : row) sum += double{number} * number;
  const double factor =
      1 / std::sqrt(sum / static_cast<double>(row.size()) + double{kLayerEpsilon});
  Row out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    out[i] = rounded(row[i] * factor * to_float(weight[i]));
  return out;
}

// All heads of a row.
void turn(Row& row, std::uint32_t head_dim, const float* own) {
  const std::uint32_t pairs = head_dim / 2;
  for (std::size_t head = 0; head < row.size(); head += head_dim)
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      const double cosine = own[pair], sine = own[pairs + pair];
      const double x = row[head + pair], y = row[head + pairs + pair];
      row[head + pair] = rounded(x * cosine - y * sine);
      row[head + pairs + pair] = rounded(y * cosine + x * sine);
    }
}

Row plus(const Row& one, const Row& other) {
  Row sum(one.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = rounded(one[i] + other[i]);
  return sum;
}

// Keys and values that a token sees, its own among them.
struct Seen {
  Rows keys, values;
};

class Reference {
 public:
  explicit Reference(const LayerInputs& inputs) : in_(inputs), sizes_(inputs.sizes) {}

  LayerRows rows(const std::vector<std::uint32_t>& tokens) {
    Rows residual, hidden;
    for (const std::uint32_t token : tokens) {
      residual.push_back(x_of(token));
      hidden.push_back(normed(residual.back(), in_.norm));
    }
    Rows queries = products(hidden, in_.qkv, 0, sizes_.of.query_numbers());
    Rows seen_by;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      turn(queries[i], sizes_.of.head_dim, turns_of(tokens[i]));
      seen_by.push_back(attention(queries[i], tokens[i]));
    }
    const Rows out = products(seen_by, in_.out, 0, sizes_.hidden);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      residual[i] = plus(residual[i], out[i]);
      hidden[i] = normed(residual[i], in_.second_norm);
    }
    const Rows down = products(activated(hidden), in_.down, 0, sizes_.hidden);
    LayerRows result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      result.residual.push_back(plus(residual[i], down[i]));
      result.normed.push_back(normed(result.residual.back(), in_.last_norm));
    }
    return result;
  }

 private:
  Row x_of(std::uint32_t token) const {
    Row row(sizes_.hidden);
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = to_float(in_.x[std::size_t{token} * sizes_.hidden + i]);
    return row;
  }
  const float* turns_of(std::uint32_t token) const {
    return &in_.turns[std::size_t{in_.positions[token]} * sizes_.of.head_dim];
  }

  Rows activated(const Rows& hidden) const {
    const std::size_t width = sizes_.intermediate;
    Rows out = products(hidden, in_.gate_up, 0, 2 * width);
    for (Row& row : out) {
      for (std::size_t i = 0; i < width; ++i)
        row[i] = rounded(row[i] / (1 + std::exp(-double{row[i]})) * row[width + i]);
      row.resize(width);
    }
    return out;
  }

  // Of tokens that this run computes.
  Seen computed(const std::vector<std::uint32_t>& tokens) const {
    Rows hidden;
    for (const std::uint32_t token : tokens) hidden.push_back(normed(x_of(token), in_.norm));
    const std::size_t first = sizes_.of.query_numbers(), count = sizes_.of.kv_numbers();
    Seen seen{products(hidden, in_.qkv, first, count),
              products(hidden, in_.qkv, first + count, count)};
    for (std::size_t i = 0; i < tokens.size(); ++i)
      turn(seen.keys[i], sizes_.of.head_dim, turns_of(tokens[i]));
    return seen;
  }

  Row cached(const std::vector<Half>& cache, std::uint32_t sequence, std::uint32_t token) const {
    const std::uint32_t page =
        in_.pages[sequence * sizes_.pages_of_sequence() + token / sizes_.page];
    const std::size_t slot = std::size_t{page} * sizes_.page + token % sizes_.page;
    Row row(sizes_.of.kv_numbers());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = to_float(cache[slot * row.size() + i]);
    return row;
  }

  // Prefill: of the whole sequence, kept for its other tokens.
  const Seen& seen_by(std::uint32_t token) {
    const std::uint32_t sequence = sizes_.decode ? token : token / sizes_.sequence;
    if (const auto known = sequences_.find(sequence); known != sequences_.end())
      return known->second;
    Seen seen;
    if (sizes_.decode) {
      for (std::uint32_t before = 0; before + 1 < in_.lengths[sequence]; ++before) {
        seen.keys.push_back(cached(in_.keys, sequence, before));
        seen.values.push_back(cached(in_.values, sequence, before));
      }
      const Seen own = computed({token});
      seen.keys.push_back(own.keys[0]);
      seen.values.push_back(own.values[0]);
    } else {
      std::vector<std::uint32_t> tokens(sizes_.sequence);
      for (std::uint32_t i = 0; i < sizes_.sequence; ++i)
        tokens[i] = sequence * sizes_.sequence + i;
      seen = computed(tokens);
    }
    return sequences_.emplace(sequence, std::move(seen)).first->second;
  }

  Row attention(const Row& queries, std::uint32_t token) {
    const Heads& of = sizes_.of;
    const Seen& seen = seen_by(token);
    const std::size_t count = in_.positions[token] + 1;
    Row out(queries.size());
    for (std::uint32_t head = 0; head < of.heads; ++head) {
      const std::size_t at = std::size_t{head / of.group()} * of.head_dim;
      std::vector<const float*> keys(count), values(count);
      for (std::size_t i = 0; i < count; ++i) {
        keys[i] = &seen.keys[i][at];
        values[i] = &seen.values[i][at];
      }
      const std::size_t first = std::size_t{head} * of.head_dim;
      const Attended attended_to =
          attended(&queries[first], keys, values, of.head_dim, double{of.scale()});
      for (std::size_t i = 0; i < of.head_dim; ++i) out[first + i] = rounded(attended_to.values[i]);
    }
    return out;
  }

  const LayerInputs& in_;
  const LayerSizes& sizes_;
  std::map<std::uint32_t, Seen> sequences_;
};

}  // namespace

LayerRows layer_reference(const LayerInputs& inputs, const std::vector<std::uint32_t>& tokens) {
  return Reference(inputs).rows(tokens);
}

}  // namespace raddle::workloads
