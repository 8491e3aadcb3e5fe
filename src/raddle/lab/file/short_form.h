// What a file that stands alone may leave out: definitions of which the name says everything, and
// figures. experiments/README.md, "Three lines".
#pragma once
#include <string>

#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// "bfs size=tiny", "my.ptx kernel=fill", "my.rdl" or "-- ./program arguments" becomes a workload.
/// Returns its position. Throws InputError.
std::size_t define_workload(Experiment& e, const PlacedText& text, Scale scale);
/// An entry of --policies becomes a variant: "gto+swl:limit=4".
std::size_t define_variant(Experiment& e, const PlacedText& text);
/// "l2.size_kib=96,192" or "policy.throttle.limit=1..32" becomes an axis.
std::size_t define_axis(Experiment& e, const PlacedText& text);

/// Figures as a file would have them, in TOML: the speed-up over the first variant or point, and
/// the IPC, of each [[runs]]; along its first axis, at each point of the others.
std::string default_figures(const Experiment& e);

/// A folder's or file's name as an id: what is no letter, digit, '.', '_' or '-' becomes '_'.
std::string id_from(const std::string& name);

}  // namespace raddle::lab
