// How decoder files hand over slow instructions.
#pragma once
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

template <class T>
void Decoder::emit_slow(std::unique_ptr<T> instruction) {
  emit(O_slow).imm = static_cast<std::int32_t>(code_.slow.size());
  code_.slow.push_back(std::move(instruction));
}

/// `space`: where its accesses go; a generic one may turn out to be shared.
template <class T>
void Decoder::emit_slow_access(std::unique_ptr<T> instruction, ptx::Space space, bool store) {
  using K = trace::OpKind;
  const bool shared = space == ptx::Space::Shared;
  emit_own(O_slow_access, shared ? (store ? K::StoreShared : K::LoadShared)
                                 : (store ? K::StoreGlobal : K::LoadGlobal))
      .imm = static_cast<std::int32_t>(code_.slow.size());
  code_.slow.push_back(std::move(instruction));
  if (space == ptx::Space::Generic) generic_.push_back(index_);
}

}  // namespace raddle::exec
