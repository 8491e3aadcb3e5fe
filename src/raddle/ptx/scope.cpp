#include "raddle/ptx/scope.h"

#include <cstring>

#include "raddle/base/error.h"

namespace raddle::ptx {
namespace {

// Eight bytes a step, mixed by a widening multiply folded onto itself (the idea of wyhash).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint32_t hash_of(std::string_view name) {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::uint64_t hash = name.size() + kMultiplier;
  const char* at = name.data();
  std::size_t left = name.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = mix(hash ^ word, kMultiplier);
  }
  std::uint64_t tail = 0;
  if (left != 0) std::memcpy(&tail, at, left);
  hash = mix(hash ^ tail, kMultiplier);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

NameTable::Slot& NameTable::slot_for(std::string_view name, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.name == nullptr) return slot;
    if (slot.hash == hash && slot.length == name.size() &&
        std::memcmp(slot.name, name.data(), name.size()) == 0)
      return slot;
  }
}

Named* NameTable::find(std::string_view name) {
  if (slots_.empty()) return nullptr;
  Slot& slot = slot_for(name, hash_of(name));
  return slot.name != nullptr ? &slot.named : nullptr;
}

bool NameTable::insert(std::string_view name, Named named) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  RADDLE_ASSERT(size_ < slots_.size());  // a search ends at an empty slot
  const std::uint32_t hash = hash_of(name);
  Slot& slot = slot_for(name, hash);
  if (slot.name != nullptr) return false;
  slot = {name.data(), static_cast<std::uint32_t>(name.size()), hash, named};
  ++size_;
  return true;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.name != nullptr) slot_for({slot.name, slot.length}, slot.hash) = slot;
}

bool ScopeStack::declare(std::string_view name, Named named) {
  if (range_of(inner(), name) != nullptr) return false;
  return inner().names.insert(name, named);
}

bool ScopeStack::declare_range(const RegisterRange& range) {
  RADDLE_ASSERT(depth() != 0);
  Scope& scope = inner();
  const auto index = static_cast<std::uint32_t>(scope.ranges.size());
  if (!scope.prefixes.insert(range.prefix, {Named::Kind::Range, index})) return false;
  scope.ranges.push_back(range);
  return true;
}

// "%r12" may be %r<13> or %r1<3>: every cut before a number without leading zeros is tried.
const RegisterRange* ScopeStack::range_of(Scope& scope, std::string_view name) {
  if (scope.ranges.empty() || name.empty()) return nullptr;
  std::uint64_t number = 0, place = 1;
  for (std::size_t cut = name.size(); cut-- > 1 && is_digit(name[cut]) && place <= 1'000'000'000;) {
    const auto digit = static_cast<std::uint64_t>(name[cut] - '0');
    number += digit * place;
    place *= 10;
    if (digit == 0 && cut + 1 != name.size()) continue;
    const Named* named = scope.prefixes.find(name.substr(0, cut));
    if (named != nullptr && number < scope.ranges[named->index].count)
      return &scope.ranges[named->index];
  }
  return nullptr;
}

Named ScopeStack::make_register(std::string_view name, Type type) {
  const auto index = static_cast<std::uint32_t>(function_->registers.size());
  function_->registers.push_back({std::string(name), type});
  return {Named::Kind::Register, index};
}

std::optional<Named> ScopeStack::find(std::string_view name) {
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    Scope& scope = scopes_[i];
    if (Named* named = scope.names.find(name)) {
      if (named->kind == Named::Kind::DeclaredRegister)
        *named = make_register(name, static_cast<Type>(named->index));
      return *named;
    }
    if (const RegisterRange* range = range_of(scope, name)) {
      const Named made = make_register(name, range->type);
      scope.names.insert(name, made);
      return made;
    }
  }
  return std::nullopt;
}

}  // namespace raddle::ptx
