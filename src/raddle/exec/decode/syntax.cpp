#include "raddle/exec/decode/syntax.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/exec/decode/matrix_words.h"
#include "raddle/exec/decode/refusal.h"
#include "raddle/exec/decode/syntax_operands.h"
#include "raddle/ptx/names.h"

namespace raddle::exec {

/// Modifiers of which one stands there, or at most one.
struct ModifierGroup {
  std::vector<std::string_view> words;
  bool optional = false, named = false;  ///< named: a part of the instruction's name

  bool holds(std::string_view word) const {
    for (const std::string_view known : words)
      if (known == word) return true;
    return false;
  }
};

/// A form as it is compared with.
struct FormPattern {
  std::shared_ptr<const std::string> modifiers_text;  ///< which the groups' views are of
  std::vector<std::uint64_t> types;                   ///< sets of types
  bool any_types = false, any_modifiers = false, any_operands = false, has_name = false;
  std::vector<ModifierGroup> groups;
  std::vector<OperandPattern> operands;
  std::size_t required = 0;  ///< operands
  bool has_policy = false;   ///< the last operand, which stands where .L2::cache_hint does
};

namespace {

using ptx::Instruction;
using ptx::Type;
using Words = std::vector<std::string_view>;

Words split(std::string_view text, char at) {
  Words parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// With what "$name" stands for.
std::string spelled_out(std::string_view text) {
  std::string all;
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$')) {
    std::size_t end = at + 1;
    while (end < text.size() && (text[end] == '_' || (text[end] >= 'a' && text[end] <= 'z'))) ++end;
    all += text.substr(0, at);
    all += named_choice(text.substr(at + 1, end - at - 1));
    text.remove_prefix(end);
  }
  return all += text;
}

std::uint64_t bit_of(Type type) { return std::uint64_t{1} << static_cast<unsigned>(type); }

FormPattern pattern_of(const Form& form) {
  FormPattern made;
  const std::string types_text = spelled_out(form.types);
  made.modifiers_text = std::make_shared<const std::string>(spelled_out(form.modifiers));
  made.any_types = form.types == "*";
  if (!made.any_types)
    for (const std::string_view place : split(types_text, ' ')) {
      std::uint64_t set = 0;
      for (const std::string_view name : split(place, '|')) set |= bit_of(ptx::type_named(name));
      made.types.push_back(set);
    }
  for (std::string_view group : split(*made.modifiers_text, ' ')) {
    made.any_modifiers |= group == "...";
    if (group == "...") continue;
    const bool optional = group[0] == '?';
    if (optional) group.remove_prefix(1);
    const bool named = group[0] == '!';
    if (named) group.remove_prefix(1);
    made.has_name |= named;
    made.groups.push_back({split(group, '|'), optional, named});
  }
  bool optional = false;
  for (std::string_view operand : split(form.operands, ' ')) {
    made.any_operands |= operand == "...";
    if (operand == "...") continue;
    optional |= operand[0] == '?' || operand == "h";
    made.has_policy |= operand == "h";
    if (operand == "h") operand = "su64";
    if (operand[0] == '?') operand.remove_prefix(1);
    made.operands.push_back(operand_pattern(operand));
    if (!optional) ++made.required;
  }
  return made;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

/// The forms of an opcode, made when it is first met: a kernel has few of all opcodes. They stay
/// where they are, and are never destroyed: exit handlers of programs launch kernels, too. Any
/// thread may ask.
const std::vector<FormPattern>& forms_of(std::string_view opcode) {
  static std::mutex mutex;
  using Made = std::unordered_map<std::string, std::vector<FormPattern>>;
  static Made& made = *new Made;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = made.try_emplace(std::string(opcode));
  if (fresh)
    for (const std::span<const Form> part : {pipeline_forms(), unit_forms()})
      for (const Form& form : part)
        if (has_word(form.opcodes, opcode)) at->second.push_back(pattern_of(form));
  return at->second;
}

/// What keeps an instruction from being of a form: the later it is found, the closer the form.
struct Mismatch {
  enum class At { Types, Modifiers, Count, Operand };
  At at = At::Types;
  std::size_t agreed = 0;  ///< modifiers or operands that are right
  std::string why;
  bool closer_than(const Mismatch& other) const {
    return std::pair(at, agreed) > std::pair(other.at, other.agreed);
  }
};

bool types_agree(const FormPattern& pattern, const Instruction& inst) {
  if (pattern.any_types) return true;
  if (pattern.types.size() != inst.types.size()) return false;
  for (std::size_t i = 0; i < inst.types.size(); ++i)
    if ((pattern.types[i] & bit_of(inst.types[i])) == 0) return false;
  return true;
}

std::string choice_text(const Words& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) all += i + 1 == words.size() ? " or " : ", ";
    all += "." + std::string(words[i]);
  }
  return all;
}

/// The modifiers that a form takes, as the ISA writes them: "{.rn, .rz}", in brackets what may be
/// left out.
std::string modifiers_text(const FormPattern& pattern) {
  std::string all;
  for (const ModifierGroup& group : pattern.groups)
    all += (all.empty() ? "" : ", ") + choice_text(group.words) +
           (group.optional ? " (may be absent)" : "");
  return all.empty() ? "none" : all;
}

/// Which modifiers an instruction has of a form.
struct ModifierCheck {
  std::uint64_t groups = 0;  ///< of which it has one
  std::size_t agreed = 0;
  std::string_view surplus;  ///< the first that is of no group
  const ModifierGroup* missing = nullptr;
};

/// A type ends the instruction's name.
std::size_t modifiers_before_types(const Instruction& inst) {
  std::size_t count = 0;
  for (const std::string& word : dotted_words(inst)) {
    if (ptx::type_named(word) != Type::None) break;
    ++count;
  }
  return count - 1;  // the opcode
}

ModifierCheck check_modifiers(const FormPattern& pattern, const Instruction& inst) {
  ModifierCheck found;
  const std::size_t before_types = pattern.has_name ? modifiers_before_types(inst) : 0;
  for (std::size_t i = 0; i < inst.modifiers.size(); ++i) {
    const std::string_view word = inst.modifiers[i];
    std::size_t group = 0;
    while (group < pattern.groups.size() &&
           ((found.groups >> group & 1) != 0 || !pattern.groups[group].holds(word) ||
            (pattern.groups[group].named && !(group == i && i < before_types))))
      ++group;
    if (group < pattern.groups.size()) {
      found.groups |= std::uint64_t{1} << group;
      ++found.agreed;
    } else if (!pattern.any_modifiers && found.surplus.empty()) {
      found.surplus = word;
    }
  }
  for (std::size_t group = 0; group < pattern.groups.size() && found.missing == nullptr; ++group)
    if ((found.groups >> group & 1) == 0 && !pattern.groups[group].optional)
      found.missing = &pattern.groups[group];
  return found;
}

/// Operands that there may be at most.
std::size_t max_operands(const FormPattern& pattern, const Instruction& inst) {
  const std::size_t all = pattern.operands.size();
  return pattern.has_policy && !inst.has("L2::cache_hint") ? all - 1 : all;
}
std::size_t min_operands(const FormPattern& pattern, const Instruction& inst) {
  return pattern.has_policy ? max_operands(pattern, inst) : pattern.required;
}
bool count_agrees(const FormPattern& pattern, const Instruction& inst) {
  return inst.operands.size() >= min_operands(pattern, inst) &&
         inst.operands.size() <= max_operands(pattern, inst);
}

/// The first operand that the form does not take; their number where it takes all.
std::size_t first_odd_operand(const FormPattern& pattern, const ptx::Function& function,
                              const Instruction& inst) {
  std::size_t i = 0;
  while (i < inst.operands.size() &&
         operand_agrees(pattern.operands[i], function, inst, inst.operands[i]))
    ++i;
  return i;
}

bool words_agree(const FormPattern& pattern, const Instruction& inst) {
  if (!types_agree(pattern, inst)) return false;
  const ModifierCheck modifiers = check_modifiers(pattern, inst);
  return modifiers.surplus.empty() && modifiers.missing == nullptr;
}

bool operands_agree(const FormPattern& pattern, const ptx::Function& function,
                    const Instruction& inst) {
  return pattern.any_operands ||
         (count_agrees(pattern, inst) &&
          first_odd_operand(pattern, function, inst) == inst.operands.size());
}

std::string count_text(const FormPattern& pattern, const Instruction& inst) {
  const std::size_t maximum = max_operands(pattern, inst), minimum = min_operands(pattern, inst);
  const std::string text = std::to_string(minimum);
  return (maximum == minimum ? text : text + " to " + std::to_string(maximum)) +
         (maximum == 1 ? " operand" : " operands");
}

/// Of a form that the instruction is not of.
Mismatch explained(const FormPattern& pattern, const ptx::Function& function,
                   const Instruction& inst) {
  if (pattern.any_modifiers || !types_agree(pattern, inst)) return {};
  const ModifierCheck modifiers = check_modifiers(pattern, inst);
  const bool surplus = !modifiers.surplus.empty();
  const std::string found = surplus ? "found ." + std::string(modifiers.surplus) : "found none";
  if (modifiers.missing != nullptr)
    return {Mismatch::At::Modifiers, modifiers.agreed,
            "expected modifier " + choice_text(modifiers.missing->words) + ", " + found};
  if (surplus)
    return {Mismatch::At::Modifiers, modifiers.agreed,
            "expected modifiers " + modifiers_text(pattern) + "; " + found};
  const std::size_t count = inst.operands.size();
  if (!count_agrees(pattern, inst))
    return {Mismatch::At::Count, 0,
            "expected " + count_text(pattern, inst) + ", found " + std::to_string(count)};
  const std::size_t odd = first_odd_operand(pattern, function, inst);
  RADDLE_ASSERT(odd < count);
  return {Mismatch::At::Operand, odd,
          "operand " + std::to_string(odd + 1) + ": expected " +
              expected_text(pattern.operands[odd], inst) + ", found " +
              operand_text(function, inst.operands[odd])};
}

/// The types that stand first in the forms of an opcode, or, where the first is known, the second
/// ones.
std::string types_text(const std::vector<FormPattern>& forms, const Instruction& inst) {
  std::uint64_t first = 0, second = 0;
  bool without = false;
  for (const FormPattern& form : forms) {
    if (form.any_modifiers) continue;
    without |= form.types.empty();
    if (form.types.empty()) continue;
    first |= form.types[0];
    const bool same = !inst.types.empty() && (form.types[0] & bit_of(inst.types[0])) != 0;
    if (same && form.types.size() > 1) second |= form.types[1];
  }
  const auto names = [](std::uint64_t set) {
    Words all;
    for (unsigned type = 1; type < 64; ++type)
      if ((set >> type & 1) != 0) all.push_back(ptx::name_of(static_cast<Type>(type)));
    return choice_text(all);
  };
  std::string found;
  for (const Type type : inst.types) found += "." + std::string(ptx::name_of(type));
  if (found.empty()) found = "none";
  if (first == 0) return "expected no type, found " + found;
  const bool known = !inst.types.empty() && (first & bit_of(inst.types[0])) != 0;
  if (known && second != 0) return "expected second type " + names(second) + ", found " + found;
  if (known) return "expected one type, found " + found;
  return "expected type " + names(first) + (without ? " or none" : "") + ", found " + found;
}

[[noreturn]] void refuse_closest(const std::vector<FormPattern>& forms,
                                 const ptx::Function& function, const Instruction& inst) {
  Mismatch closest;
  for (const FormPattern& form : forms) {
    Mismatch found = explained(form, function, inst);
    if (found.closer_than(closest)) closest = std::move(found);
  }
  if (closest.at == Mismatch::At::Types) {
    const std::string_view word = unknown_type(inst);
    closest.why = word.empty() ? types_text(forms, inst) : "unknown type ." + std::string(word);
  }
  refuse(closest.why);
}

}  // namespace

void SyntaxCheck::check(const ptx::Function& function, const Instruction& inst) {
  Seen now;
  if (!inst.modifiers.empty() && inst.types.size() <= sizeof(now.types)) {
    now.first = inst.modifiers.front().data();
    now.last = inst.modifiers.back().data();
  }
  for (const Type type : inst.types) now.types = now.types << 8 | static_cast<unsigned>(type);
  Seen& seen = seen_[reinterpret_cast<std::uintptr_t>(now.first) / 4 % seen_.size()];
  const bool known = now.first != nullptr && seen.first == now.first && seen.last == now.last &&
                     seen.types == now.types;
  if (!known) {
    now.forms = &forms_of(inst.opcode);
    while (now.at < now.forms->size() && !words_agree((*now.forms)[now.at], inst)) ++now.at;
    seen = now;
  }
  const std::vector<FormPattern>& forms = *seen.forms;
  if (forms.empty()) return;
  for (std::size_t at = seen.at; at < forms.size(); ++at)
    if ((at == seen.at || words_agree(forms[at], inst)) &&
        operands_agree(forms[at], function, inst))
      return;
  refuse_closest(forms, function, inst);
}

std::string_view unknown_type(const Instruction& inst) {
  for (const std::string_view word : inst.modifiers)
    if (!word.empty() && std::string_view("bsufe").find(word[0]) != std::string_view::npos &&
        std::isdigit(static_cast<unsigned char>(word.back())) != 0)
      return word;
  return {};
}

}  // namespace raddle::exec
