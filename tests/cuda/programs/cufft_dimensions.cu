// Transforms of two and three dimensions, and of arrays that lie with strides, gaps and batches of
// all kinds.
#include "cufft.h"

/// All that is done with sizes, side by side.
template <class T>
void sizes(const std::vector<long long>& n, long long batch) {
  for (const bool in_place : {false, true}) {
    for (const int sign : {CUFFT_FORWARD, CUFFT_INVERSE})
      run<T>({.n = n, .sign = sign, .batch = batch, .in_place = in_place});
    run<T>({.n = n, .ends = kToComplex, .batch = batch, .in_place = in_place});
    run<T>({.n = n, .ends = kToReal, .batch = batch, .in_place = in_place});
  }
}

template <class T>
void two_and_three() {
  for (const auto& n : std::vector<std::vector<long long>>{
           {1, 1}, {1, 16}, {16, 1}, {2, 3}, {16, 16}, {64, 32}, {30, 28}, {17, 20}, {20, 17}})
    sizes<T>(n, n[0] == 30 ? 2 : 1);
  for (const auto& n : std::vector<std::vector<long long>>{
           {1, 1, 1}, {4, 1, 8}, {8, 8, 8}, {16, 8, 32}, {5, 6, 7}, {3, 34, 9}, {6, 10, 19}})
    sizes<T>(n, n[0] == 5 ? 3 : 1);
}

/// Columns in several passes, by convolution, and of real numbers in several passes.
template <class T>
void long_columns() {
  run<T>({.n = {2048, 12}});
  run<T>({.n = {1500, 6}, .sign = CUFFT_INVERSE, .in_place = true});
  run<T>({.n = {2048, 6}, .ends = kToReal});
  run<T>({.n = {4, 1100, 3}, .ends = kToComplex});
  run<T>({.n = {523, 5}});
  run<T>({.n = {2063, 3}, .sign = CUFFT_INVERSE});
  run<T>({.n = {3, 8192}, .ends = kToComplex});
  run<T>({.n = {3, 8192}, .ends = kToReal, .batch = 2});
}

/// The same sizes lie the same on both sides, of which one has real numbers.
Case with_layout(const std::vector<long long>& n, Ends ends, long long batch, Layout in,
                 Layout out) {
  return {.n = n, .ends = ends, .batch = batch, .has_layout = true, .in = in, .out = out};
}

template <class T>
void layouts() {
  // Batches that are interleaved: neighbours are elements of other batches.
  for (const long long n : {16, 64, 60, 34, 512})
    run<T>(with_layout({n}, kComplexEnds, 24, {{n}, 24, 1}, {{n}, 24, 1}));
  // From rows to columns, and back.
  run<T>(with_layout({64}, kComplexEnds, 20, {{64}, 1, 64}, {{64}, 20, 1}));
  run<T>(with_layout({48}, kComplexEnds, 20, {{48}, 20, 1}, {{48}, 1, 50}));
  run<T>(with_layout({32}, kComplexEnds, 6, {{32}, 6, 1}, {{32}, 1, 32}));
  // Real numbers: strides, gaps, odd distances.
  run<T>(with_layout({32}, kToComplex, 5, {{32}, 3, 101}, {{17}, 2, 37}));
  run<T>(with_layout({32}, kToReal, 5, {{17}, 2, 37}, {{32}, 3, 101}));
  run<T>(with_layout({32}, kToComplex, 7, {{33}, 1, 33}, {{17}, 7, 1}));
  run<T>(with_layout({45}, kToReal, 7, {{23}, 7, 1}, {{45}, 1, 47}));
  run<T>(with_layout({4096}, kToComplex, 3, {{4096}, 3, 1}, {{2049}, 3, 1}));
  run<T>(with_layout({4096}, kToReal, 3, {{2049}, 3, 1}, {{4096}, 1, 4099}));
  run<T>(with_layout({74}, kToComplex, 3, {{74}, 3, 1}, {{38}, 1, 40}));
  // Parts of larger arrays.
  run<T>(with_layout({12, 16}, kComplexEnds, 2, {{12, 20}, 1, 300}, {{12, 18}, 2, 433}));
  run<T>(with_layout({12, 16}, kToComplex, 3, {{12, 17}, 1, 205}, {{12, 9}, 3, 1}));
  run<T>(with_layout({12, 15}, kToReal, 3, {{12, 9}, 3, 1}, {{12, 17}, 1, 205}));
  run<T>(with_layout({4, 6, 8}, kComplexEnds, 2, {{4, 7, 9}, 2, 1000}, {{4, 6, 10}, 1, 250}));
  run<T>(with_layout({4, 6, 8}, kToComplex, 2, {{4, 7, 9}, 2, 1000}, {{4, 6, 5}, 1, 130}));
  run<T>(with_layout({4, 6, 8}, kToReal, 2, {{4, 6, 5}, 1, 130}, {{4, 7, 9}, 2, 1000}));
  // In place, from a stride to itself.
  Case c = with_layout({40}, kComplexEnds, 3, {{40}, 2, 90}, {{40}, 2, 90});
  c.in_place = true;
  run<T>(c);
}

template <class T>
void all(const std::string& which) {
  if (which == "sizes") two_and_three<T>();
  if (which == "columns") long_columns<T>();
  if (which == "layouts") layouts<T>();
  if (which == "few") {
    sizes<T>({32, 64}, 1);
    sizes<T>({6, 5, 14}, 2);
  }
}

int main(int argc, char** argv) {
  const Keeper keeper;
  const std::string which = argc > 1 ? argv[1] : "sizes", type = argc > 2 ? argv[2] : "";
  if (type != "d") all<float>(which);
  if (type != "s") all<double>(which);
  return finish();
}
