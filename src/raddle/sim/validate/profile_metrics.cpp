#include "raddle/sim/validate/profile_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "raddle/base/error.h"

namespace raddle::sim {

namespace {

/// Of what a metric is, as its unit must say.
enum class Dimension : std::uint8_t { Count, Time, Bytes, BytesPerSecond, Share, PerCycle };

struct ProfilersName {
  std::string_view name;
  Said said;
  Dimension dimension;
};

/// Labels are those that the tool's sections give their metrics.
constexpr auto kProfilersNames = std::to_array<ProfilersName>({
    {"sm__cycles_elapsed.max", Said::Cycles, Dimension::Count},
    {"gpc__cycles_elapsed.max", Said::Cycles, Dimension::Count},
    {"Elapsed Cycles", Said::Cycles, Dimension::Count},
    {"sm__cycles_elapsed.avg", Said::Cycles, Dimension::Count},
    {"gpc__cycles_elapsed.avg", Said::Cycles, Dimension::Count},
    {"gpu__time_duration.sum", Said::Time, Dimension::Time},
    {"gpu__time_duration.max", Said::Time, Dimension::Time},
    {"gpu__time_duration.avg", Said::Time, Dimension::Time},
    {"gpu__time_duration_measured_gpu.sum", Said::Time, Dimension::Time},
    {"Duration", Said::Time, Dimension::Time},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Said::L1LoadSectors, Dimension::Count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", Said::L1LoadHits,
     Dimension::Count},
    {"l1tex__t_sectors.sum", Said::L1Sectors, Dimension::Count},
    {"l1tex__t_sectors_lookup_hit.sum", Said::L1Hits, Dimension::Count},
    {"l1tex__t_sector_hit_rate.pct", Said::L1Rate, Dimension::Share},
    {"L1/TEX Hit Rate", Said::L1Rate, Dimension::Share},
    {"lts__t_sectors.sum", Said::L2Sectors, Dimension::Count},
    {"lts__t_sectors_lookup_hit.sum", Said::L2Hits, Dimension::Count},
    {"lts__t_sector_hit_rate.pct", Said::L2Rate, Dimension::Share},
    {"L2 Hit Rate", Said::L2Rate, Dimension::Share},
    {"dram__bytes.sum", Said::DramBytes, Dimension::Bytes},
    {"dram__bytes_read.sum", Said::DramRead, Dimension::Bytes},
    {"dram__bytes_op_read.sum", Said::DramRead, Dimension::Bytes},
    {"dram__bytes_write.sum", Said::DramWritten, Dimension::Bytes},
    {"dram__bytes_op_write.sum", Said::DramWritten, Dimension::Bytes},
    {"dram__bytes.sum.per_second", Said::DramRate, Dimension::BytesPerSecond},
    {"Memory Throughput", Said::DramRate, Dimension::BytesPerSecond},
    {"smsp__inst_executed.sum", Said::Instructions, Dimension::Count},
    {"sm__inst_executed.sum", Said::Instructions, Dimension::Count},
    {"Executed Instructions", Said::Instructions, Dimension::Count},
    {"sm__inst_executed.avg.per_cycle_elapsed", Said::Ipc, Dimension::PerCycle},
    {"Executed Ipc Elapsed", Said::Ipc, Dimension::PerCycle},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Said::BusyDram, Dimension::Share},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Said::BusyDram, Dimension::Share},
    {"DRAM Throughput", Said::BusyDram, Dimension::Share},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", Said::BusyL2, Dimension::Share},
    {"L2 Cache Throughput", Said::BusyL2, Dimension::Share},
    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", Said::BusyL1, Dimension::Share},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", Said::BusyL1, Dimension::Share},
    {"L1/TEX Cache Throughput", Said::BusyL1, Dimension::Share},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Said::BusySm, Dimension::Share},
    {"Compute (SM) Throughput", Said::BusySm, Dimension::Share},
});

/// Takes "K", "M", "G" or "T" from a unit's front: the tool's prefixes are powers of ten.
double take_prefix(std::string_view& unit) {
  constexpr std::string_view kPrefixes = "KMGT";
  const std::size_t power = unit.empty() ? std::string_view::npos : kPrefixes.find(unit.front());
  if (power == std::string_view::npos) return 1;
  unit.remove_prefix(1);
  return std::pow(1000.0, static_cast<double>(power + 1));
}

[[noreturn]] void refuse_unit(std::string_view unit, std::string_view expected) {
  throw InputError(fmt::format("expected a unit such as {}, found '{}'", expected, unit));
}

double bytes_in(std::string_view unit) {
  const std::string_view written = unit;
  const double factor = take_prefix(unit);
  if (unit != "byte" && unit != "bytes" && unit != "B")
    refuse_unit(written, "byte, Kbyte or Mbyte");
  return factor;
}

double count_in(std::string_view unit) {
  const double factor = take_prefix(unit);
  return unit.empty() || std::islower(static_cast<unsigned char>(unit.front())) != 0 ? factor : 1;
}

/// What the value is to be multiplied with. NaN where the name means something else in that unit.
double factor_of(const ProfilersName& name, std::string_view unit) {
  switch (name.dimension) {
    case Dimension::Time:
      return microseconds_in(unit);
    case Dimension::Bytes:
      return bytes_in(unit);
    case Dimension::BytesPerSecond: {
      const std::size_t slash = unit.find('/');
      // "Memory Throughput" is also a share of the peak, of another section.
      if (slash == std::string_view::npos) return kNotMeasured;
      return bytes_in(unit.substr(0, slash)) / (microseconds_in(unit.substr(slash + 1)) / 1e6);
    }
    case Dimension::Share:
      if (!unit.empty() && unit != "%" && unit != "pct") refuse_unit(unit, "%");
      return 0.01;
    case Dimension::Count:
      return count_in(unit);
    case Dimension::PerCycle:
      return 1;
  }
  return 1;
}

/// Hits and all sectors are counted in different passes, whose caches differ a little.
double rate_of_sectors(double hits, double all) {
  constexpr double kPassesDiffer = 0.02;
  if (all == 0 || hits > (1 + kPassesDiffer) * all) return kNotMeasured;
  return std::min(hits / all, 1.0);
}

double first_known(std::initializer_list<double> values) {
  for (const double value : values)
    if (!std::isnan(value)) return value;
  return kNotMeasured;
}

}  // namespace

namespace {
/// Commas that stand as those of thousands do: three digits behind each, and a digit before.
bool are_of_thousands(std::string_view digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  for (std::size_t at = digits.find(','); at != std::string_view::npos;
       at = digits.find(',', at + 1)) {
    const std::size_t next = std::min(digits.find(',', at + 1), whole);
    if (at == 0 || at > whole || next - at != 4) return false;
  }
  return true;
}
}  // namespace

double profiled_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ' ');
  if (!are_of_thousands(digits))
    throw InputError(
        fmt::format("expected a number whose commas are those of thousands, found '{}'", text));
  std::erase(digits, ',');
  if (digits.empty() || digits == "n/a" || digits == "N/A" || digits == "nan") return kNotMeasured;
  double out = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, out);
  if (error != std::errc() || stop != end || !std::isfinite(out) || out < 0)
    throw InputError(fmt::format("expected a number of at least 0, found '{}'", text));
  return out;
}

double microseconds_in(std::string_view unit) {
  const std::string_view written = unit;
  if (unit.starts_with('(') && unit.ends_with(')')) unit = unit.substr(1, unit.size() - 2);
  for (const auto& [prefix, factor] :
       {std::pair("n", 1e-3), std::pair("u", 1.0), std::pair("m", 1e3), std::pair("", 1e6)})
    for (const std::string_view second : {"s", "sec", "second", "seconds"})
      if (unit == prefix + std::string(second)) return factor;
  refuse_unit(written, "ns, us, ms or s");
}

void Sayings::add(const std::string& name, const std::string& unit, const std::string& value) {
  const auto found =
      std::ranges::find(kProfilersNames, std::string_view(name), &ProfilersName::name);
  if (found == kProfilersNames.end()) return;
  const auto rank = static_cast<unsigned>(found - kProfilersNames.begin()) + 1;
  const auto said = static_cast<std::size_t>(found->said);
  if (rank_[said] != 0 && rank_[said] <= rank) return;
  try {
    const double number = profiled_number(value);
    if (std::isnan(number)) return;
    if (number == 0 && (found->said == Said::Cycles || found->said == Said::Time))
      throw InputError("expected a launch that takes time, found 0");
    const double factor = factor_of(*found, unit);
    if (std::isnan(factor)) return;
    value_[said] = number * factor;
    rank_[said] = rank;
  } catch (const InputError& error) {
    throw InputError("'" + name + "': " + error.what());
  }
}

void Sayings::fill(ProfiledLaunch& launch, std::string& l1_rate_of) const {
  const Sayings& said = *this;
  launch.value.fill(kNotMeasured);
  const auto set = [&](Metric metric, double value) {
    launch.value[static_cast<std::size_t>(metric)] = value;
  };
  launch.microseconds = said[Said::Time];
  set(Metric::Cycles, said[Said::Cycles]);
  set(Metric::Microseconds, said[Said::Time]);
  const double loads = rate_of_sectors(said[Said::L1LoadHits], said[Said::L1LoadSectors]),
               all = rate_of_sectors(said[Said::L1Hits], said[Said::L1Sectors]);
  set(Metric::L1HitRate, first_known({loads, all, said[Said::L1Rate]}));
  if (!std::isnan(loads)) l1_rate_of = "sectors of global loads that hit";
  else if (!std::isnan(first_known({all, said[Said::L1Rate]})))
    l1_rate_of = "sectors that hit, of loads and stores: stores find lines that were loaded";
  set(Metric::L2HitRate, first_known({rate_of_sectors(said[Said::L2Hits], said[Said::L2Sectors]),
                                      said[Said::L2Rate]}));
  set(Metric::DramBytes,
      first_known({said[Said::DramBytes], said[Said::DramRead] + said[Said::DramWritten],
                   said[Said::DramRate] * said[Said::Time] / 1e6}));
  set(Metric::WarpInstructions, said[Said::Instructions]);
  set(Metric::WarpIpc, said[Said::Ipc]);
  launch.busy = {said[Said::BusyDram], said[Said::BusyL2], said[Said::BusyL1], said[Said::BusySm]};
}

}  // namespace raddle::sim
