// Where the elements of matrix fragments lie.
#include <array>
#include <utility>

#include "raddle/exec/slow/matrix.h"

namespace raddle::exec {

namespace {

struct ElementRow {
  std::string_view name;
  unsigned bits;
  bool is_integer;
};
constexpr std::array<ElementRow, 14> kElements = {{{"", 0, false},
                                                   {"f16", 16, false},
                                                   {"bf16", 16, false},
                                                   {"tf32", 32, false},
                                                   {"f32", 32, false},
                                                   {"f64", 64, false},
                                                   {"e4m3", 8, false},
                                                   {"e5m2", 8, false},
                                                   {"s8", 8, true},
                                                   {"u8", 8, true},
                                                   {"s4", 4, true},
                                                   {"u4", 4, true},
                                                   {"b1", 1, true},
                                                   {"s32", 32, true}}};

struct Cell {
  unsigned row, column;
};

/// Element `i` of register `r` of a lane, `per` elements to a register. Lanes in groups of four:
/// a group has a row of A, a column of B or a row of C; the lane within the group has neighbours
/// along the other dimension.
Cell cell_of(Role role, const MatrixShape& s, unsigned lane, unsigned r, unsigned i, unsigned per) {
  const unsigned group = lane / 4, member = lane % 4;
  if (role == Role::A) {
    const unsigned halves = s.m == 8 ? 1 : 2, steps = s.k / (4 * per), of_tile = halves * steps;
    const unsigned tile = r / of_tile, q = r % of_tile;
    return {16 * tile + group + 8 * (q % halves), per * member + 4 * per * (q / halves) + i};
  }
  if (role == Role::B) {
    const unsigned steps = s.k / (4 * per);
    return {per * member + 4 * per * (r % steps) + i, 8 * (r / steps) + group};
  }
  const unsigned e = r * per + i, of_tile = s.m == 8 ? 2 : 4, tile = e / of_tile, q = e % of_tile;
  const bool down = s.m > 16;
  return {(down ? 16 * tile : 0) + group + 8 * (q / 2), (down ? 0 : 8 * tile) + 2 * member + q % 2};
}

/// Of mma.m8n8k4: lanes 0-3 and 16-19 do one product, 4-7 and 20-23 the next, and so on.
Cell quad_cell(Role role, Element element, bool row, unsigned lane, unsigned e) {
  const unsigned upper = lane < 16 ? 0 : 4, member = lane % 4;
  if (role == Role::A) return row ? Cell{member + upper, e} : Cell{e + upper, member};
  if (role == Role::B) return row ? Cell{member, e + upper} : Cell{e, member + upper};
  if (element == Element::F16) return {member + upper, e};
  return {(lane & 1) + (e & 2) + upper, (e & 4) + (lane & 2) + (e & 1)};
}

}  // namespace

Element element_named(std::string_view word) {
  for (std::size_t i = 1; i < kElements.size(); ++i)
    if (kElements[i].name == word) return static_cast<Element>(i);
  return Element::None;
}
unsigned bits_of(Element element) { return kElements[static_cast<std::size_t>(element)].bits; }
bool is_integer(Element element) { return kElements[static_cast<std::size_t>(element)].is_integer; }

MatrixShape shape_named(std::string_view word) {
  MatrixShape shape;
  std::size_t at = 0;
  for (auto [letter, to] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
    if (at >= word.size() || word[at] != letter) return {};
    for (++at; at < word.size() && word[at] >= '0' && word[at] <= '9' && *to < 1000; ++at)
      *to = *to * 10 + static_cast<unsigned>(word[at] - '0');
    if (*to == 0) return {};
  }
  return at == word.size() ? shape : MatrixShape{};
}

std::shared_ptr<const Fragment> make_fragment(Role role, MatrixShape shape, Element element,
                                              unsigned registers) {
  auto made = std::make_shared<Fragment>();
  made->element = element;
  made->rows = role == Role::B ? shape.k : shape.m;
  made->columns = role == Role::A ? shape.k : shape.n;
  made->registers = registers;
  made->per_register = std::max(1u, 32 / bits_of(element));
  const unsigned unique = made->rows * made->columns / kLanes;
  if (made->per_lane() < unique || unique < made->per_register || made->per_lane() % unique != 0)
    return nullptr;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned e = 0; e < made->per_lane(); ++e) {
      const unsigned r = e % unique / made->per_register, i = e % made->per_register;
      const Cell cell = cell_of(role, shape, lane, r, i, made->per_register);
      if (cell.row >= made->rows || cell.column >= made->columns) return nullptr;
      made->place.push_back(static_cast<std::uint16_t>(cell.row * made->columns + cell.column));
    }
  return made;
}

std::shared_ptr<const Fragment> make_quad_fragment(Role role, Element element, bool row) {
  auto made = std::make_shared<Fragment>();
  made->element = element;
  made->rows = role == Role::B ? 4 : 8;
  made->columns = role == Role::A ? 4 : 8;
  made->per_register = 32 / bits_of(element);
  made->products = 4;
  made->registers = (role == Role::C ? 8 : 4) / made->per_register;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned e = 0; e < made->per_lane(); ++e) {
      const Cell cell = quad_cell(role, element, row, lane, e);
      const unsigned product = lane / 4 % 4;
      made->place.push_back(static_cast<std::uint16_t>(
          (product * made->rows + cell.row) * made->columns + cell.column));
    }
  return made;
}

}  // namespace raddle::exec
