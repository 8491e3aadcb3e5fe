// Host code of amr: hot cells of a mesh refined level by level. See README.md.
#include <array>
#include <numeric>

#include "amr/refinement.h"
#include "common/child_launches.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {
namespace {

using namespace workloads;

constexpr std::array<std::string_view, 2> kInputNames = {"combustion", "root"};
constexpr std::uint64_t kMaxRefined = std::uint64_t{1} << 21;

enum class Start : std::uint8_t { Combustion, Root };

class Amr final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, combustion_, {{16, 1, 0.5}, {192, 5, 2.5}, {256, 5, 6}});
    by_size(size, levels_, {2, 3, 3});
  }

  void visit(FieldVisitor& v) override {
    v.choice("input", start_, kInputNames,
             "cells to start with: a combustion's, or a single one as in the authors' program");
    v.field("side", combustion_.side, {8, 4096}, "cells", "of the square of cells at the start");
    v.field("spots", combustion_.spots, {0, 1000}, "spots", "hot places");
    v.field("radius", combustion_.radius, {0.1, 1000}, "cells", "of a hot place: its deviation");
    v.field("peak", combustion_.peak, {0, 1e5}, "K", "how much hotter the middle of a place is");
    v.field("root", root_, {0, 1e5}, "K", "temperature of the single cell");
    v.field("levels", levels_, {1, 24}, "levels", "most generations of children");
    v.field("threshold", threshold_, {1, 1e6}, "K", "temperature from which on a cell is refined");
    v.field("spread", spread_, {0.01, 1000}, "cells^2", "how evenly a cell's energy is spread");
    parent_.visit(v);
  }

  std::vector<std::string> violations() const override { return parent_.violations(); }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    parent_.ask_for_launches(device, refined_);
    const std::size_t cells = 1 + kRefinedCells * refined_;
    DeviceArray<float> coarse(device, coarse_), temperature(device, cells);
    DeviceArray<std::uint32_t> coarse_children(device, coarse_.size()), children(device, cells);
    // The first place stays empty, as in the authors' program: a cell's children begin one word
    // after a line does.
    DeviceArray<std::uint32_t> next(device, std::vector<std::uint32_t>{1});
    coarse_children.set_bytes(0);
    children.set_bytes(0);
    temperature.set_bytes(0);
    const Places places{coarse, coarse_children, temperature, children, next};
    if (parent_.nested()) run_nested(device, places);
    else run_flat(device, places);
    coarse_children_ = coarse_children.download();
    children_ = children.download();
    temperature_ = temperature.download();
  }

  std::string check() override {
    expected_temperature_.assign(temperature_.size(), 0);
    expected_children_.assign(children_.size(), 0);
    std::string found = check_level("coarse_children", coarse_, 0, coarse_children_, levels_);
    if (!found.empty()) return found;
    found = first_difference("children", expected_children_, children_);
    if (!found.empty()) return found;
    return first_difference("temperature", expected_temperature_, temperature_);
  }

 private:
  struct Places {
    DeviceArray<float>& coarse;
    DeviceArray<std::uint32_t>& coarse_children;
    DeviceArray<float>& temperature;
    DeviceArray<std::uint32_t>&children, &next;
  };

  void run_nested(Device& device, const Places& at) {
    const auto cells = static_cast<std::uint32_t>(coarse_.size());
    Arguments arguments(at.coarse.address(), at.coarse_children.address(), cells,
                        at.temperature.address(), at.children.address(), at.next.address(),
                        levels_);
    add_gas(arguments);
    device.launch(device.kernel(load_module(device, "amr"), "amr_coarse"), {parent_.blocks(cells)},
                  {parent_.block}, arguments);
    device.synchronize();
  }

  // Cells of one level are consecutive: the next places are given out when it is complete.
  void run_flat(Device& device, const Places& at) {
    const KernelId kernel = device.kernel(load_module(device, "amr"), "amr_flat");
    std::uint32_t first = 0, end = static_cast<std::uint32_t>(coarse_.size());
    for (std::uint32_t level = 0; level < levels_ && first < end; ++level) {
      Arguments arguments(level == 0 ? at.coarse.address() : at.temperature.address(),
                          level == 0 ? at.coarse_children.address() : at.children.address(), first,
                          end, at.temperature.address(), at.children.address(), at.next.address());
      add_gas(arguments);
      device.launch(kernel, {parent_.blocks(end - first)}, {parent_.block}, arguments);
      device.synchronize();
      first = level == 0 ? 1 : end;
      end = at.next.download()[0];
    }
  }

  void add_gas(Arguments& arguments) const {
    arguments.add(gas_.threshold);
    arguments.add(gas_.curve);
    arguments.add(gas_.steep);
    arguments.add(gas_.spread);
  }

  // Which cell has which places is open: places are given out as blocks come. So the check follows
  // them, and marks each as taken.
  std::string check_level(const char* what, const std::vector<float>& cells, std::size_t first,
                          const std::vector<std::uint32_t>& children, std::uint32_t levels) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::uint32_t got = children[first + i];
      const bool hot = static_cast<double>(cells[i]) >= gas_.threshold && levels != 0;
      if (!hot && got != 0) return difference_text(what, first + i, 0, got);
      if (!hot) continue;
      if (!is_free_place(got)) return difference_text(what, first + i, free_place(), got);
      if (&children == &children_) expected_children_[first + i] = got;
      std::vector<float> finer;
      const double energy = energy_of(static_cast<double>(cells[i]), gas_);
      for (std::uint32_t cell = 0; cell < kRefinedCells; ++cell)
        finer.push_back(static_cast<float>(temperature_of(energy, cell, gas_)));
      std::ranges::copy(finer, expected_temperature_.begin() + got);
      const std::string found = check_level("children", finer, got, children_, levels - 1);
      if (!found.empty()) return found;
    }
    return "";
  }
  bool is_free_place(std::uint32_t place) const {
    return place % kRefinedCells == 1 && place + kRefinedCells <= temperature_.size() &&
           expected_temperature_[place] == 0;
  }
  double free_place() const {
    std::size_t place = 1;
    while (place < temperature_.size() && expected_temperature_[place] != 0) place += kRefinedCells;
    return static_cast<double>(place);
  }

  void make_input(std::uint64_t seed) {
    Rng rng(seed, "amr/start");
    gas_ = {threshold_, kCurve, 2 / kCurve, spread_};
    coarse_ = start_ == Start::Root ? std::vector<float>{static_cast<float>(root_)}
                                    : make_combustion(combustion_, rng);
    const auto refined = refined_cells(coarse_, gas_, levels_, kMaxRefined);
    refined_ = std::accumulate(refined.begin(), refined.end(), std::uint64_t{0});
    if (refined_ > kMaxRefined)
      throw InputError(
          "amr: more than 2^21 cells are refined: fewer levels or a greater threshold");
    inputs_.add(coarse_, spread_);
  }

  static constexpr double kCurve = 20'000;  // kelvin: mildly curved where cells are hot

  Start start_ = Start::Combustion;
  Combustion combustion_;
  std::uint32_t levels_ = 3;
  ParentLaunches parent_ = {.block = 256};
  double threshold_ = 100, spread_ = 0.5;
  // The public program draws below 6,000, from a generator that it does not seed: always this.
  double root_ = 5041;
  Gas gas_{};
  std::uint64_t refined_ = 0;
  std::vector<float> coarse_, temperature_, expected_temperature_;
  std::vector<std::uint32_t> coarse_children_, children_, expected_children_;
};

}  // namespace

void add_workload_amr(Workloads& w) {
  w.add<Amr>("amr", "adaptive mesh refinement; a hot cell's child writes and refines its parts");
}

}  // namespace raddle::runtime
