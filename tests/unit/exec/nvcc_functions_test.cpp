// CUDA's mathematical functions as nvcc expands them (tests/data/ptx/nvcc_functions.ptx), run here
// and compared with the host's in extended precision. The bounds are those of the CUDA C++
// Programming Guide, appendix "Mathematical Functions", in units in the last place (full range),
// plus one half for the reference's own rounding.
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "raddle_paths.h"
#include "rig.h"

namespace raddle::exec::test::nvcc_functions_test {
namespace {

std::string text_of_module() {
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/data/ptx/nvcc_functions.ptx");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.substr(text.find(".address_size 64") + 16);  // the rig has a header of its own
}

/// Distance of `got` from `want` in units in the last place of T.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  const T near = static_cast<T>(want);
  if (got == near) return 0;
  if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(near)) return 1e30;
  const T next = std::nextafter(std::fabs(near), static_cast<T>(INFINITY));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             (static_cast<long double>(next) - std::fabs(near)));
}

template <class T>
std::vector<T> arguments(double low, double high) {
  std::mt19937_64 random(11);
  std::vector<T> x;
  for (int i = 0; i < 1500; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    x.push_back(static_cast<T>(low + (high - low) * u));
    if (i % 3 == 0) x.back() = static_cast<T>(x.back() * std::ldexp(1.0, -(i % 40)));
  }
  for (double special : {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, double{INFINITY}, double(NAN)})
    x.push_back(static_cast<T>(special));
  return x;
}

template <class T>
void check_function(const std::string& kernel, long double (*f)(long double), double bound,
                    double low, double high) {
  SCOPED_TRACE(kernel);
  const std::vector<T> x = arguments<T>(low, high);
  const int n = static_cast<int>(x.size());
  Rig rig(text_of_module());
  const Address out = rig.zeros(x.size() * sizeof(T));
  rig.run(kernel, {static_cast<unsigned>(n + 127) / 128, 1, 1}, {128, 1, 1}, rig.upload(x), out, n);
  const auto y = rig.download<T>(out, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want = f(x[i]);
    if (std::fabs(want) < std::numeric_limits<T>::min() && want != 0) continue;
    EXPECT_LE(ulps<T>(y[i], want), bound + 0.5) << kernel << "(" << x[i] << ") = " << y[i];
  }
}

TEST(NvccFunctions, Doubles) {
  const auto f = [](const char* name, long double (*g)(long double), double bound, double low,
                    double high) {
    check_function<double>(std::string("f64_") + name, g, bound, low, high);
  };
  f("sin", std::sin, 2, -1e6, 1e6);
  f("sin", std::sin, 2, -10, 10);
  f("cos", std::cos, 2, -1e6, 1e6);
  f("tan", std::tan, 2, -1000, 1000);
  f("exp", std::exp, 1, -700, 700);
  f("exp2", std::exp2, 1, -1000, 1000);
  f("log", std::log, 1, 0, 1e6);
  f("log2", std::log2, 1, 0, 1e6);
  f("log10", std::log10, 1, 0, 1e6);
  f("log1p", std::log1p, 1, -0.999, 100);
  f("expm1", std::expm1, 1, -30, 700);
  f("sqrt", std::sqrt, 0, 0, 1e9);
  f("cbrt", std::cbrt, 1, -1e9, 1e9);
  f("atan", std::atan, 2, -100, 100);
  f("asin", std::asin, 2, -1, 1);
  f("tanh", std::tanh, 1, -20, 20);
  f("erf", std::erf, 2, -5, 5);
  f("tgamma", std::tgamma, 10, 0.1, 170);
}
TEST(NvccFunctions, Singles) {
  const auto f = [](const char* name, long double (*g)(long double), double bound, double low,
                    double high) {
    check_function<float>(std::string("f32_") + name, g, bound, low, high);
  };
  f("sinf", std::sin, 2, -1e5, 1e5);
  f("cosf", std::cos, 2, -1e5, 1e5);
  f("tanf", std::tan, 4, -100, 100);
  f("expf", std::exp, 2, -87, 88);
  f("exp2f", std::exp2, 2, -125, 127);
  f("logf", std::log, 1, 0, 1e6);
  f("log2f", std::log2, 1, 0, 1e6);
  f("log10f", std::log10, 2, 0, 1e6);
  f("cbrtf", std::cbrt, 1, -1e6, 1e6);
  f("atanf", std::atan, 2, -100, 100);
  f("tanhf", std::tanh, 2, -20, 20);
  f("erff", std::erf, 2, -4, 4);
  f("sqrtf", std::sqrt, 0, 0, 1e9);
}
template <class T>
void check_power(const std::string& kernel, double bound) {
  const std::vector<T> x = arguments<T>(0.01, 30), e = arguments<T>(-20, 20);
  const int n = static_cast<int>(x.size());
  Rig rig(text_of_module());
  const Address out = rig.zeros(x.size() * sizeof(T));
  rig.run(kernel, {static_cast<unsigned>(n + 127) / 128, 1, 1}, {128, 1, 1}, rig.upload(x),
          rig.upload(e), out, n);
  const auto y = rig.download<T>(out, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want =
        std::pow(static_cast<long double>(x[i]), static_cast<long double>(e[i]));
    if (std::fabs(want) < std::numeric_limits<T>::min() && want != 0) continue;
    EXPECT_LE(ulps<T>(y[i], want), bound + 0.5) << x[i] << " ^ " << e[i] << " = " << y[i];
  }
}
TEST(NvccFunctions, Powers) {
  check_power<double>("f64_pow", 2);
  check_power<float>("f32_powf", 4);
}

}  // namespace
}  // namespace raddle::exec::test::nvcc_functions_test
