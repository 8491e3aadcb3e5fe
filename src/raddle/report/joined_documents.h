// Sweeps of single files of one folder are documents of one paper: they become one.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace raddle::report {

/// A document for each paper, in order of their first: experiments one after the other, commands
/// too, of the latest date. Where their machines differ it names none: what each experiment changes
/// is told with it. Throws InputError when a document is not sound, an experiment is there twice,
/// or two of one paper are of different scales or builds of the program.
std::vector<nlohmann::ordered_json> joined_documents(
    std::span<const nlohmann::ordered_json> documents);

}  // namespace raddle::report
