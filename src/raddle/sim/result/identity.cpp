#include "raddle/sim/result/identity.h"

#include <xxhash.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/base/files.h"

namespace raddle::sim {

namespace fs = std::filesystem;

namespace {

/// The file that an argument names, or "".
fs::path named_file(const std::string& argument, const fs::path& folder) {
  std::error_code error;
  for (const std::string& word : {argument, argument.substr(argument.find('=') + 1)})
    if (const fs::path file = folder / word; !word.empty() && fs::is_regular_file(file, error))
      return file;
  return {};
}

}  // namespace

std::uint64_t hash_of_file(const std::string& path, std::uint64_t seed) {
  std::ifstream in = open_input(path, "a file");
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(),
                                                                         &XXH64_freeState);
  XXH64_reset(state.get(), seed);
  const auto transaction = std::make_unique<std::array<char, 1 << 18>>();
  while (in.read(transaction->data(), transaction->size()), in.gcount() > 0)
    XXH64_update(state.get(), transaction->data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) throw InputError({path}, "cannot be read");
  return XXH64_digest(state.get());
}

std::uint64_t hash_of_program(const std::string& path, std::span<const std::string> arguments,
                              const std::string& folder, std::span<const std::string> inputs) {
  std::uint64_t hash = hash_of_file(path);
  for (const std::string& argument : arguments) {
    hash = XXH64(argument.data(), argument.size(), hash);
    if (const fs::path file = named_file(argument, folder); !file.empty())
      hash = hash_of_file(file.string(), hash);
  }
  for (const std::string& input : inputs)
    hash = hash_of_file((fs::path(folder) / input).string(), hash);
  return hash;
}

}  // namespace raddle::sim
