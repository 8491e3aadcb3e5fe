#include "raddle/lab/file/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "raddle/base/error.h"

namespace raddle::lab {

namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Adds the values of "8..32:8", or one value.
void add_item(std::string_view item, SweepText& sweep) {
  const std::size_t dots = item.find("..");
  if (dots == std::string_view::npos) {
    if (item.empty())
      throw InputError({sweep.origin}, "expected values with commas between them, found nothing");
    sweep.values.emplace_back(item);
    return;
  }
  const std::size_t colon = std::min(item.find(':', dots), item.size());
  const auto from = whole(item.substr(0, dots)),
             to = whole(item.substr(dots + 2, colon - dots - 2)),
             step = colon == item.size() ? 1 : whole(item.substr(colon + 1));
  if (!from || !to || !step || *step < 1)
    throw InputError({sweep.origin}, fmt::format("expected a range of whole numbers such as 1..32 "
                                                 "or 8..64:8, found '{}'",
                                                 item));
  if (*from > *to)
    throw InputError({sweep.origin}, fmt::format("expected a range with something in it, found "
                                                 "'{}', which is empty",
                                                 item));
  const auto steps = (static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(*from)) /
                     static_cast<std::uint64_t>(*step);
  if (steps >= kMaxSwept)
    throw InputError({sweep.origin},
                     fmt::format("expected at most {} values, found '{}'", kMaxSwept, item));
  for (std::uint64_t i = 0; i <= steps; ++i)
    sweep.values.push_back(std::to_string(*from + static_cast<std::int64_t>(i) * *step));
}

}  // namespace

SweepText read_sweep(const std::string& text, const std::string& origin) {
  SweepText out;
  out.origin = origin;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError({origin},
                     fmt::format("expected PATH=A,B or PATH=FIRST..LAST, found '{}'", text));
  out.path = text.substr(0, equals);
  for (std::string_view rest = std::string_view(text).substr(equals + 1);;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    add_item(rest.substr(0, comma), out);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  std::vector<std::string> sorted = out.values;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw InputError({origin}, fmt::format("the value {} is there twice", *twice));
  return out;
}

}  // namespace raddle::lab
