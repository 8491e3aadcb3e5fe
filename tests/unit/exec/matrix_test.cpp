// Matrix products against sums computed here, with the fragment layouts as the PTX ISA states them
// for each shape (9.7.14.5), lane by lane and element by element.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <random>

#include "instruction_case.h"

namespace raddle::exec::test::matrix_test {
namespace {

struct Cell {
  unsigned row, column;
};
/// (group, member of the group, element number) -> place, in the manual's terms: groupID,
/// threadID_in_group, i.
using Layout = std::function<Cell(unsigned g, unsigned t, unsigned i)>;

bool in(unsigned i, unsigned from, unsigned to) { return from <= i && i < to; }

struct Element {
  std::string name;
  unsigned bits;
  std::function<u64(double)> encode;
  std::function<double(u64)> decode;
};
u32 half_bits(double x) {  // exact small values only
  if (x == 0) return 0;
  const int e = std::ilogb(x);
  const auto m = static_cast<u32>(std::fabs(x) / std::ldexp(1.0, e) * 1024) & 1023;
  return (x < 0 ? 0x8000u : 0u) | static_cast<u32>(e + 15) << 10 | m;
}
double half_value(u64 b) {
  if ((b & 0x7fff) == 0) return 0;
  const double m = 1.0 + static_cast<double>(b & 1023) / 1024;
  return ((b & 0x8000) != 0 ? -1 : 1) * std::ldexp(m, static_cast<int>(b >> 10 & 31) - 15);
}
u32 single_bits(double x) { return std::bit_cast<u32>(static_cast<float>(x)); }
double single_value(u64 b) { return double{std::bit_cast<float>(static_cast<u32>(b))}; }
double signed_value(u64 b, unsigned bits) {
  return static_cast<double>(static_cast<s64>(b << (64 - bits)) >> (64 - bits));
}
Element element(const std::string& name) {
  if (name == "f16") return {name, 16, half_bits, half_value};
  if (name == "bf16")
    return {name, 16, [](double x) { return single_bits(x) >> 16; },
            [](u64 b) { return single_value(b << 16); }};
  if (name == "tf32" || name == "f32") return {name, 32, single_bits, single_value};
  if (name == "f64")
    return {name, 64, [](double x) { return std::bit_cast<u64>(x); },
            [](u64 b) { return std::bit_cast<double>(b); }};
  const unsigned bits = name == "b1" ? 1 : static_cast<unsigned>(std::stoi(name.substr(1)));
  const bool has_sign = name[0] == 's';
  return {name, bits, [](double x) { return static_cast<u64>(static_cast<s64>(x)); },
          [=](u64 b) { return has_sign ? signed_value(b, bits) : static_cast<double>(b); }};
}

struct Product {
  std::string shape, types;  ///< "m16n8k16", "f32.f16.f16.f32"
  unsigned m, n, k;
  Layout a, b, c;
  std::string tail;  ///< after the types
};
struct Matrix {
  Element element;
  unsigned rows, columns;
  Layout layout;
  std::vector<double> values;
  double& at(Cell c) { return values.at(c.row * columns + c.column); }
  unsigned per_register() const { return std::max(1u, 32 / element.bits); }
  unsigned registers() const { return rows * columns / 32 / per_register(); }
  unsigned register_bytes() const { return element.bits == 64 ? 8 : 4; }
};
void fill(Matrix& m, std::mt19937& random) {
  m.values.resize(m.rows * m.columns);
  for (double& v : m.values) {
    const int x = static_cast<int>(random() % 15) - 7;
    const bool small = m.element.bits <= 4 || m.element.name[0] == 'u';
    v = small ? std::abs(x) & (m.element.bits == 1 ? 1 : 7) : x;
    if (m.element.bits == 4 && m.element.name[0] == 's') v = x;
    if (m.element.bits >= 16 && m.element.name[0] != 's') v *= 0.25;
  }
}
/// Lanes' registers, one lane after another, each in 8 bytes.
std::vector<u64> pack(Matrix& m) {
  std::vector<u64> words;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < m.registers(); ++r) {
      u64 word = 0;
      for (unsigned j = 0; j < m.per_register(); ++j) {
        const Cell cell = m.layout(lane / 4, lane % 4, r * m.per_register() + j);
        const u64 bits = m.element.encode(m.at(cell)) & (~0ull >> (64 - m.element.bits));
        word |= bits << (m.element.bits * j) % 64;
      }
      words.push_back(word);
    }
  return words;
}
std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> all{""};
  for (char c : text) {
    if (c == by) all.emplace_back();
    else all.back() += c;
  }
  return all;
}

const char* register_of(const Matrix& m) {
  return m.element.bits == 64 ? "%d" : m.element.name == "f32" ? "%f" : "%r";
}
const char* type_of(const Matrix& m) {
  return m.element.bits == 64 ? "f64" : m.element.name == "f32" ? "f32" : "b32";
}
std::string kernel_of(const std::string& opcode, const std::vector<Matrix*>& parts) {
  std::string body, list;
  unsigned next = 10;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const Matrix& matrix = *parts[part];
    std::vector<std::string> names;
    for (unsigned reg = 0; reg < matrix.registers(); ++reg)
      names.push_back(register_of(matrix) + std::to_string(next++));
    list += fmt::format("{}{{{}}}", part == 0 ? "" : ", ", fmt::join(names, ", "));
    for (unsigned reg = 0; reg < matrix.registers() && part != 0; ++reg)
      body += fmt::format("  ld.global.{} {}, [%q{}+{}];\n", type_of(matrix), names[reg], part + 4,
                          8 * reg);
  }
  body += "  " + opcode + " " + list + ";\n";
  const Matrix& result = *parts[0];
  for (unsigned reg = 0; reg < result.registers(); ++reg)
    body += fmt::format("  st.global.{} [%q4+{}], {}{};\n", type_of(result), 8 * reg,
                        register_of(result), 10 + reg);
  std::string addresses;
  for (std::size_t part = 0; part < parts.size(); ++part)
    addresses += fmt::format(
        "  ld.param.u64 %q{0}, [p{1}]; mul.wide.u32 %q9, %r1, {2}; add.u64 %q{0}, %q{0}, %q9;\n",
        part + 4, part, 8 * parts[part]->registers());
  return fmt::format(R"(
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{{
  .reg .b32 %r<80>; .reg .f32 %f<80>; .reg .f64 %d<80>; .reg .b64 %q<20>;
  mov.u32 %r1, %tid.x;
{}{}  ret;
}}
)",
                     addresses, body);
}

/// Runs the product on random matrices; `operate` combines two elements.
void check_product(const Product& product, bool xor_bits = false, bool and_bits = false) {
  const std::string opcode =
      fmt::format("mma.sync.aligned.{}.row.col.{}{}", product.shape, product.types, product.tail);
  SCOPED_TRACE(opcode);
  const auto types = split(product.types, '.');
  std::mt19937 random(7);
  Matrix result{element(types[0]), product.m, product.n, product.c, {}},
      left{element(types[1]), product.m, product.k, product.a, {}},
      right{element(types[2]), product.k, product.n, product.b, {}},
      added{element(types[3]), product.m, product.n, product.c, {}};
  for (Matrix* matrix : {&result, &left, &right, &added}) fill(*matrix, random);
  Rig rig(kernel_of(opcode, {&result, &left, &right, &added}));
  const Address out = rig.zeros(32 * 8 * result.registers());
  rig.run("k", {1, 1, 1}, {32, 1, 1}, out, rig.upload(pack(left)), rig.upload(pack(right)),
          rig.upload(pack(added)));
  const auto words = rig.download<u64>(out, 32 * result.registers());
  for (unsigned i = 0; i < product.m; ++i)
    for (unsigned j = 0; j < product.n; ++j) {
      double sum = added.at({i, j});
      for (unsigned k = 0; k < product.k; ++k) {
        const double x = left.at({i, k}), y = right.at({k, j});
        sum += xor_bits ? (x != y ? 1 : 0) : and_bits ? (x != 0 && y != 0 ? 1 : 0) : x * y;
      }
      result.at({i, j}) = sum;
    }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < result.registers() * result.per_register(); ++index) {
      const u64 word = words[lane * result.registers() + index / result.per_register()];
      const u64 bits = word >> (result.element.bits * (index % result.per_register())) % 64 &
                       (~0ull >> (64 - result.element.bits));
      const Cell cell = product.c(lane / 4, lane % 4, index);
      ASSERT_EQ(result.element.decode(bits), result.at(cell))
          << "lane " << lane << " element " << index << " row " << cell.row << " column "
          << cell.column;
    }
}

const Layout kC16 = [](unsigned g, unsigned t, unsigned i) {
  return Cell{i < 2 ? g : g + 8, t * 2 + (i & 1)};
};
const Layout kC8 = [](unsigned g, unsigned t, unsigned i) { return Cell{g, t * 2 + (i & 1)}; };

TEST(Mma, HalvesOfSixteen) {
  const Layout a16 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{in(i, 0, 2) || in(i, 4, 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  };
  const Layout b16 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{t * 2 + (i & 1) + (i < 2 ? 0 : 8), g};
  };
  const Layout a8 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{i < 2 ? g : g + 8, t * 2 + (i & 1)};
  };
  const Layout b8 = [](unsigned g, unsigned t, unsigned i) { return Cell{t * 2 + i, g}; };
  for (const char* types : {"f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32"}) {
    check_product({"m16n8k16", types, 16, 8, 16, a16, b16, kC16, ""});
    check_product({"m16n8k8", types, 16, 8, 8, a8, b8, kC16, ""});
  }
}
TEST(Mma, SinglesAsTf32) {
  const Layout a4 = [](unsigned g, unsigned t, unsigned i) { return Cell{i == 0 ? g : g + 8, t}; };
  const Layout b4 = [](unsigned g, unsigned t, unsigned) { return Cell{t, g}; };
  const Layout a8 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  };
  const Layout b8 = [](unsigned g, unsigned t, unsigned i) { return Cell{i == 0 ? t : t + 4, g}; };
  check_product({"m16n8k4", "f32.tf32.tf32.f32", 16, 8, 4, a4, b4, kC16, ""});
  check_product({"m16n8k8", "f32.tf32.tf32.f32", 16, 8, 8, a8, b8, kC16, ""});
}
TEST(Mma, Doubles) {
  const Layout a = [](unsigned g, unsigned t, unsigned) { return Cell{g, t}; };
  const Layout b = [](unsigned g, unsigned t, unsigned) { return Cell{t, g}; };
  check_product({"m8n8k4", "f64.f64.f64.f64", 8, 8, 4, a, b, kC8, ""});
  const Layout a16 = [](unsigned g, unsigned t, unsigned i) {
    return i % 2 == 0 ? Cell{g, i * 2 + t} : Cell{g + 8, i * 2 - 2 + t};
  };
  const Layout b16 = [](unsigned g, unsigned t, unsigned i) { return Cell{t + i * 4, g}; };
  check_product({"m16n8k4", "f64.f64.f64.f64", 16, 8, 4, a16, b16, kC16, ""});
  check_product({"m16n8k8", "f64.f64.f64.f64", 16, 8, 8, a16, b16, kC16, ""});
  check_product({"m16n8k16", "f64.f64.f64.f64", 16, 8, 16, a16, b16, kC16, ""});
}
TEST(Mma, Bytes) {
  const Layout a32 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{in(i, 0, 4) || in(i, 8, 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  };
  const Layout b32 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{t * 4 + (i & 3) + (i < 4 ? 0 : 16), g};
  };
  const Layout a16 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{i < 4 ? g : g + 8, t * 4 + (i & 3)};
  };
  const Layout b16 = [](unsigned g, unsigned t, unsigned i) { return Cell{t * 4 + (i & 3), g}; };
  for (const char* types : {"s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32"}) {
    check_product({"m16n8k32", types, 16, 8, 32, a32, b32, kC16, ""});
    check_product({"m16n8k16", types, 16, 8, 16, a16, b16, kC16, ""});
    check_product({"m8n8k16", types, 8, 8, 16, a16, b16, kC8, ""});
  }
}
TEST(Mma, NibblesAndBits) {
  const Layout a64 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{in(i, 0, 8) || in(i, 16, 24) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  };
  const Layout b64 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{t * 8 + (i & 7) + (i < 8 ? 0 : 32), g};
  };
  check_product({"m16n8k64", "s32.s4.u4.s32", 16, 8, 64, a64, b64, kC16, ""});
  check_product({"m16n8k32", "s32.s4.s4.s32", 16, 8, 32, a64, b64, kC16, ""});
  check_product({"m8n8k32", "s32.u4.u4.s32", 8, 8, 32, a64, b64, kC8, ""});
  const Layout a256 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{in(i, 0, 32) || in(i, 64, 96) ? g : g + 8, t * 32 + (i & 31) + (i < 64 ? 0 : 128)};
  };
  const Layout b256 = [](unsigned g, unsigned t, unsigned i) {
    return Cell{t * 32 + (i & 31) + (i < 32 ? 0 : 128), g};
  };
  check_product({"m16n8k256", "s32.b1.b1.s32", 16, 8, 256, a256, b256, kC16, ".xor.popc"}, true);
  check_product({"m16n8k128", "s32.b1.b1.s32", 16, 8, 128, a256, b256, kC16, ".and.popc"}, false,
                true);
  check_product({"m8n8k128", "s32.b1.b1.s32", 8, 8, 128, a256, b256, kC8, ".xor.popc"}, true);
}

std::string run_one(const std::string& body, u32 a, u32 b, u32 c, u32* out) {
  Rig rig(fmt::format(R"(
.visible .entry k(.param .u64 to, .param .u32 a, .param .u32 b, .param .u32 c)
{{
  .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %q<9>;
  ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u32 %r3, [c]; ld.param.u64 %q1, [to];
  {}
  st.global.u32 [%q1], %r4; ret;
}}
)",
                      body));
  const Address to = rig.zeros(4);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, to, a, b, c);
  *out = rig.download<u32>(to, 1)[0];
  return "";
}
TEST(Mma, IntegersWrapOrStopAtTheEnds) {
  u32 r = 0;
  const std::string operands = " {%r4, %r5}, {%r1}, {%r2}, {%r3, %r3};";
  run_one("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32" + operands, 0x7f7f7f7f, 0x7f7f7f7f,
          0x7fffffff, &r);
  EXPECT_EQ(r, 0x7fffffffu + 16 * 127 * 127);
  run_one("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32" + operands, 0x7f7f7f7f,
          0x7f7f7f7f, 0x7fffffff, &r);
  EXPECT_EQ(r, 0x7fffffffu);
}

// mma.m8n8k4: four products at once, by the manual's formulas for each lane.
TEST(Mma, FourSmallProducts) {
  for (const std::string d_type : {"f32", "f16"})
    for (bool a_row : {true, false})
      for (bool b_row : {true, false}) {
        const auto a_cell = [&](unsigned lane, unsigned i) {
          const unsigned up = lane < 16 ? 0 : 4;
          return a_row ? Cell{lane % 4 + up, i} : Cell{i % 4 + up, lane % 4};
        };
        const auto b_cell = [&](unsigned lane, unsigned i) {
          const unsigned up = lane < 16 ? 0 : 4;
          return b_row ? Cell{lane % 4, i + up} : Cell{i, lane % 4 + up};
        };
        const auto c_cell = [&](unsigned lane, unsigned i) {
          const unsigned up = lane < 16 ? 0 : 4;
          if (d_type == "f16") return Cell{lane % 4 + up, i};
          return Cell{(lane & 1) + (i & 2) + up, (i & 4) + (lane & 2) + (i & 1)};
        };
        double left[4][8][4], right[4][4][8];
        std::mt19937 random(3);
        for (auto& matrix : left)
          for (auto& row : matrix)
            for (double& x : row) x = static_cast<double>(random() % 9) - 4;
        for (auto& matrix : right)
          for (auto& row : matrix)
            for (double& x : row) x = static_cast<double>(random() % 9) - 4;
        std::vector<u32> in;
        for (unsigned lane = 0; lane < 32; ++lane) {
          u32 words[4] = {};
          for (unsigned i = 0; i < 4; ++i) {
            const Cell of_left = a_cell(lane, i), of_right = b_cell(lane, i);
            words[i / 2] |= half_bits(left[lane / 4 % 4][of_left.row][of_left.column])
                            << 16 * (i % 2);
            words[2 + i / 2] |= half_bits(right[lane / 4 % 4][of_right.row][of_right.column])
                                << 16 * (i % 2);
          }
          in.insert(in.end(), words, words + 4);
        }
        const bool wide = d_type == "f32";
        std::string d_list, stores, zero = wide ? "%f30" : "%r30", z_list;
        for (int i = 0; i < (wide ? 8 : 4); ++i) {
          const std::string reg = fmt::format("{}{}", wide ? "%f" : "%r", 10 + i);
          d_list += (i == 0 ? "" : ", ") + reg;
          z_list += (i == 0 ? "" : ", ") + zero;
          stores += fmt::format("st.global.b32 [%q3+{}], {}; ", 4 * i, reg);
        }
        Rig rig(fmt::format(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %q<9>;
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 16; add.u64 %q1, %q1, %q3;
  mul.wide.u32 %q3, %r1, 32; add.u64 %q3, %q2, %q3;
  ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%q1]; mov.f32 %f30, 0f00000000; mov.u32 %r30, 0;
  mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{} {{{}}}, {{%r2, %r3}}, {{%r4, %r5}}, {{{}}};
  {} ret;
}}
)",
                            a_row ? "row" : "col", b_row ? "row" : "col", d_type, d_type, d_list,
                            z_list, stores));
        const Address out = rig.zeros(32 * 32);
        rig.run("k", {1, 1, 1}, {32, 1, 1}, rig.upload(in), out);
        const auto words = rig.download<u32>(out, 256);
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < 8; ++i) {
            const Cell at = c_cell(lane, i);
            double want = 0;
            for (unsigned k = 0; k < 4; ++k)
              want += left[lane / 4 % 4][at.row][k] * right[lane / 4 % 4][k][at.column];
            const u32 word = words[lane * 8 + (wide ? i : i / 2)];
            const double got =
                wide ? single_value(word) : half_value(word >> 16 * (i % 2) & 0xffff);
            ASSERT_EQ(got, want) << "lane " << lane << " element " << i;
          }
      }
}

}  // namespace
}  // namespace raddle::exec::test::matrix_test
