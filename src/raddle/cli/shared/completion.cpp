// Completion scripts for shells, from the tables of commands and options.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/cli/shared/reference.h"

namespace raddle::cli {

namespace {

using Words = std::vector<std::string>;

/// What may stand behind an option or as a positional; nothing known means files.
Words words_for(const std::string& command, const OptionReference& option,
                const KnownNames& names) {
  if (!option.choices.empty()) return option.choices;
  const std::string& name = option.names.front();
  if (name == "--gpu") return names.gpus;
  if (name == "--policy" || name == "--policies") return names.policies;
  if (command == "reproduce" && !name.starts_with("-")) return names.experiments;
  const bool takes_work = command == "run" || command == "compare" || command == "record" ||
                          command.starts_with("analyze ");
  return takes_work && !name.starts_with("-") ? names.workloads : Words{};
}

std::string spaced(const Words& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

Words option_names(const CommandReference& command) {
  Words out;
  for (const OptionReference& option : command.options)
    out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

Words commands_below(const std::vector<CommandReference>& all, const std::string& above) {
  Words out;
  for (const CommandReference& command : all) {
    const std::string prefix = above.empty() ? "" : above + " ";
    if (command.name.empty() || !command.name.starts_with(prefix)) continue;
    const std::string rest = command.name.substr(prefix.size());
    if (!rest.empty() && rest.find(' ') == std::string::npos) out.push_back(rest);
  }
  return out;
}

/// Words of the positionals, of subcommands and of the options.
Words first_words(const std::vector<CommandReference>& all, const CommandReference& command,
                  const KnownNames& names) {
  Words out = commands_below(all, command.name);
  for (const OptionReference& positional : command.positionals)
    for (const std::string& word : words_for(command.name, positional, names))
      if (std::ranges::find(out, word) == out.end()) out.push_back(word);
  return out;
}

std::string bash(const std::vector<CommandReference>& all, const KnownNames& names) {
  std::string options, words;
  for (const CommandReference& command : all) {
    for (const OptionReference& option : command.options) {
      if (option.value.empty()) continue;
      Words patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("'{} {}'", command.name, name));
      const Words values = words_for(command.name, option, names);
      options += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n",
                             spaced(patterns, " | "),
                             values.empty() ? "-f"
                                            : (option.names.front() == "--gpu" ? "-f " : "") +
                                                  std::string("-W '") + spaced(values) + "'");
    }
    const Words first = first_words(all, command, names);
    words += fmt::format("    '{}') options='{}' words='{}' ;;\n", command.name,
                         spaced(option_names(command)), spaced(first));
  }
  return fmt::format(R"(# bash completion of raddle, made by `raddle help --completion bash`.
_raddle() {{
  local at=$COMP_CWORD cur=${{COMP_WORDS[COMP_CWORD]}} prev prefix=''
  # Bash takes "level=name" and "--option=value" for three words.
  [ "$cur" = = ] && cur='' && at=$((at + 1))
  if [ "${{COMP_WORDS[at-1]}}" = = ]; then
    prev=${{COMP_WORDS[at-2]}}
    [[ $prev == --* ]] || {{ prefix=$prev= cur=$prev=$cur prev=${{COMP_WORDS[at-3]}}; }}
  else prev=${{COMP_WORDS[at-1]}}; fi
  _raddle_words
  COMPREPLY=("${{COMPREPLY[@]#"$prefix"}}")
}}
_raddle_words() {{
  local command='' options='' words='' word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    # Behind -- stands a program of the user's.
    [ "$word" = -- ] && {{ COMPREPLY=($(compgen -f -- "$cur")); return; }}
    case " {} " in *" $word "*) [ -n "$command" ] || command=$word ;; esac
    [ "$command" = analyze ] && case " {} " in *" $word "*) command="analyze $word" ;; esac
  done
  case "$command $prev" in
{}  esac
  case $command in
{}  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
  # No command is a file.
  [[ $cur == -* || -z $command ]] || COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _raddle raddle
)",
                     spaced(commands_below(all, "")), spaced(commands_below(all, "analyze")),
                     options, words);
}

/// For zsh's and fish's single quotes.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A message of zsh's _arguments ends at ']' and ':'.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh(const std::vector<CommandReference>& all, const KnownNames& names) {
  std::string cases;
  for (const CommandReference& command : all) {
    cases += fmt::format("    {})\n      specs=(\n", single_quoted(command.name));
    for (const OptionReference& option : command.options)
      for (const std::string& name : option.names) {
        const Words values = words_for(command.name, option, names);
        std::string value;
        if (!option.value.empty())
          value = fmt::format(":{}:{}", zsh_text(option.value),
                              values.empty() ? "_files" : "(" + spaced(values) + ")");
        cases +=
            "        " +
            single_quoted(fmt::format("*{}[{}]{}", name, zsh_text(option.description), value)) +
            "\n";
      }
    const Words first = first_words(all, command, names);
    cases += fmt::format("      )\n      words_here=({}) ;;\n", spaced(first));
  }
  return fmt::format(R"(#compdef raddle
# zsh completion of raddle, made by `raddle help --completion zsh`.
_raddle() {{
  local command='' word
  local -a specs words_here
  for word in ${{words[2,CURRENT-1]}}; do
    [[ $word == -- ]] && {{ _files; return }}
    [[ -z $command && " {} " == *" $word "* ]] && command=$word
    [[ $command == analyze && " {} " == *" $word "* ]] && command="analyze $word"
  done
  case $command in
{}  esac
  _arguments -S : $specs '*:word:_raddle_words'
}}
_raddle_words() {{
  compadd -a words_here
  [[ -z $command ]] || _files
}}
_raddle "$@"
)",
                     spaced(commands_below(all, "")), spaced(commands_below(all, "analyze")),
                     cases);
}

std::string fish(const std::vector<CommandReference>& all, const KnownNames& names) {
  std::string out = "# fish completion of raddle, made by `raddle help --completion fish`.\n";
  for (const CommandReference& command : all) {
    std::string when = "'not __fish_seen_subcommand_from " + spaced(commands_below(all, "")) + "'";
    if (!command.name.empty()) {
      when = "'";
      std::string_view rest = command.name;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        when += fmt::format("{}__fish_seen_subcommand_from {}", when == "'" ? "" : "; and ",
                            rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      when += "'";
    }
    const Words first = first_words(all, command, names);
    if (!first.empty())
      out += fmt::format("complete -c raddle -n {} -a {}\n", when, single_quoted(spaced(first)));
    for (const OptionReference& option : command.options) {
      std::string line = "complete -c raddle -n " + when;
      for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const Words values = words_for(command.name, option, names);
      if (!option.value.empty()) line += " -r";
      if (!values.empty()) line += " -f -a " + single_quoted(spaced(values));
      out += line + " -d " + single_quoted(option.description) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion(const std::vector<CommandReference>& all, const KnownNames& names,
                       const std::string& shell) {
  if (shell == "bash") return bash(all, names);
  if (shell == "zsh") return zsh(all, names);
  RADDLE_ASSERT(shell == "fish");
  return fish(all, names);
}

}  // namespace raddle::cli
