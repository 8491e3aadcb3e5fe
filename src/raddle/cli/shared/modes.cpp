#include "raddle/cli/shared/modes.h"

#include "raddle/base/error.h"

namespace raddle::cli {

namespace {

std::string_view name_of(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

}  // namespace

CLI::Option* OptionModes::add(CLI::Option* option, ModeSet modes) {
  RADDLE_ASSERT(option != nullptr);
  const bool fresh = modes_.emplace(option, modes).second;
  RADDLE_ASSERT(fresh);
  order_.push_back(option);
  return option;
}

void OptionModes::change(const CLI::App& command, const std::string& name, ModeSet modes) {
  const CLI::Option* option = command.get_option(name);
  RADDLE_ASSERT(knows(option));
  modes_.at(option) = modes;
}

void OptionModes::add_others(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional() && option != command.get_help_ptr() &&
        modes_.emplace(option, of_command_).second)
      order_.push_back(option);
}

void OptionModes::check(Mode mode) const {
  RADDLE_ASSERT(of_command_.contains(mode));
  for (const CLI::Option* option : order_) {
    const ModeSet modes = of(option);
    if (option->count() == 0 || modes.contains(mode)) continue;
    std::string others;
    for (std::size_t i = 0; i < kModeNames.size(); ++i) {
      const auto other = static_cast<Mode>(i);
      if (!modes.contains(other) || !of_command_.contains(other)) continue;
      others += (others.empty() ? "; it is for " : ", ") + std::string(name_of(other));
    }
    throw InputError(command_ + ": " + option->get_name() + " does not hold for " +
                     std::string(name_of(mode)) + ": leave it out" + others);
  }
}

}  // namespace raddle::cli
