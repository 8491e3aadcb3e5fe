#include "raddle/cli/shared/reference.h"

#include <algorithm>
#include <utility>

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

/// CLI11 appends what checks say to the type: "TEXT:{quick,full}", "FILE.h:UINT in [1 - 8]".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> out;
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return out;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1)) {
    if (c != ',') word += c;
    else out.push_back(std::exchange(word, ""));
  }
  out.push_back(word);
  return out;
}

OptionReference option_of(const CLI::Option& option) {
  OptionReference out;
  const std::string type = option.get_type_name();
  if (option.get_positional()) {
    out.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  }
  out.choices = choices_in(type);
  // A flag takes no word of its own.
  if (option.get_items_expected_max() != 0) out.value = type.substr(0, type.find(':'));
  if (!out.choices.empty()) {
    out.value = "";
    for (const std::string& choice : out.choices)
      out.value += (out.value.empty() ? "" : "|") + choice;
  }
  out.description = option.get_description();
  out.initial = option.get_default_str();
  out.group = option.get_group();
  return out;
}

void add(const CLI::App& app, const std::string& name, std::vector<CommandReference>& all) {
  CommandReference& out = all.emplace_back();
  out.name = name;
  out.description = app.get_description();
  out.footer = app.get_parent() != nullptr && app.get_footer() == app.get_parent()->get_footer()
                   ? ""
                   : app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // not listed in the help either
    (option->get_positional() ? out.positionals : out.options).push_back(option_of(*option));
  }
  const auto listed = app.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_group().empty() && !sub->get_name().empty(); });
  for (const CLI::App* sub : listed)
    add(*sub, name.empty() ? sub->get_name() : name + " " + sub->get_name(), all);
}

Json to_json(const OptionReference& option) {
  Json out = {{"names", option.names}, {"doc", option.description}};
  if (!option.value.empty()) out["value"] = option.value;
  if (!option.initial.empty()) out["default"] = option.initial;
  if (!option.choices.empty()) out["choices"] = option.choices;
  if (!option.group.empty()) out["group"] = option.group;
  return out;
}

/// Text for troff: no character of it is a request.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += {'\\', '&', c};
    else out += c;
  }
  return out;
}

std::string man_option(const OptionReference& option, bool positional) {
  std::string out = ".TP\n", names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
  out += names;
  if (!option.value.empty() && !positional) out += " \\fI" + escaped(option.value) + "\\fR";
  std::string text = option.description.empty() ? "see above" : option.description;
  if (positional && !option.value.empty()) text += ": " + option.value;
  if (!option.initial.empty()) text += " (default: " + option.initial + ")";
  return out + "\n" + escaped(text) + "\n";
}

}  // namespace

std::vector<CommandReference> reference_of(const CLI::App& app) {
  std::vector<CommandReference> out;
  add(app, "", out);
  return out;
}

Json to_json(const std::vector<CommandReference>& all) {
  Json out = Json::array();
  for (const CommandReference& command : all) {
    Json one = {{"name", command.name}, {"doc", command.description}, {"footer", command.footer}};
    for (const OptionReference& option : command.positionals)
      one["positionals"].push_back(to_json(option));
    for (const OptionReference& option : command.options) one["options"].push_back(to_json(option));
    out.push_back(std::move(one));
  }
  return out;
}

std::string man_page(const std::vector<CommandReference>& all, const std::string& version) {
  std::string out = ".\\\" Made by `raddle help --man`.\n.TH RADDLE 1 \"\" \"raddle " +
                    escaped(version) + "\" \"User Commands\"\n.SH NAME\nraddle \\- " +
                    "cycle-level GPU simulator and laboratory for scheduling\n" +
                    ".SH SYNOPSIS\n\\fBraddle\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]\n" +
                    ".SH DESCRIPTION\n" + escaped(all.front().description) + ".\n";
  for (const OptionReference& option : all.front().options) out += man_option(option, false);
  out += ".SH COMMANDS\n";
  for (const CommandReference& command : all) {
    if (command.name.empty()) continue;
    out += ".SS raddle " + escaped(command.name);
    for (const OptionReference& one : command.positionals) out += " " + escaped(one.names.front());
    out += "\n" + escaped(command.description) + "\n";
    for (const OptionReference& one : command.positionals) out += man_option(one, true);
    for (const OptionReference& one : command.options)
      if (one.names.front() != "--help") out += man_option(one, false);
    if (!command.footer.empty()) out += ".PP\n.nf\n" + escaped(command.footer) + "\n.fi\n";
  }
  return out + ".SH EXIT STATUS\n.nf\n" + escaped(all.front().footer) +
         "\n.fi\n.SH SEE ALSO\nThe pages in /usr/share/doc/raddle (where it was installed so), "
         "\\fBnvcc\\fR(1)\n";
}

}  // namespace raddle::cli
