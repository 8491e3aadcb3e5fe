#include "raddle/sim/validate/profile_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "raddle/base/error.h"
#include "raddle/sim/validate/kernel_names.h"

namespace raddle::sim {

namespace {

/// A kernel of one side: its name and its launches, as positions.
struct PairedKernel {
  KernelName name;
  std::vector<std::size_t> launches;
};

template <class Launches, class NameOf>
std::vector<PairedKernel> kernels_of(const Launches& launches, NameOf name_of) {
  std::vector<PairedKernel> out;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::optional<std::string> name = name_of(launches[i]);
    if (!name) continue;
    const auto [at, first] = known.try_emplace(*name, out.size());
    if (first) out.push_back({kernel_name(*name), {}});
    out[at->second].launches.push_back(i);
  }
  return out;
}

std::string size_text(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

/// Which simulated kernels a kernel of the profile is.
struct PairedPartners {
  std::vector<std::size_t> kernels;
  std::string reason;  ///< where there are none
};

class ProfilePairing {
 public:
  ProfilePairing(const Profile& profile, const Result& result,
                 std::span<const Measurement> simulated)
      : profile_(profile),
        result_(result),
        simulated_(simulated),
        measured_kernels_(
            kernels_of(profile.launches,
                       [](const ProfiledLaunch& launch) { return std::optional(launch.kernel); })),
        simulated_kernels_(kernels_of(result.kernels, [](const KernelResult& kernel) {
          return kernel.parent ? std::nullopt : std::optional(kernel.name);
        })) {}

  ProfileComparison run(std::uint64_t skipped) {
    std::vector<PairedPartners> partners;
    for (const PairedKernel& kernel : measured_kernels_) partners.push_back(partners_of(kernel));
    refuse_shared(partners);
    std::set<std::size_t> paired;
    for (const PairedPartners& p : partners) paired.insert(p.kernels.begin(), p.kernels.end());
    skip(paired, skipped);
    for (std::size_t i = 0; i < partners.size(); ++i) pair(measured_kernels_[i], partners[i]);
    for (std::size_t i = 0; i < simulated_kernels_.size(); ++i)
      if (!paired.contains(i)) {
        const PairedKernel& kernel = simulated_kernels_[i];
        add_unpaired(false, kernel.name, kernel.launches.size(), 0, "not in the profile");
      }
    add_launches_by_kernels();
    std::ranges::sort(order_);
    for (const auto& [at, row] : order_) out_.launches.push_back(std::move(rows_[row]));
    return std::move(out_);
  }

 private:
  PairedPartners partners_of(const PairedKernel& kernel) const {
    NameMatch best = NameMatch::None;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < simulated_kernels_.size(); ++i) {
      const NameMatch how = match(kernel.name, simulated_kernels_[i].name);
      if (how == NameMatch::None || how < best) continue;
      if (how > best) found.clear();
      best = how;
      found.push_back(i);
    }
    if (found.empty()) return {{}, "no kernel of that name was simulated"};
    // A name alone may be that of several instances of a template: all of them, in their order.
    if (found.size() == 1 || (best == NameMatch::Base && kernel.name.bare)) return {found, ""};
    return {{},
            fmt::format("{} simulated kernels could be it: profile with mangled names (ncu "
                        "--print-kernel-base mangled, nsys cuda_gpu_trace:mangled)",
                        found.size())};
  }

  /// No simulated kernel is two of the profile's.
  void refuse_shared(std::vector<PairedPartners>& partners) const {
    std::vector<std::size_t> all(simulated_kernels_.size());
    for (const PairedPartners& p : partners)
      for (const std::size_t kernel : p.kernels) ++all[kernel];
    for (PairedPartners& p : partners)
      if (std::ranges::any_of(p.kernels, [&](std::size_t kernel) { return all[kernel] > 1; }))
        p = {{},
             "several kernels of the profile could be the simulated one: profile with mangled "
             "names"};
  }

  void skip(const std::set<std::size_t>& kernels, std::uint64_t skipped) {
    std::vector<std::pair<std::size_t, std::size_t>> all;  // launch, kernel
    for (const std::size_t kernel : kernels)
      for (const std::size_t launch : simulated_kernels_[kernel].launches)
        all.emplace_back(launch, kernel);
    std::ranges::sort(all);
    if (skipped > all.size())
      throw InputError(fmt::format(
          "--launch-skip {}: {} launches of kernels that the profile has were simulated", skipped,
          all.size()));
    for (const auto& [launch, kernel] : std::span(all).first(skipped))
      std::erase(simulated_kernels_[kernel].launches, launch);
  }

  void pair(const PairedKernel& kernel, const PairedPartners& partners) {
    std::vector<std::size_t> launches;
    for (const std::size_t i : partners.kernels)
      std::ranges::copy(simulated_kernels_[i].launches, std::back_inserter(launches));
    std::ranges::sort(launches);
    if (partners.kernels.empty()) {
      add_unpaired(true, kernel.name, count(kernel), 0, partners.reason);
      return;
    }
    if (profile_.means) pair_means(kernel, launches);
    else pair_in_order(kernel, launches);
  }

  std::uint64_t count(const PairedKernel& kernel) const {
    std::uint64_t out = 0;
    for (const std::size_t i : kernel.launches) out += profile_.launches[i].launches;
    return out;
  }

  void pair_in_order(const PairedKernel& kernel, const std::vector<std::size_t>& launches) {
    const std::size_t both = std::min(kernel.launches.size(), launches.size());
    for (std::size_t i = 0; i < both; ++i) {
      const ProfiledLaunch& measured = profile_.launches[kernel.launches[i]];
      const KernelResult& simulated = result_.kernels[launches[i]];
      const bool same = (!measured.grid || *measured.grid == simulated.grid) &&
                        (!measured.block || *measured.block == simulated.block);
      if (same) {
        add_row(kernel, std::to_string(i), kernel.launches[i], {launches[i]});
        continue;
      }
      const std::string reason =
          fmt::format("grid {} of blocks {} in the profile, {} of {} simulated",
                      measured.grid ? size_text(*measured.grid) : "of any size",
                      measured.block ? size_text(*measured.block) : "of any size",
                      size_text(simulated.grid), size_text(simulated.block));
      add_unpaired(true, kernel.name, 1, i, reason);
    }
    if (kernel.launches.size() > both)
      add_unpaired(true, kernel.name, kernel.launches.size() - both, both,
                   fmt::format("{} simulated", both));
    if (launches.size() > both)
      add_unpaired(false, kernel.name, launches.size() - both, both,
                   fmt::format("{} in the profile", both));
  }

  void pair_means(const PairedKernel& kernel, const std::vector<std::size_t>& launches) {
    const std::uint64_t there = count(kernel);
    if (kernel.launches.size() != 1 || there != launches.size()) {
      add_unpaired(true, kernel.name, there, 0,
                   kernel.launches.size() != 1 ? "several means of one kernel"
                                               : fmt::format("a mean of {} launches, {} simulated",
                                                             there, launches.size()));
      return;
    }
    add_row(kernel, fmt::format("mean of {}", there), kernel.launches.front(), launches);
  }

  void add_row(const PairedKernel& kernel, std::string launch, std::size_t measured,
               const std::vector<std::size_t>& simulated) {
    const ProfiledLaunch& from = profile_.launches[measured];
    ComparedLaunch row;
    row.kernel = kernel.name.full;
    row.launch = std::move(launch);
    row.measured = from.kernel;
    row.measured_value = from.value;
    row.measured_busy = from.busy;
    const auto all = static_cast<double>(simulated.size());
    for (const std::size_t i : simulated) {
      for (std::size_t m = 0; m < kMetrics; ++m)
        row.simulated_value[m] += simulated_[i].value[m] / all;
      for (std::size_t r = 0; r < kResources; ++r)
        row.simulated_busy[r] += result_.kernels[i].busy[r] / all;
    }
    order_.emplace_back(measured, rows_.size());
    rows_.push_back(std::move(row));
  }

  void add_unpaired(bool in_profile, const KernelName& kernel, std::uint64_t launches,
                    std::uint64_t first, const std::string& reason) {
    // Launches in a row for one reason are one entry.
    if (!out_.unpaired.empty()) {
      Unpaired& last = out_.unpaired.back();
      if (last.in_profile == in_profile && last.kernel == kernel.full && last.reason == reason &&
          last.first + last.launches == first) {
        last.launches += launches;
        return;
      }
    }
    out_.unpaired.push_back({in_profile, kernel.full, launches, first, reason});
  }

  void add_launches_by_kernels() {
    const std::vector<PairedKernel> children =
        kernels_of(result_.kernels, [](const KernelResult& kernel) {
          return kernel.parent ? std::optional(kernel.name) : std::nullopt;
        });
    for (const PairedKernel& kernel : children)
      add_unpaired(false, kernel.name, kernel.launches.size(), 0,
                   "launched by a kernel: a profiler counts it with the launch of the host");
  }

  const Profile& profile_;
  const Result& result_;
  std::span<const Measurement> simulated_;
  std::vector<PairedKernel> measured_kernels_, simulated_kernels_;
  std::vector<ComparedLaunch> rows_;
  std::vector<std::pair<std::size_t, std::size_t>> order_;  ///< launch of the profile, row
  ProfileComparison out_;
};

}  // namespace

ProfileComparison compare_profile(const Profile& profile, const Result& result,
                                  std::span<const Measurement> simulated, std::uint64_t skipped) {
  RADDLE_ASSERT(simulated.size() == result.kernels.size());
  return ProfilePairing(profile, result, simulated).run(skipped);
}

}  // namespace raddle::sim
