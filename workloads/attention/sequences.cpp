#include "attention/sequences.h"

#include <algorithm>
#include <cmath>

#include "common/attended.h"
#include "common/compare.h"
#include "raddle/base/rng.h"

namespace raddle::workloads {

namespace {

constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30;
constexpr double kQueryLimit = 4, kValueLimit = 2;  // of keys, too
constexpr std::size_t kRowsChecked = 512;

}  // namespace

std::vector<std::string> AttentionForm::violations() const {
  std::vector<std::string> all;
  if (of.head_dim != 64 && of.head_dim != 128)
    all.push_back("head_dim must be 64 or 128, is " + std::to_string(of.head_dim));
  if (of.heads % of.kv_heads != 0)
    all.push_back("heads must be a multiple of kv_heads, is " + std::to_string(of.heads));
  if (std::uint64_t{batch} * sequence * of.query_numbers() > kMaxNumbers)
    all.push_back("batch * sequence * heads * head_dim must not exceed 2^30");
  return all;
}

void AttentionSequences::make(const AttentionForm& form, std::uint64_t seed,
                              const std::string& path) {
  form_ = form;
  seed_ = seed;
  path_ = path;
  const std::size_t queries = form.prefill ? form.tokens() : form.batch;
  query_ = random_halves(seed, path + "/query", queries * form.of.query_numbers(), kQueryLimit);
  key_ = random_halves(seed, path + "/key", form.tokens() * form.of.kv_numbers(), kValueLimit);
  value_ = random_halves(seed, path + "/value", form.tokens() * form.of.kv_numbers(), kValueLimit);
  Rng rng(seed, path + "/lengths");
  lengths_.assign(form.batch, form.sequence);
  if (form.prefill) return;
  for (std::uint32_t i = 1; i < form.batch; ++i)
    lengths_[i] = form.sequence - rng.below(form.sequence / 2 + 1);
}

std::vector<Half> AttentionSequences::paged(const std::vector<Half>& rows,
                                            const std::vector<std::uint32_t>& order,
                                            std::uint32_t page) const {
  const std::size_t row = form_.of.kv_numbers();
  const std::size_t of_sequence = order.size() / form_.batch;
  std::vector<Half> out(order.size() * page * row);
  for (std::size_t sequence = 0; sequence < form_.batch; ++sequence)
    for (std::size_t token = 0; token < form_.sequence; ++token) {
      const std::size_t at = order[sequence * of_sequence + token / page];
      const Half* const from = &rows[(sequence * form_.sequence + token) * row];
      std::copy(from, from + row, &out[(at * page + token % page) * row]);
    }
  return out;
}

std::string AttentionSequences::check(const std::vector<Half>& out) {
  if (out.size() != query_.size()) return length_text("out", query_.size(), out.size());
  const std::size_t rows = query_.size() / form_.of.head_dim;
  queries_ = to_floats(query_);
  keys_ = to_floats(key_);
  values_ = to_floats(value_);
  if (rows <= kRowsChecked) {
    for (std::size_t row = 0; row < rows; ++row)
      if (auto wrong = wrong_row(out, row); !wrong.empty()) return wrong;
    return "";
  }
  Rng rng(seed_, path_ + "/check");
  for (std::size_t i = 0; i < kRowsChecked; ++i) {
    const std::size_t drawn = rng.below(static_cast<std::uint32_t>(rows));
    if (auto wrong = wrong_row(out, i == 0 ? 0 : i == 1 ? rows - 1 : drawn); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string AttentionSequences::wrong_row(const std::vector<Half>& out, std::size_t row) const {
  const Heads& of = form_.of;
  const std::size_t query = row / of.heads, head = row % of.heads;
  const std::size_t sequence = form_.prefill ? query / form_.sequence : query;
  const std::size_t seen =
      form_.prefill && form_.causal ? query % form_.sequence + 1 : lengths_[sequence];
  std::vector<const float*> keys(seen), values(seen);
  for (std::size_t token = 0; token < seen; ++token) {
    const std::size_t at =
        (sequence * form_.sequence + token) * of.kv_numbers() + head / of.group() * of.head_dim;
    keys[token] = &keys_[at];
    values[token] = &values_[at];
  }
  const std::size_t first = row * of.head_dim;
  const Attended expected =
      attended(&queries_[first], keys, values, of.head_dim, double{of.scale()});
  for (std::size_t i = 0; i < of.head_dim; ++i) {
    const double got = to_float(out[first + i]);
    double error = expected.errors[i];
    if (form_.half_weights)
      error += expected.magnitudes[i] * kHalfRoundoff +
               static_cast<double>(seen) * kHalfStep * kValueLimit;
    const double allowed = half_tolerance(expected.values[i], error);
    if (!(std::abs(got - expected.values[i]) <= allowed))
      return difference_text("out", first + i, expected.values[i], got, allowed);
  }
  return "";
}

}  // namespace raddle::workloads
