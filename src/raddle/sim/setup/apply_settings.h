// Settings that come after a machine's file: of the command line, of an experiment, of Python. A
// number may be given as a factor of what it would be otherwise: l2.size_kib=x2.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "raddle/config/tree.h"
#include "raddle/policy/all.h"

namespace raddle::sim {

struct GivenSetting {
  std::string path, value;  ///< value: as for Tree::set
  std::string origin;       ///< stands for the file in errors
};

/// Splits "path=value". Throws InputError where there is no '='.
GivenSetting given_setting(std::string_view text, const std::string& origin);

/// "x2", "x0.5", in quotes or not: a factor, where the setting is a number.
bool is_factor(std::string_view value);
/// 2 of "x2". Throws InputError where it is none.
double factor_of(const GivenSetting& setting);

/// Sets them in order, then those that are factors: each multiplies what `tree` says by then, or
/// the value that is simulated where it says nothing. A whole number stays one; what is none then,
/// or out of its range, is refused by read_setup() as any such value. Throws InputError where a
/// factor is none (x0, x-1, xa), of 0, of a seed, or of what is no size of its own (sm.l1d.size_kib
/// of an L1D that shares its memory).
void apply_settings(config::Tree& tree, std::span<const GivenSetting> settings,
                    const policy::Registries& policies);

/// The number at `path` as it would be written, "256" or "0.5"; "" where there is none.
std::string number_text(const config::Tree& tree, std::string_view path);

}  // namespace raddle::sim
