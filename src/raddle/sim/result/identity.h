// What ran, when it is none of our workloads: a hash that tells two programs, or two recordings,
// from one another, as `input_hash` of results and in the keys of the laboratory.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace raddle::sim {

/// xxh64 over the bytes of a file. Throws InputError when it cannot be read.
std::uint64_t hash_of_file(const std::string& path, std::uint64_t seed = 0);

/// Of a CUDA program and what it is given: the file itself, its arguments, the content of every
/// file that an argument names (whole, or behind '='; seen from `folder`, in which the program
/// runs), and of `inputs`. Not looked at: what it opens by names of its own.
std::uint64_t hash_of_program(const std::string& path, std::span<const std::string> arguments,
                              const std::string& folder, std::span<const std::string> inputs = {});

}  // namespace raddle::sim
