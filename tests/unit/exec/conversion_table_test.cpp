// Every cvt between the twelve plain types that ptxas of CUDA 13 accepts: all 806 of type, type,
// rounding, .ftz, .sat, .relu, .satfinite. On all values of sources of 16 bits and fewer; else on
// what lies at, before and behind powers of two and ties of every length, and on random values.
#include <random>
#include <utility>

#include "instruction_case.h"
#include "real_number.h"

namespace raddle::exec::test::conversion_table_test {
namespace {

struct PlainType {
  std::string name;
  unsigned bits = 0;
  bool is_float = false, is_signed = false;
  Format format{};
  std::string registers;  ///< its type of register in PTX
  bool single() const { return is_float && bits == 32; }
  bool brain() const { return is_float && format.mantissa == kBF16.mantissa; }
};
PlainType integer_type(unsigned bits, bool is_signed) {
  return {.name = (is_signed ? "s" : "u") + std::to_string(bits),
          .bits = bits,
          .is_signed = is_signed,
          .registers = "b" + std::to_string(std::max(bits, 16u))};
}
PlainType float_type(const std::string& name, const Format& format, const std::string& registers) {
  return {.name = name,
          .bits = format.bits,
          .is_float = true,
          .is_signed = true,
          .format = format,
          .registers = registers};
}
std::vector<PlainType> plain_types() {
  std::vector<PlainType> types;
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (bool is_signed : {false, true}) types.push_back(integer_type(bits, is_signed));
  types.push_back(float_type("f16", kF16, "b16"));
  types.push_back(float_type("bf16", kBF16, "b16"));
  types.push_back(float_type("f32", kF32, "f32"));
  types.push_back(float_type("f64", kF64, "f64"));
  return types;
}

/// The modifiers of one cvt.
struct Modifiers {
  std::string rounding;  ///< "rn", "rzi", ... or nothing
  bool ftz = false, sat = false, relu = false, satfinite = false;
  std::string text() const {
    return (rounding.empty() ? "" : "." + rounding) + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") +
           (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "");
  }
  Rounding direction() const {
    const char letter = rounding.empty() ? 'n' : rounding[1];
    return letter == 'z'   ? Rounding::Zero
           : letter == 'm' ? Rounding::Down
           : letter == 'p' ? Rounding::Up
                           : Rounding::NearestEven;
  }
  bool to_integral() const { return rounding.size() == 3; }
};

using Words = std::vector<std::string>;
Words roundings_of(const PlainType& to, const PlainType& from) {
  const Words whole{"rni", "rzi", "rmi", "rpi"}, binary{"rn", "rz", "rm", "rp"};
  if (!to.is_float) return from.is_float ? whole : Words{""};
  if (to.name == from.name) return {"", "rni", "rzi", "rmi", "rpi"};
  if (to.bits < from.bits || !from.is_float) return binary;
  // Between the two of 16 bits, and from bf16, where it changes nothing.
  if (to.bits == from.bits || from.brain()) return {"", "rn", "rz", "rm", "rp"};
  return {""};
}
std::vector<Modifiers> forms_of(const PlainType& to, const PlainType& from) {
  const bool may_flush = to.is_float || from.is_float ? to.single() || from.single() : false;
  const bool may_saturate = !to.brain() && !from.brain();
  std::vector<Modifiers> forms;
  for (const std::string& rounding : roundings_of(to, from))
    for (bool ftz : {false, true})
      for (bool sat : {false, true})
        if ((!ftz || may_flush) && (!sat || may_saturate))
          forms.push_back({.rounding = rounding, .ftz = ftz, .sat = sat});
  if (to.is_float && to.bits == 16 && from.single())
    for (const char* rounding : {"rn", "rz"})
      for (const auto& [relu, finite] : {std::pair{true, false}, {true, true}, {false, true}})
        forms.push_back({.rounding = rounding, .relu = relu, .satfinite = finite});
  return forms;
}

// --- the reference -------------------------------------------------------------------------------
using Int = __int128;
Int integer_value(u64 raw_bits, const PlainType& type) {
  const unsigned gap = 64 - type.bits;
  if (!type.is_signed) return raw_bits << gap >> gap;
  return static_cast<s64>(raw_bits << gap) >> gap;
}
Int lowest(const PlainType& type) { return type.is_signed ? -(Int{1} << (type.bits - 1)) : 0; }
Int highest(const PlainType& type) {
  return (Int{1} << (type.bits - (type.is_signed ? 1 : 0))) - 1;
}
Int clamped(Int value, const PlainType& type) {
  return value < lowest(type) ? lowest(type) : value > highest(type) ? highest(type) : value;
}

u64 float_to_integer(const Real& real, const PlainType& to, const PlainType& from, Rounding mode) {
  if (real.kind == Real::Kind::NotANumber) {
    if (from.bits != 64 && to.bits != 64) return 0;
    const Int upper_bit = Int{1} << (to.bits - 1);
    return static_cast<u64>(to.is_signed ? -upper_bit : upper_bit);
  }
  const bool huge = real.kind == Real::Kind::Infinite ||
                    (real.magnitude != 0 && leading(real.magnitude) + real.exponent > 65);
  if (huge) return static_cast<u64>(real.negative ? lowest(to) : highest(to));
  const Int magnitude = static_cast<Int>(in_units(real, 0, mode));
  return static_cast<u64>(clamped(real.negative ? -magnitude : magnitude, to));
}
u64 flushed(u64 value) { return (value & 0x7f800000) == 0 ? value & 0x80000000 : value; }

u64 to_float(Real real, const PlainType& to, const PlainType& from, const Modifiers& form) {
  if (form.to_integral()) real = integral(real, form.direction());
  u64 result =
      encoded(real, to.format, form.to_integral() ? Rounding::NearestEven : form.direction());
  const bool nan = real.kind == Real::Kind::NotANumber, negative = (result & to.format.sign()) != 0;
  const u64 one = static_cast<u64>(to.format.bias) << to.format.mantissa;
  if (form.sat) result = nan || negative ? 0 : std::min(result, one);
  if (form.satfinite && (result & ~to.format.sign()) == to.format.infinity()) --result;
  if (form.relu && !nan && negative) result = 0;
  return form.ftz && to.single() && !nan && from.is_float ? flushed(result) : result;
}
u64 reference(u64 input, const PlainType& to, const PlainType& from, const Modifiers& form) {
  if (!from.is_float) {
    const Int value = integer_value(input, from);
    if (to.is_float) return to_float(real_of_integer(value), to, from, form);
    const Int kept = form.sat ? clamped(value, to) : value;
    return static_cast<u64>(integer_value(static_cast<u64>(kept), to));
  }
  if (form.ftz && from.single()) input = flushed(input);
  const Real real = real_of(input, from.format);
  if (!to.is_float) return float_to_integer(real, to, from, form.direction());
  // A NaN that only moves stays what it is; a bf16 goes through a single.
  if (to.name == from.name && to.name != std::string("bf16") && form.rounding.empty() &&
      !form.sat && real.kind == Real::Kind::NotANumber)
    return input;
  return to_float(real, to, from, form);
}

// --- values --------------------------------------------------------------------------------------
void add_integers(unsigned bits, std::mt19937_64& random, std::vector<u64>& values) {
  for (unsigned high = 0; high < bits; ++high)
    for (unsigned low = 0; low <= high; ++low)
      for (u64 beside : {~u64{0}, u64{0}, u64{1}}) {
        const u64 value = (u64{1} << high | u64{1} << low) + beside;
        values.push_back(value);
        values.push_back(0 - value);
      }
  for (int i = 0; i < 2000; ++i) values.push_back(random() >> random() % 64);
}
void add_floats(const Format& format, std::mt19937_64& random, std::vector<u64>& values) {
  const u64 ones = (u64{1} << format.mantissa) - 1;
  for (u64 exponent = 0; exponent <= format.exponent_ones(); ++exponent) {
    const s64 distance = static_cast<s64>(exponent) - format.bias;
    const bool far = distance > 160 || distance < -160;  // beyond every other format
    const bool last = exponent == 0 || exponent == format.exponent_ones();
    if (far && !last && exponent % 16 != 0) continue;
    std::vector<u64> fractions{0, 1, ones, ones - 1, random() & ones};
    for (int i = 0; i < 12; ++i)
      for (u64 beside : {~u64{0}, u64{0}, u64{1}})
        fractions.push_back((u64{1} << random() % format.mantissa) + beside);
    for (u64 fraction : fractions)
      for (u64 sign : {u64{0}, format.sign()})
        values.push_back(sign | exponent << format.mantissa | (fraction & ones));
  }
}
std::vector<u64> values_of(const PlainType& type) {
  std::vector<u64> values;
  std::mt19937_64 random(20261127);
  if (type.bits <= 16)
    for (u64 value = 0; value < (u64{1} << type.bits); ++value) values.push_back(value);
  else if (type.is_float) add_floats(type.format, random, values);
  else add_integers(type.bits, random, values);
  while (values.size() % 128 != 0) values.push_back(0);
  return values;
}

// --- the kernel of a pair of types ---------------------------------------------------------------
/// Of 32 bits where integers are narrow and saturate: such registers may be wider than the type.
std::string destination_of(const PlainType& to, const Modifiers& form) {
  return !to.is_float && to.bits <= 16 && form.sat ? "b32" : to.registers;
}
std::string kernel_of(const PlainType& to, const PlainType& from,
                      const std::vector<Modifiers>& forms, std::size_t count) {
  std::string text = R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %x<5>; .reg .b64 %y<5>;
  ld.param.u64 %y1, [in]; ld.param.u64 %y2, [out];
  mov.u32 %x1, %tid.x; mov.u32 %x2, %ctaid.x; mov.u32 %x3, %ntid.x; mad.lo.u32 %x1, %x2, %x3, %x1;
  mul.wide.u32 %y3, %x1, 8; add.u64 %y1, %y1, %y3; add.u64 %y2, %y2, %y3;
)";
  text += ".reg ." + from.registers + " %a; ld.global." + from.registers + " %a, [%y1];\n";
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const std::string type = destination_of(to, forms[i]), number = std::to_string(i);
    text += ".reg ." + type + " %d" + number + "; cvt" + forms[i].text() + "." + to.name + "." +
            from.name + " %d" + number + ", %a; st.global." + type + " [%y2+" +
            std::to_string(8 * i * count) + "], %d" + number + ";\n";
  }
  return text + "  ret;\n}\n";
}
u64 bits_stored(const PlainType& to, const Modifiers& form) {
  const std::string type = destination_of(to, form);
  const unsigned bits = static_cast<unsigned>(std::stoul(type.substr(1)));
  return ~u64{0} >> (64 - bits);
}

void check_pair(const PlainType& to, const PlainType& from, const std::vector<Modifiers>& forms) {
  const std::vector<u64> values = values_of(from);
  const std::string kernel = kernel_of(to, from, forms, values.size());
  std::vector<u64> first;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel);
    const Address in = rig.upload(values), out = rig.zeros(8 * forms.size() * values.size());
    rig.run("k", {static_cast<u32>(values.size() / 128), 1, 1}, {128, 1, 1}, in, out);
    const auto results = rig.download<u64>(out, forms.size() * values.size());
    if (!first.empty()) {
      EXPECT_TRUE(results == first) << lanes << " cvt " << to.name << " " << from.name;
      continue;
    }
    first = results;
    for (std::size_t form = 0; form < forms.size(); ++form) {
      const u64 stored = bits_stored(to, forms[form]);
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(results[form * values.size() + i],
                  reference(values[i], to, from, forms[form]) & stored)
            << "cvt" << forms[form].text() << "." << to.name << "." << from.name << " of "
            << std::hex << values[i];
    }
  }
  unsetenv("RADDLE_LANES");
}

TEST(ConversionTable, EveryPairOfPlainTypesInEveryForm) {
  std::size_t forms = 0;
  for (const PlainType& to : plain_types())
    for (const PlainType& from : plain_types()) {
      const std::vector<Modifiers> legal = forms_of(to, from);
      forms += legal.size();
      check_pair(to, from, legal);
      if (HasFatalFailure()) return;
    }
  // Integer to integer, float to integer, integer to float, float to float.
  EXPECT_EQ(forms, 128u + 288 + 288 + 144);
}
// By the sentence of the ISA, in its own numbers.
TEST(ConversionTable, WhatIsNotANumberBecomesZeroOrTheUpperBit) {
  const auto gives = [](const std::string& types, const char* kinds, u64 nan) {
    Rig rig(test::kernel_of(Case{"cvt.rni." + types + " <D>, <A>;", kinds, {}}));
    const Address from = rig.upload(std::vector<u64>(3 * 32, nan)), to = rig.zeros(32 * 8);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, from, to, ~0u);
    return rig.download<u64>(to, 1)[0];
  };
  constexpr u64 kSingle = 0x7fc00000, kDouble = 0xfff8000000000001, kHalf = 0x7e00;
  EXPECT_EQ(gives("s64.f32", "qf", kSingle), 0x8000000000000000u);
  EXPECT_EQ(gives("u64.f32", "qf", kSingle), 0x8000000000000000u);
  EXPECT_EQ(gives("u64.f16", "qh", kHalf), 0x8000000000000000u);
  EXPECT_EQ(gives("s64.bf16", "qh", 0x7fc0), 0x8000000000000000u);
  EXPECT_EQ(gives("s64.f64", "qd", kDouble), 0x8000000000000000u);
  EXPECT_EQ(gives("s32.f64", "rd", kDouble), 0x80000000u);
  EXPECT_EQ(gives("u32.f64", "rd", kDouble), 0x80000000u);
  EXPECT_EQ(gives("u16.f64", "rd", kDouble), 0x8000u);
  EXPECT_EQ(gives("s16.f64", "rd", kDouble), 0xffff8000u);
  EXPECT_EQ(gives("u8.f64", "rd", kDouble), 0x80u);
  EXPECT_EQ(gives("s8.f64", "rd", kDouble), 0xffffff80u);
  for (const char* type : {"s32", "u32", "u16", "s8"}) {
    EXPECT_EQ(gives(std::string(type) + ".f32", "rf", kSingle), 0u);
    EXPECT_EQ(gives(std::string(type) + ".f16", "rh", kHalf), 0u);
  }
}

}  // namespace
}  // namespace raddle::exec::test::conversion_table_test
