#include "raddle/exec/decode/fragment_cache.h"

namespace raddle::exec {

std::shared_ptr<const Fragment> FragmentCache::find(Role role, const MatrixShape& shape,
                                                    Element element, unsigned registers, bool row) {
  const bool quad = shape == MatrixShape{8, 8, 4} && element != Element::F64;
  auto& known = known_[{static_cast<unsigned>(role) | (quad ? 8u : 0u), shape.m, shape.n, shape.k,
                        static_cast<unsigned>(element) | (quad && row ? 64u : 0u), registers}];
  if (known == nullptr)
    known = quad ? make_quad_fragment(role, element, row)
                 : make_fragment(role, shape, element, registers);
  return known != nullptr && known->registers == registers ? known : nullptr;
}

}  // namespace raddle::exec
