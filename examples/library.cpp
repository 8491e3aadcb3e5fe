// A study in C++ with Raddle as a library: which of the warp schedulers is the best for each size of the L2.
// What to see: values come back as JSON or by name, and nothing is printed but by this program.
//
//   ninja -C build/release raddle_library && cmake --install build/release --component library --prefix lib
//   g++ -std=c++20 -O2 examples/library.cpp -o study $(PKG_CONFIG_PATH=lib/lib/pkgconfig pkg-config --cflags --libs raddle-library)
//   ./study bfs size=small
#include <cstdio>
#include <string>
#include <vector>

#include "raddle/api/simulator.h"

int main(int argc, char** argv) try {
  std::vector<std::string> work(argv + 1, argv + argc);
  if (work.empty()) work = {"spmv", "size=tiny"};

  const raddle::api::Simulator simulator;
  raddle::api::Settings settings;
  settings.gpu = "gtx480";
  const auto found =
      simulator.compare({work}, {"lrr,gto,two_level", {"l2.size_kib=64,128"}}, settings);
  for (const raddle::api::Result& one : found)
    std::printf("%-28s %12.0f cycles, L2 hit rate %.3f\n", one.label().c_str(),
                one.metric("cycles"), one.metric("l2_hit_rate"));
  return found.front().value().at("workload").at("result") == "wrong" ? 1 : 0;
} catch (const raddle::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
